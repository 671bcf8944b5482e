// Options in, frozen settings out.
import { resolve } from 'node:path'
import { AssetError } from '../../errors.ts'
import { isDirectory } from '../../files/at-start.ts'
import type { ServedPlace } from '../../files/containment.ts'
import { check, optionError, settleTable, type SettingsOf } from '../../options.ts'
import { existingDirectory, settleApps, settlePath, type Apps } from './app-settings.ts'
import { settleMounts, type MountSettings } from './mounts.ts'
import { INDEX, MEMORY, PROJECT, TOP } from './option-table.ts'
import type { KoaAssetsOptions, LiveOptions } from './options.ts'
import { checkPublic } from './public-directory.ts'
import { headersByPath, type HeaderValues, type ValueByPath } from './values-by-path.ts'

export type { AppSettings } from './app-settings.ts'
export type { MountSettings } from './mounts.ts'

/** An option that is not listed here is settled by its row in option-table.ts. */
export interface Settings extends Apps, SettingsOf<typeof PROJECT> {
  /** Absolute. */
  readonly root: string
  readonly env: string
  readonly serve: boolean
  /** Absolute. */
  readonly publicDir: string
  /** Whether what is in it is served. */
  readonly servesPublic: boolean
  /** The same directory, with what may lead there. */
  readonly place: ServedPlace
  /** Decoded, without a trailing slash. */
  readonly prefix: string
  /** Without a trailing slash. */
  readonly host: string | undefined
  /** The longest URL path first. */
  readonly mounts: readonly MountSettings[]
  readonly headers: ValueByPath<HeaderValues>
  /** Undefined outside development. */
  readonly live: LiveSettings | undefined
  readonly memory: SettingsOf<typeof MEMORY>
  readonly index: SettingsOf<typeof INDEX>
}

/** What is under `<prefix>/-/` in development. */
export interface LiveSettings {
  /** Names that are trusted as those of this machine are; in lower case. */
  readonly hosts: ReadonlySet<string>
  /** Directories, absolute. */
  readonly watch: readonly string[]
  /** The scheme of the editor's URLs. */
  readonly editor: string | undefined
}

/** @throws TypeError for a wrong option; AssetError for a directory that cannot be used */
export function settle(
  options: KoaAssetsOptions = {},
  processEnv = process.env,
  isPrecompile = false
): Settings {
  check(options, TOP)
  const root = settleRoot(options.root)
  const env = options.env ?? (processEnv.NODE_ENV || (isPrecompile ? 'production' : 'development'))
  const serve = options.serve ?? processEnv.SERVE_STATIC_ASSETS === 'true'
  const situation = { env, isPrecompile }
  const plain = settleTable(PROJECT, options, situation)
  const { public: publicGiven = 'public' } = options
  if (publicGiven === false && options.apps !== false)
    throw optionError('public', 'a directory unless apps is false', false)
  const publicDir = resolve(root, publicGiven || 'public')
  const prefix = settlePrefix(options.prefix)
  const apps = settleApps({ ...plain, ...situation, options, root, publicDir, prefix })
  if (publicGiven !== false) checkPublic({ root, publicDir, ...apps }, publicGiven)
  const mounts = settleMounts({ ...plain, ...apps, ...situation, root }, options.mounts)
  return Object.freeze({
    ...plain,
    ...apps,
    mounts,
    headers: headersByPath(options.headers, ''),
    root,
    env,
    serve,
    live: settleLive(options.live, { env, serve, root }),
    publicDir,
    servesPublic: publicGiven !== false,
    place: Object.freeze({ root, dir: publicDir, symlinks: plain.symlinks }),
    prefix,
    host: options.host?.replace(/\/$/, ''),
    memory: Object.freeze(settleTable(MEMORY, options.memory ?? {}, situation)),
    index: Object.freeze(settleTable(INDEX, options.index ?? {}, situation))
  })
}

/** The settings of `precompile`, whose default environment is `production`. */
export function settleForPrecompile(options?: KoaAssetsOptions, processEnv?: NodeJS.ProcessEnv) {
  return settle(options, processEnv, true)
}

function settleRoot(root = process.cwd()): string {
  const path = resolve(root)
  if (isDirectory(path)) return path
  throw new AssetError(
    'root-missing',
    `root is ${path}, which is not a directory: set root to the project's directory, as in root: import.meta.dirname`
  )
}

function settlePrefix(prefix = '/assets'): string {
  const expected = "a path such as '/assets'"
  const path = settlePath(prefix, 'prefix', expected)
  if (path === '') throw optionError('prefix', expected, prefix)
  return path
}

/**
 * Undefined unless the environment is `development` and the assets are served.
 * @throws AssetError for a directory that does not exist
 */
function settleLive(
  given: boolean | LiveOptions | undefined,
  { env, serve, root }: { readonly env: string; readonly serve: boolean; readonly root: string }
): LiveSettings | undefined {
  if (env !== 'development' || !serve || given === false) return undefined
  const { hosts = [], watch = [], editor }: LiveOptions = typeof given === 'object' ? given : {}
  return Object.freeze({
    hosts: new Set(hosts.map(name => name.toLowerCase())),
    watch: Object.freeze(watch.map(directory => existingDirectory('live.watch', root, directory))),
    editor
  })
}
