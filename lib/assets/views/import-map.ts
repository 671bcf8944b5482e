/** `<script type="importmap">`, which leads `import './dial.js'` to the published file. */

import type { AssetUrl, Locate, Module } from './asset-url.ts'
import { openTag } from './html.ts'

export interface ImportMapOptions {
  /** For a Content-Security-Policy without `unsafe-inline`. */
  readonly nonce?: string | undefined
  /** More specifiers, each with the name of an asset or an absolute URL. They win. */
  readonly imports?: Readonly<Record<string, string>> | undefined
}

type Entry = readonly [specifier: string, target: AssetUrl]

export function importMap(
  host: string,
  modules: Iterable<Module>,
  locate: Locate,
  options: ImportMapOptions
): string {
  const entries = [...published(host, modules), ...chosen(locate, options.imports ?? {})]
  const json = JSON.stringify({ imports: urls(entries), integrity: hashes(entries) })
  const open = openTag('script', { type: 'importmap', nonce: options.nonce })
  return `${open}${inScript(json)}</script>`
}

// The plain URL bears the host, too: a relative import is resolved against the URL of its module.
function published(host: string, modules: Iterable<Module>): Entry[] {
  return [...modules]
    .filter(([plain]) => /\.m?js$/.test(plain))
    .map(([plain, { path, integrity }]) => [host + plain, { url: host + path, integrity }])
}

function chosen(locate: Locate, imports: Readonly<Record<string, string>>): Entry[] {
  return Object.entries(imports).map(([specifier, name]) => [specifier, locate(name, '.js')])
}

function urls(entries: readonly Entry[]): object {
  return sorted(entries.map(([specifier, { url }]) => [specifier, url]))
}

function hashes(entries: readonly Entry[]): object | undefined {
  const known = entries.flatMap(([, { url, integrity }]): [string, string][] =>
    integrity?.length ? [[url, integrity.join(' ')]] : []
  )
  return known.length > 0 ? sorted(known) : undefined
}

// A Map first, so that of two entries with one key the later is the one that counts.
function sorted(entries: Iterable<[string, string]>): object {
  return Object.fromEntries([...new Map(entries)].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

// Inside <script> HTML knows no entities, but JSON has escapes of its own.
function inScript(json: string): string {
  return json.replace(/[<>\u2028\u2029]/g, character => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
