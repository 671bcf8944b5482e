// The settings of each application: layers of options, the later winning.
import { isAbsolute, join, resolve } from 'node:path'
import { AssetError } from '../../errors.ts'
import { canonicalSegments } from '../urls/canonical-path.ts'
import { withDot, type Compiler } from '../compilers/compiler.ts'
import { builtInCompilers } from '../compilers/built-in.ts'
import { futureRealpath, isDirectory, readDirectory } from '../../files/at-start.ts'
import { complain, entriesGiven } from './option-checks.ts'
import type { AppOptions, Configure, KoaAssetsOptions, LayeredOptions } from './options.ts'
import type { IntegrityAlgorithm } from '../../files/checksums.ts'
export type { IntegrityAlgorithm } from '../../files/checksums.ts'

export interface AppSettings {
  readonly name: string
  /** Absolute. */
  readonly dir: string
  /** `/`, or `/admin`. */
  readonly path: string
  /** `/assets`, or `/assets/admin`; decoded. */
  readonly urlPrefix: string
  /** Absolute, the app's own `assets` first; third-party directories are not among them. */
  readonly sources: readonly string[]
  readonly compile: boolean
  readonly fingerprint: boolean
  readonly integrity: readonly IntegrityAlgorithm[]
  /** By extension, with its dot. */
  readonly compilers: ReadonlyMap<string, Compiler>
  readonly missing: Missing
  readonly minify: boolean
  /** Seconds. */
  readonly revalidate: number
  /** Whether a tail of an asset's path finds it. */
  readonly tails: boolean
}

type Missing = 'ignore' | 'warn' | 'error'

/** What holds where nobody says anything. */
export interface Defaults {
  readonly env: string
  readonly compile: (env: string) => boolean
  readonly fingerprint: (env: string) => boolean
  readonly missing: Missing
}

/** What every app stands on. */
export interface Ground {
  readonly defaults: Defaults
  readonly root: string
  readonly env: string
  readonly prefix: string
  readonly shared: readonly LayeredOptions[]
  /** The apps of the manifest, where pages need one. */
  readonly published: () => Readonly<Record<string, AppOptions>> | undefined
}

export function settleApps(ground: Ground, options: KoaAssetsOptions): readonly AppSettings[] {
  const given = entriesGiven(options.apps ?? findApps(ground))
  const apps = given.map(([name, app]) => settleApp(ground, name, app, given.length === 1, options))
  const byLength = apps.toSorted((a, b) => b.urlPrefix.length - a.urlPrefix.length)
  byLength.forEach((app, at) => {
    const twin = byLength[at + 1]
    if (twin?.urlPrefix === app.urlPrefix) {
      complain('path', `another than that of '${twin.name}'`, app.path, `apps.${app.name}.`)
    }
  })
  return Object.freeze(byLength)
}

interface Apps {
  /** The longest `urlPrefix` first. */
  readonly apps: readonly AppSettings[]
}

/** The app that the URL path of an asset belongs to. */
export function appAt({ apps }: Apps, path: string): AppSettings | undefined {
  return apps.find(({ urlPrefix }) => path.startsWith(`${urlPrefix}/`))
}

/** The app that the URL path of a page belongs to: where none does, the app with the shortest path. */
export function appOfPage({ apps }: Apps, path: string): AppSettings | undefined {
  const app = apps.find(
    ({ path: mount }) => mount === '/' || path === mount || path.startsWith(`${mount}/`)
  )
  return app ?? apps.at(-1)
}

function settleApp(
  { defaults, root, env, prefix, shared }: Ground,
  name: string,
  app: AppOptions,
  alone: boolean,
  options: KoaAssetsOptions
): AppSettings {
  const dir = resolve(root, app.dir ?? join('apps', name))
  const place = `apps.${name}.`
  const own = settlePath(app.path ?? (alone || name === 'web' ? '/' : `/${name}`), 'path', place)
  const layers = [...shared, ...layersOf(app, env)]
  const settled = settleLayers(layers, env, defaults, options)
  const extra = extraSources(layers, dir, settled.compile)
  const expected = options.apps !== undefined && settled.compile && extra.length === 0
  if (expected && !isDirectory(dir)) {
    throw new AssetError(
      'source-missing',
      `apps.${name} points at ${dir}, which is not a directory: create it, or say where it is with apps.${name}.dir`
    )
  }
  const sources = Object.freeze(unique([join(dir, 'assets'), ...extra]))
  return Object.freeze({
    name,
    dir,
    path: own || '/',
    urlPrefix: prefix + own,
    sources,
    ...settled
  })
}

/** The order in which the later wins. */
export function layersOf(
  options: LayeredOptions & { configure?: Configure | undefined },
  env: string
): LayeredOptions[] {
  const configure = options.configure ?? {}
  const here = Object.hasOwn(configure, env) ? configure[env] : undefined
  return here ? [options, here] : [options]
}

export function settleLayers(
  layers: readonly LayeredOptions[],
  env: string,
  defaults: Defaults,
  top: KoaAssetsOptions
) {
  const last = <K extends keyof LayeredOptions>(key: K) =>
    layers.findLast(layer => layer[key] !== undefined)?.[key]
  const compile = last('compile') ?? defaults.compile(env)
  const fingerprint = last('fingerprint') ?? defaults.fingerprint(env)
  const integrity = last('integrity') ?? (fingerprint ? 'sha384' : false)
  return {
    compile,
    fingerprint,
    integrity: Object.freeze<IntegrityAlgorithm[]>(integrity === false ? [] : [integrity].flat()),
    compilers: compilerTable(last('compilers') ?? []),
    missing: last('missing') ?? defaults.missing,
    minify: last('minify') ?? false,
    revalidate: top.revalidate ?? (compile ? 0 : 1),
    tails: top.tails ?? true
  }
}

/** They need not be there where nothing reads them: a server may have `public` alone. */
function extraSources(layers: readonly LayeredOptions[], dir: string, isRead: boolean): string[] {
  const given = layers.flatMap(layer => layer.sources ?? [])
  return given.map(source => {
    const path = isAbsolute(source) ? resolve(source) : resolve(dir, source)
    if (!isRead || isDirectory(path)) return path
    throw new AssetError(
      'source-missing',
      `sources names ${source}, but ${path} is not a directory: create it or take it out of sources`
    )
  })
}

function unique(directories: readonly string[]): string[] {
  const seen = new Map(directories.toReversed().map(path => [futureRealpath(path), path]))
  return [...seen.values()]
    .toReversed()
    .toSorted((a, b) => directories.indexOf(a) - directories.indexOf(b))
}

function compilerTable(own: readonly Compiler[]): ReadonlyMap<string, Compiler> {
  const rows = [...builtInCompilers, ...own].flatMap(compiler =>
    [compiler.extensions].flat().map(name => [withDot(name).toLowerCase(), compiler] as const)
  )
  return new Map(rows)
}

/** `/admin/` -> `/admin`, `/` -> nothing. */
export function settlePath(path: string, key: string, place = ''): string {
  const trimmed = path.replace(/\/$/, '')
  const fine = trimmed === '' || Array.isArray(canonicalSegments(encodeURI(trimmed)))
  if (!path.startsWith('/') || !fine) complain(key, "a path such as '/admin'", path, place)
  return trimmed
}

/** What is on disk, else what was published from another one, else `web`, which may come later. */
function findApps({ root, published }: Ground): Readonly<Record<string, AppOptions>> {
  const names = readDirectory(join(root, 'apps'))
    .map(entry => entry.name)
    .filter(name => !name.startsWith('.') && isDirectory(join(root, 'apps', name, 'assets')))
    .toSorted()
  if (names.length > 0) return Object.fromEntries(names.map(name => [name, {}]))
  return published() ?? { web: isDirectory(join(root, 'assets')) ? { dir: root } : {} }
}
