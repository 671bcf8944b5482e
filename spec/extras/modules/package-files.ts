// Packages in `node_modules`, and the import map of a page.
import { join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Middleware } from 'koa'
import { build } from '../../../lib/extras/modules/building/build-process.ts'
import type { Needed } from '../../../lib/extras/modules/resolving.ts'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import type { ViewHelpers } from '../../../lib/runtime/views/view-helpers.ts'
import { makeSite, writeFiles, type Files } from '../../support/site.ts'

type Json = Readonly<Record<string, unknown>>

/** A package in `node_modules`, or in that of another package. */
export function pkg(path: string, json: Json, files: Files = {}): Files {
  const name = path.split('node_modules/').at(-1)
  const manifest = JSON.stringify({ name, version: '1.0.0', ...json })
  const all = Object.entries({ 'package.json': manifest, ...files })
  return Object.fromEntries(all.map(([file, text]) => [`/node_modules/${path}/${file}`, text]))
}

/** A package with one module, and what else is in it. */
export const modulePkg = (path: string, code: string, files: Files = {}, json: Json = {}): Files =>
  pkg(path, { module: 'index.js', ...json }, { 'index.js': code, ...files })

export const dependencies = (...names: string[]): string =>
  JSON.stringify({ dependencies: Object.fromEntries(names.map(name => [name, '1'])) })

const ESM = { node: './node.js', import: './dist/esm/index.js' }
const SPLIT = { exports: { '.': ESM, './more': './more.js' } }
const BOTH = { main: 'cjs.js', module: 'lib/index.js' }

export const TIP: Files = {
  ...pkg('tip', SPLIT, {
    'node.js': '',
    'dist/esm/index.js': "import { place } from '@pop/core'\nexport * from './_base.js'\nplace()",
    'dist/esm/_base.js': 'export const base = 1',
    'dist/cjs/index.js': 'module.exports = 1',
    'more.js': "import { base } from 'tip'\nexport const more = base",
    'unused.js': ''
  }),
  ...pkg('@pop/core', BOTH, { 'lib/index.js': 'export const place = () => 1' })
}
export const APP = {
  'javascripts/app.js': "import { base } from 'tip'\nimport { more } from 'tip/more'\nbase + more"
}

/** A build of what the option `packages` names. */
export function wantedOf(root: string, named: readonly string[], given?: Partial<Needed>): Needed {
  const by = { importer: 'the option packages', from: root, names: ['given'] }
  const specifiers = new Map(named.map(each => [each, by]))
  return { root, condition: 'development', constants: {}, mapped: [], specifiers, ...given }
}

export async function buildIn(wanted: Needed) {
  const directory = join(wanted.root, `built-${wanted.condition}`)
  const made = await build({ wanted, directory, key: '' })
  const [kept, message] = 'failure' in made ? [undefined, made.failure] : [made, '']
  const fileOf = (specifier: string) =>
    join(kept?.directory ?? '', kept?.imports.names.get(specifier) ?? '')
  /** What a module exports, run here. */
  const load = async (specifier: string) =>
    (await import(pathToFileURL(fileOf(specifier)).href)) as Record<string, unknown>
  return { kept, message, fileOf, load }
}

export function mapIn(html: string) {
  const [, json = ''] = /<script type="importmap">(.*?)<\/script>/.exec(html) ?? []
  return JSON.parse(json) as { readonly imports: Readonly<Record<string, string>> }
}

let loaded = 0

/** A site in development with a page of one view, by default its import map. */
export async function makePage(
  t: Parameters<typeof makeSite>[0],
  files: Files,
  options: KoaAssetsOptions,
  view: (assets: ViewHelpers) => string = assets => assets.importMap()
) {
  const routes: Middleware = ctx => void (ctx.path === '/' && (ctx.body = view(ctx.assets)))
  const site = await makeSite(t, files, { ...options, routes })
  const imports = async () => mapIn((await site.ask('/')).text).imports
  /** What a module exports, run here: it and all that it imports by relative URLs are written to files. */
  const load = async (specifier: string): Promise<Record<string, unknown>> => {
    const folder = join(site.root, `loaded-${loaded++}`)
    const paths = new Set([(await imports())[specifier] ?? ''])
    for (const path of paths) {
      const { text } = await site.ask(path)
      writeFiles(folder, { [path.slice(1).replace(/\?.*/, '')]: text })
      for (const [, to = ''] of text.matchAll(/\b(?:from|import\(|import|URL\()\s*["'](\.[^"']+)/g))
        paths.add(posix.join(posix.dirname(path), to))
    }
    const [first = ''] = paths
    writeFiles(folder, { 'package.json': '{"type":"module"}' })
    return (await import(pathToFileURL(join(folder, first)).href)) as Record<string, unknown>
  }
  return { ...site, imports, load }
}
