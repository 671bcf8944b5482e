// versionOf digests files and directories, so that a version changes when a template is edited.
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { statIfThere } from '../files/at-start.ts'
import {
  classifyEntries,
  undefinedIfMissing,
  isSettled,
  realpathOf,
  type Stamp,
  stampOf,
  statOf
} from '../files/disk.ts'
import { readSnapshot } from '../files/open-file.ts'
import { digestOf } from '../files/digest.ts'
import { inParallel, oneAtATime } from '../concurrency.ts'
import { check, isRecord, optionError, text } from '../check-options.ts'
import { isDevelopment } from './settings.ts'
import { pathFrom } from '../files/paths.ts'

export interface VersionOfOptions {
  /** Relative names start at this directory. Default: `process.cwd()`. */
  readonly root?: string | undefined
}

const CONCURRENCY = 16
const MAX_VERSIONS = 1000

/** koaHttpCache refreshes the versions that may have changed before a route reads them. */
export const refreshes = new Set<() => Promise<void>>()

/**
 * Makes a `version` for `koaHttpCache`: 32 hex characters that depend on the names and bytes of these files
 * and directories. Directories are searched recursively and links are followed; hidden files and editor
 * leftovers are skipped. The files are read once, at start; in development (`NODE_ENV`) each one is checked
 * with a stat before every request.
 *
 * Call `versionOf` once, at start, and the function that it returns only inside `version`.
 * @example
 * app.use(koaHttpCache({ version: versionOf('views', 'locales') }))
 *
 * const views = versionOf('views')
 * app.use(koaHttpCache({ version: ctx => ctx.assets.version + views() }))
 * @throws TypeError for an invalid argument; Error for a file or directory that does not exist
 */
export function versionOf(
  ...args: readonly [string, ...string[]] | readonly [string, ...string[], VersionOfOptions]
): () => string {
  const { names, root } = readArguments(args)
  const paths = names.map(name => resolve(root, name))
  const missing = paths.find(path => !statIfThere(path))
  if (missing !== undefined)
    throw new Error(`versionOf: ${missing} does not exist; relative names start at ${root}`)
  if (refreshes.size >= MAX_VERSIONS) {
    const advice = 'call it once, where koaHttpCache is created'
    throw new Error(`versionOf was called ${MAX_VERSIONS} times: ${advice}`)
  }
  const isFinal = !isDevelopment()
  let seen: string | undefined
  let version: string | undefined
  const refresh = oneAtATime(async () => {
    const lookedAt = Date.now()
    const found = (await Promise.all(paths.map(path => filesUnder(path)))).flat()
    const files = [...new Map(found)].toSorted(([one], [other]) => (one < other ? -1 : 1))
    const state = files.map(([path, stamp]) => [path, ...Object.values(stamp)].join(' ')).join('\n')
    if (state !== seen) {
      const digests = await inParallel(files, CONCURRENCY, async ([path]) => {
        const read = await readSnapshot(path)
        // Names are relative, so that every server of a deploy has the same version.
        return [pathFrom(root, path), digestOf(read?.bytes ?? '')]
      })
      version = digestOf(JSON.stringify(digests))
      // A file that has just changed may change again under the same stamp.
      const areSettled = files.every(([, stamp]) => isSettled(stamp, lookedAt))
      seen = areSettled ? state : undefined
    }
    if (isFinal) refreshes.delete(refresh)
  })
  refreshes.add(refresh)
  // After a failure the first request tries again.
  if (isFinal) void Promise.allSettled([refresh()])
  return () => {
    if (version !== undefined) return version
    throw new Error(
      `the version of ${names.join(', ')} has not been read yet: call it in a route behind koaHttpCache`
    )
  }
}

export function refreshVersions(): Promise<unknown> {
  return Promise.all(Array.from(refreshes, refresh => refresh()))
}

function readArguments(args: readonly unknown[]): { names: readonly string[]; root: string } {
  const last = args.at(-1)
  const options: VersionOfOptions = isRecord(last) ? last : {}
  const names = isRecord(last) ? args.slice(0, -1) : args
  check(options, { root: text })
  const { root = process.cwd() } = options
  if (names.length > 0 && names.every(text.holds)) return { names, root: resolve(root) }
  throw optionError('the arguments of versionOf', "files and directories, such as 'views'", args)
}

/** Lists the regular files at and below a path, or none if it no longer exists. */
async function filesUnder(path: string, chain: readonly string[] = []): Promise<[string, Stamp][]> {
  const stats = await statOf(path)
  if (!stats?.isDirectory()) return stats?.isFile() ? [[path, stampOf(stats)]] : []
  const real = await realpathOf(path)
  const entries = await undefinedIfMissing(readdir(path, { withFileTypes: true }))
  if (real === undefined || !entries) return []
  const parents = [...chain, real]
  const { files, folders } = await classifyEntries(path, entries, parents, 'follow')
  const names = [...files, ...folders]
  return (await Promise.all(names.map(name => filesUnder(join(path, name), parents)))).flat()
}
