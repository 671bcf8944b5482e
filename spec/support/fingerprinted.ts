// A site in fingerprint mode, in both of its ways: precompiled, and built while it runs; or one in development.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Middleware } from 'koa'
import type { ExecutionContext } from './test.ts'
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'
import { precompile, type PrecompileReport } from '../../lib/koa-assets.ts'
import type { ViewHelpers } from '../../lib/runtime/views/view-helpers.ts'
import { makeProject, makeSite, place, writeFiles, type Files, type Site } from './site.ts'
import { DIGEST_LENGTH } from '../../lib/runtime/files/digest.ts'
import { withDigest } from './digest.ts'
import { AS_WRITTEN } from './as-written.ts'
import { pathFrom } from '../../lib/runtime/files/paths.ts'

export type Mode = 'precompiled' | 'live' | 'development'
export const MODES: readonly Mode[] = ['precompiled', 'live']

type View = (assets: ViewHelpers) => string

export interface FingerprintedSite extends Site {
  /** What a page's view writes, at a path of the site. */
  render(view: View, at?: string): Promise<string>
  /** Writes below `apps/web/assets`, or below the root; what is precompiled is precompiled again. */
  edit(files: Files): Promise<void>
  /** The URL path that a page asks for, and the text that it gets there. */
  path(name: string): Promise<string>
  text(name: string): Promise<string>
}

/** Options as for a site; files are placed as there. */
export async function makeFingerprinted(
  t: ExecutionContext,
  mode: Mode,
  files: Files,
  given: KoaAssetsOptions = {}
): Promise<FingerprintedSite> {
  const root = given.root ?? makeProject(t)
  writeFiles(root, placed(files))
  const env = mode === 'development' ? mode : 'production'
  const options = { revalidate: 0, ...given, root, env }
  if (mode === 'precompiled') await run(options)
  const views: View[] = []
  const routes: Middleware = (ctx, next) => {
    if (!ctx.path.endsWith('/page')) return next()
    ctx.body = views[Number(ctx.querystring)]?.(ctx.assets)
    return undefined
  }
  const production = { ...given.configure?.['production'], compile: true }
  const live = mode === 'live' ? { configure: { production } } : {}
  const site = await makeSite(t, {}, { ...options, ...live, routes })
  const render: FingerprintedSite['render'] = async (view, at = '/page') => {
    const number = views.push(view) - 1
    const answer = await site.ask(`${at}?${number}`)
    if (answer.status !== 200) throw site.errors.at(-1) ?? new Error(answer.text)
    return answer.text
  }
  const path = (name: string) => render(assets => assets.path(name))
  return {
    ...site,
    render,
    async edit(changed) {
      writeFiles(root, placed(changed))
      if (mode === 'precompiled') await run(options)
    },
    path,
    text: async name => (await site.ask(await path(name))).text
  }
}

/** The sources of an only app, `web`, unless a path says `/` first. */
export function placed(files: Files): Files {
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [place(path), content]))
}

/** Precompiles without a word, and by default without minifying; what it warns of is given back. */
export async function run(
  options: KoaAssetsOptions
): Promise<PrecompileReport & { warnings: string[] }> {
  const warnings: string[] = []
  const warn = (message: string) => void warnings.push(message)
  const report = await precompile({ ...AS_WRITTEN, ...options }, { warn })
  return { ...report, warnings }
}

interface WrittenManifest {
  version: number
  assets: Record<string, WrittenAsset>
}

interface WrittenAsset {
  target: string
  source: string
  integrity: string[]
  size: number
  from?: number
  sources?: readonly string[]
  imports?: string[]
  dynamicImports?: string[]
  imageSize?: Record<string, number>
}

export function readManifest(root: string): WrittenManifest {
  return JSON.parse(readFileSync(join(root, 'public/assets.json'), 'utf8')) as WrittenManifest
}

/** Where the manifest leads from a plain URL path. */
export function targetOf(root: string, plain: string): string {
  const entry = readManifest(root).assets[plain]
  if (!entry) throw new Error(`${plain} is not in the manifest`)
  return entry.target
}

/** A file below `public`, by its URL path. */
export function readPublic(root: string, url: string): Buffer {
  return readFileSync(join(root, 'public', decodeURIComponent(url)))
}

export function isPublic(root: string, url: string): boolean {
  return existsSync(join(root, 'public', url))
}

/** Every file below a directory, by its path there, sorted. */
export function filesBelow(directory: string): string[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter(entry => !entry.isDirectory())
    .map(entry => pathFrom(directory, join(entry.parentPath, entry.name)))
    .toSorted()
}

/** Every file below a directory with the digest of its bytes. */
export function snapshot(directory: string): ReadonlyMap<string, string> {
  const digest = (path: string) => digestOf(readFileSync(join(directory, path)))
  return new Map(filesBelow(directory).map(path => [path, digest(path)]))
}

/** Every file below a directory with its content, a character for each byte. */
export function textsBelow(directory: string): Readonly<Record<string, string>> {
  const text = (path: string) => readFileSync(join(directory, path), 'latin1')
  return Object.fromEntries(filesBelow(directory).map(path => [path, text(path)]))
}

export function digestOf(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, DIGEST_LENGTH)
}

/** The digest in a fingerprinted URL path. */
export function digestIn(url: string): string | undefined {
  return withDigest(/-(DIGEST)(?:\.[^./]*)?$/).exec(url)?.[1]
}
