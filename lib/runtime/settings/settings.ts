// Settles the options of koaAssets: options in, frozen settings out.
import { AssetError } from '../errors.ts'
import { isDirectory } from '../files/at-start.ts'
import type { Boundary } from '../files/containment.ts'
import { absolutePath } from '../files/paths.ts'
import { check, optionError, settleTable } from '../check-options.ts'
import { existingDirectory, settleApps, settlePath } from './apps.ts'
import { headersByPath, settleMounts } from './mounts.ts'
import { INDEX, MEMORY, PROJECT, TOP, type CommonSettings } from './table.ts'
import type { KoaAssetsOptions, LiveOptions } from './options.ts'
import { requireServable } from './public-directory.ts'

export type { AppSettings } from './apps.ts'
export type { MountSettings } from './mounts.ts'

export type Settings = ReturnType<typeof settle>

/** @throws TypeError for an invalid option; AssetError for a directory that cannot be used */
export function settle(
  options: KoaAssetsOptions = {},
  processEnv = process.env,
  isPrecompile = false
) {
  check(options, TOP)
  const root = settleRoot(options.root)
  const env = options.env ?? (processEnv.NODE_ENV || (isPrecompile ? 'production' : 'development'))
  const serve = options.serve ?? processEnv.SERVE_STATIC_ASSETS === 'true'
  const situation = { env, isPrecompile }
  // The options with a default in their row of table.ts.
  const plain = settleTable(PROJECT, options, situation)
  if (plain.public === false && options.apps !== false)
    throw optionError('public', 'a directory unless apps is false', false)
  const publicDir = absolutePath(root, plain.public || 'public')
  const { base = '', prefix: given = '/assets' } = options
  const expected = "a path such as '/assets'"
  const prefix = settlePath(given, 'prefix', expected)
  if (prefix === '') throw optionError('prefix', expected, given)
  const project: CommonSettings = { ...plain, ...situation, root, publicDir, prefix, base }
  const apps = settleApps({ ...project, options })
  if (plain.public !== false) {
    const what = `the option public is ${plain.public}`
    requireServable({ root, ...apps }, publicDir, what, 'public-unusable')
  }
  const place: Boundary = { root, dir: publicDir, symlinks: plain.symlinks }
  return Object.freeze({
    ...project,
    ...apps,
    /** The mounts, the longest URL path first. */
    mounts: settleMounts({ ...project, ...apps }, options.mounts),
    headers: headersByPath(options.headers),
    serve,
    /** The live channel; undefined unless the environment is `development` and the assets are served. */
    live: settleLive(env === 'development' && serve && (options.live ?? true), root),
    servesPublic: plain.public !== false,
    /** `publicDir`, and the directories to which links in it may lead. */
    place: Object.freeze(place),
    /** The host without a trailing slash. */
    host: options.host?.replace(/\/$/, ''),
    memory: settleTable(MEMORY, options.memory),
    index: settleTable(INDEX, options.index)
  })
}

function settleRoot(root = process.cwd()): string {
  const path = absolutePath(process.cwd(), root)
  if (isDirectory(path)) return path
  const message = `root is ${path}, which is not a directory: set root to the project's directory, as in root: import.meta.dirname`
  throw new AssetError('root-missing', message)
}

function settleLive(given: boolean | LiveOptions, root: string) {
  if (given === false) return undefined
  const options: LiveOptions = given === true ? {} : given
  const { hosts = [], watch = [], editor, console = true } = options
  return Object.freeze({
    hosts: new Set(hosts.map(name => name.toLowerCase())),
    watch: Object.freeze(watch.map(directory => existingDirectory('live.watch', root, directory))),
    editor,
    console
  })
}
