// Options in, frozen settings out: every default stands here and in app-settings.ts, nowhere else.
import { resolve } from 'node:path'
import { AssetError } from '../../errors.ts'
import {
  layersOf,
  settleApps,
  settleLayers,
  settlePath,
  type AppSettings,
  type Defaults
} from './app-settings.ts'
import { isDirectory } from '../../files/at-start.ts'
import { appsAtStart, manifestFile } from './manifest-file.ts'
import { APP, INDEX, LAYERED, MEMORY, TOP, check, complain, entriesGiven } from './option-checks.ts'
import type { Configure, KoaAssetsOptions } from './options.ts'
import { checkPublic } from './public-directory.ts'
export type { IntegrityAlgorithm } from '../../files/checksums.ts'

export type { AppSettings } from './app-settings.ts'

export interface Settings {
  readonly root: string
  readonly env: string
  readonly serve: boolean
  /** Absolute. */
  readonly publicDir: string
  readonly prefix: string
  readonly host: string | undefined
  readonly earlyHints: boolean
  /** The longest `urlPrefix` first. */
  readonly apps: readonly AppSettings[]
  readonly memory: { readonly maxBytes: number; readonly maxFileBytes: number }
  readonly index: { readonly max: number }
  readonly symlinks: 'inside' | 'follow' | 'deny'
  /** Stands in for the app of files in `public` that belong to none. Has no name and no sources. */
  readonly publicApp: AppSettings
}

const MIB = 1024 * 1024

const isWorkshop = (env: string) => env === 'development' || env === 'test'

const SERVING: Defaults = {
  env: 'development',
  compile: isWorkshop,
  fingerprint: env => env === 'production',
  missing: 'warn'
}

const PRECOMPILING: Defaults = {
  env: 'production',
  compile: () => true,
  fingerprint: () => true,
  missing: 'error'
}

/**
 * Settles the options of `koaAssets` once and for all.
 * @throws TypeError for a wrong option; AssetError for a directory that cannot be used
 */
export function settle(options: KoaAssetsOptions = {}, processEnv = process.env): Settings {
  return settleWith(SERVING, options, processEnv)
}

/** The same for `precompile`, which is for production unless it is told otherwise. */
export function settleForPrecompile(
  options: KoaAssetsOptions = {},
  processEnv = process.env
): Settings {
  return settleWith(PRECOMPILING, options, processEnv)
}

function settleWith(
  defaults: Defaults,
  options: KoaAssetsOptions,
  processEnv: NodeJS.ProcessEnv
): Settings {
  checkAll(options)
  const root = resolve(options.root ?? process.cwd())
  if (!isDirectory(root)) throw rootMissing(root)
  const env = options.env ?? (processEnv.NODE_ENV || defaults.env)
  const publicDir = resolve(root, options.public ?? 'public')
  const prefix = settlePath(options.prefix ?? '/assets', 'prefix')
  if (prefix === '') complain('prefix', "a path such as '/assets'", options.prefix)
  const shared = layersOf(options, env)
  const settled = settleLayers(shared, env, defaults, options)
  const published = () =>
    settled.fingerprint && !settled.compile
      ? appsAtStart(manifestFile({ publicDir, prefix }))
      : undefined
  const apps = settleApps({ defaults, root, env, prefix, shared, published }, options)
  checkPublic({ root, publicDir, apps }, options.public ?? 'public')
  return Object.freeze({
    root,
    env,
    serve: options.serve ?? processEnv.SERVE_STATIC_ASSETS === 'true',
    publicDir,
    prefix,
    host: options.host?.replace(/\/$/, ''),
    earlyHints: options.earlyHints ?? false,
    apps,
    memory: Object.freeze({
      maxBytes: options.memory?.maxBytes ?? 64 * MIB,
      maxFileBytes: options.memory?.maxFileBytes ?? MIB
    }),
    index: Object.freeze({ max: options.index?.max ?? 10_000 }),
    symlinks: options.symlinks ?? 'inside',
    publicApp: Object.freeze({
      ...settled,
      ...{ name: '', dir: publicDir, path: '/', urlPrefix: '', sources: [], fingerprint: false }
    })
  })
}

function rootMissing(root: string): AssetError {
  const message = `root is ${root}, which is not a directory: say with root where the project is, as in root: import.meta.dirname`
  return new AssetError('root-missing', message)
}

function checkAll(options: KoaAssetsOptions): void {
  check(options, TOP)
  if (options.memory !== undefined) check(options.memory, MEMORY, 'memory.')
  if (options.index !== undefined) check(options.index, INDEX, 'index.')
  checkConfigure(options.configure, '')
  for (const [name, app] of entriesGiven(options.apps)) {
    check(app, APP, `apps.${name}.`)
    checkConfigure(app.configure, `apps.${name}.`)
  }
}

function checkConfigure(configure: Configure | undefined, place: string): void {
  for (const [env, layer] of entriesGiven(configure)) {
    check(layer, LAYERED, `${place}configure.${env}.`)
  }
}
