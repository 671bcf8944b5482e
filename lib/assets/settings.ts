// Options in, frozen settings out: every default stands here and nowhere else.
import { type Dirent, type Stats, readdirSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { canonicalSegments } from './canonical-path.ts'
import { builtInCompilers, type Compiler } from './compilers.ts'
import { isMiss } from './disk.ts'
import { APP, INDEX, LAYERED, MEMORY, TOP, check, complain } from './option-checks.ts'
import type {
  AppOptions,
  Configure,
  IntegrityAlgorithm,
  KoaAssetsOptions,
  LayeredOptions
} from './options.ts'
import { AssetError } from '../errors.ts'

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
  readonly missing: 'warn' | 'error' | undefined
  /** Seconds. */
  readonly revalidate: number
}

export interface Settings {
  readonly root: string
  readonly env: string
  readonly serve: boolean
  /** Absolute. */
  readonly publicDir: string
  readonly prefix: string
  readonly host: string | undefined
  /** The longest `urlPrefix` first. */
  readonly apps: readonly AppSettings[]
  readonly memory: { readonly maxBytes: number; readonly maxFileBytes: number }
  readonly index: { readonly max: number }
  readonly symlinks: 'inside' | 'follow' | 'deny'
  /** What holds for files of `public` that belong to no app. */
  readonly compile: boolean
  /** Seconds. */
  readonly revalidate: number
}

const MIB = 1024 * 1024

/**
 * Settles the options of `koaAssets` once and for all.
 * @throws TypeError for a wrong option; AssetError for a directory that cannot be used
 */
export function settle(
  options: KoaAssetsOptions = {},
  processEnv: NodeJS.ProcessEnv = process.env
): Settings {
  checkAll(options)
  const root = resolve(options.root ?? process.cwd())
  const env = options.env ?? (processEnv.NODE_ENV || 'development')
  const publicDir = resolve(root, options.public ?? 'public')
  refuseUnlessDirectory(publicDir, options.public ?? 'public')
  const prefix = settlePath(options.prefix ?? '/assets', 'prefix')
  if (prefix === '') complain('prefix', "a path such as '/assets'", options.prefix)
  const shared = layersOf(options, env)
  const { compile, revalidate } = settleLayers(shared, env, options, root)
  return Object.freeze({
    root,
    env,
    serve: options.serve ?? processEnv.SERVE_STATIC_ASSETS === 'true',
    publicDir,
    prefix,
    host: options.host?.replace(/\/$/, ''),
    apps: settleApps({ root, env, prefix, shared }, options),
    memory: Object.freeze({
      maxBytes: options.memory?.maxBytes ?? 64 * MIB,
      maxFileBytes: options.memory?.maxFileBytes ?? MIB
    }),
    index: Object.freeze({ max: options.index?.max ?? 10_000 }),
    symlinks: options.symlinks ?? 'inside',
    compile,
    revalidate
  })
}

function checkAll(options: KoaAssetsOptions): void {
  check(options, TOP)
  if (options.memory !== undefined) check(options.memory, MEMORY, 'memory.')
  if (options.index !== undefined) check(options.index, INDEX, 'index.')
  checkConfigure(options.configure, '')
  for (const [name, app] of Object.entries(options.apps ?? {})) {
    check(app, APP, `apps.${name}.`)
    checkConfigure(app.configure, `apps.${name}.`)
  }
}

function checkConfigure(configure: Configure | undefined, place: string): void {
  for (const [env, layer] of Object.entries(configure ?? {})) {
    check(layer, LAYERED, `${place}configure.${env}.`)
  }
}

interface Ground {
  readonly root: string
  readonly env: string
  readonly prefix: string
  readonly shared: readonly LayeredOptions[]
}

function settleApps(ground: Ground, options: KoaAssetsOptions): readonly AppSettings[] {
  const given = Object.entries(options.apps ?? findApps(ground.root))
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

function settleApp(
  { root, env, prefix, shared }: Ground,
  name: string,
  app: AppOptions,
  alone: boolean,
  options: KoaAssetsOptions
): AppSettings {
  const dir = resolve(root, app.dir ?? join('apps', name))
  const place = `apps.${name}.`
  const own = settlePath(app.path ?? (alone || name === 'web' ? '/' : `/${name}`), 'path', place)
  const layers = [...shared, ...layersOf(app, env)]
  const settled = settleLayers(layers, env, options, dir)
  const expected = options.apps !== undefined && settled.compile && settled.extra.length === 0
  if (expected && !isDirectory(dir)) {
    throw new AssetError(
      'source-missing',
      `apps.${name} points at ${dir}, which is not a directory: create it, or say where it is with apps.${name}.dir`
    )
  }
  const { extra, ...rest } = settled
  const sources = Object.freeze(unique([join(dir, 'assets'), ...extra]))
  return Object.freeze({ name, dir, path: own || '/', urlPrefix: prefix + own, sources, ...rest })
}

/** The order in which the later wins. */
function layersOf(
  options: LayeredOptions & { configure?: Configure },
  env: string
): LayeredOptions[] {
  const configure = options.configure ?? {}
  const here = Object.hasOwn(configure, env) ? configure[env] : undefined
  return here ? [options, here] : [options]
}

function settleLayers(
  layers: readonly LayeredOptions[],
  env: string,
  top: KoaAssetsOptions,
  dir: string
) {
  const last = <K extends keyof LayeredOptions>(key: K) =>
    layers.findLast(layer => layer[key] !== undefined)?.[key]
  const compile = last('compile') ?? (env === 'development' || env === 'test')
  const fingerprint = last('fingerprint') ?? env === 'production'
  const integrity = last('integrity') ?? (fingerprint ? 'sha384' : false)
  return {
    compile,
    fingerprint,
    integrity: Object.freeze<IntegrityAlgorithm[]>(integrity === false ? [] : [integrity].flat()),
    compilers: compilerTable(last('compilers') ?? []),
    missing: last('missing'),
    revalidate: top.revalidate ?? (compile ? 0 : 1),
    extra: extraSources(layers, dir)
  }
}

function extraSources(layers: readonly LayeredOptions[], dir: string): string[] {
  const given = layers.flatMap(layer => layer.sources ?? [])
  return given.map(source => {
    const path = isAbsolute(source) ? resolve(source) : resolve(dir, source)
    if (isDirectory(path)) return path
    throw new AssetError(
      'source-missing',
      `sources names ${source}, but ${path} is not a directory: create it or take it out of sources`
    )
  })
}

function unique(directories: readonly string[]): string[] {
  const seen = new Map(directories.toReversed().map(path => [realpathIfThere(path), path]))
  return [...seen.values()]
    .toReversed()
    .toSorted((a, b) => directories.indexOf(a) - directories.indexOf(b))
}

function compilerTable(own: readonly Compiler[]): ReadonlyMap<string, Compiler> {
  const rows = [...builtInCompilers, ...own].flatMap(compiler =>
    [compiler.extensions].flat().map(name => [withDot(name), compiler] as const)
  )
  return new Map(rows)
}

export function withDot(extension: string): string {
  return extension.startsWith('.') ? extension : `.${extension}`
}

/** `/admin/` -> `/admin`, `/` -> nothing. */
function settlePath(path: string, key: string, place = ''): string {
  const trimmed = path.replace(/\/$/, '')
  const fine = trimmed === '' || Array.isArray(canonicalSegments(encodeURI(trimmed)))
  if (!path.startsWith('/') || !fine) complain(key, "a path such as '/admin'", path, place)
  return trimmed
}

/** Every `apps/<name>` that has an `assets` folder; `web` when there is none. */
function findApps(root: string): Record<string, AppOptions> {
  const names = readDirectory(join(root, 'apps'))
    .filter(entry => isDirectory(join(root, 'apps', entry.name, 'assets')))
    .map(entry => entry.name)
    .toSorted()
  if (names.length > 0) return Object.fromEntries(names.map(name => [name, {}]))
  return { web: {} }
}

function readDirectory(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    if (isMiss(error)) return []
    throw error
  }
}

function isDirectory(path: string): boolean {
  return statIfThere(path)?.isDirectory() ?? false
}

/** `throwIfNoEntry: false` would still throw ENOTDIR. */
function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch (error) {
    if (isMiss(error)) return undefined
    throw error
  }
}

function realpathIfThere(path: string): string {
  return isDirectory(path) ? realpathSync(path) : path
}

function refuseUnlessDirectory(path: string, given: string): void {
  const stats = statIfThere(path)
  if (!stats || stats.isDirectory()) return
  throw new AssetError(
    'public-unusable',
    `public must be a directory, but ${given} is a file: move it away or set another public`
  )
}
