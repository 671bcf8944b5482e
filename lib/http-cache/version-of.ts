// A version of the bytes of files and directories: another as soon as a template was edited.
import { readdir } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { inspect } from 'node:util'
import { isDevelopment } from '../environment.ts'
import { keepCurrent, stopRefreshing } from './kept-current.ts'
import { statIfThere } from '../files/at-start.ts'
import { ifThere, readSnapshot, realpathOf, statOf } from '../files/disk.ts'
import { sortEntries } from '../files/folder-entries.ts'
import { recheck, observe, type Observation } from '../files/observation.ts'
import { digestOf } from '../files/digest.ts'
import { inParallel, oneAtATime } from '../concurrency.ts'

export interface VersionOfOptions {
  /** Where relative names start. Default `process.cwd()`. */
  readonly root?: string | undefined
}

const CONCURRENCY = 16

/**
 * A `version` for koaHttpCache: 32 hex characters of the bytes of these files and directories, searched
 * recursively, and of their names. Hidden files and what editors leave behind do not count; links are
 * followed. Read once, at start; in development (`NODE_ENV`) before each request, by a stat of each file.
 *
 * Call it once, and the function that it returns in `version` alone, also together with others:
 * `version: ctx => ctx.assets.version + views()`.
 *
 * @throws TypeError for a wrong argument; Error for a name that is not there
 */
export function versionOf(
  ...args: readonly [string, ...string[]] | readonly [string, ...string[], VersionOfOptions]
): () => string {
  const { names, root } = readArguments(args)
  const files = new FilesRead(
    names.map(name => resolve(root, name)),
    root
  )
  for (const path of files.paths) {
    if (!statIfThere(path))
      throw new Error(`versionOf: there is no ${path}; relative names start at ${root}`)
  }
  keepCurrent(isDevelopment() ? oneAtATime(() => files.read()) : readAtStart(files))
  return () => {
    if (files.version !== undefined) return files.version
    throw new Error(
      `the version of ${names.join(', ')} is not read yet: koaHttpCache reads it before it enters a route`
    )
  }
}

function readAtStart(files: FilesRead): () => Promise<void> {
  let reading: Promise<void> | undefined
  const refresh = async (): Promise<void> => {
    reading ??= files.read()
    try {
      await reading
      stopRefreshing(refresh)
    } catch (error) {
      reading = undefined
      throw error
    }
  }
  // A failure is that of the first request, which tries again.
  void Promise.allSettled([refresh()])
  return refresh
}

function readArguments(args: readonly unknown[]): { names: readonly string[]; root: string } {
  const last = args.at(-1)
  const isOptions = typeof last === 'object' && last !== null && !Array.isArray(last)
  const options: VersionOfOptions = isOptions ? last : {}
  const names = isOptions ? args.slice(0, -1) : args
  const unknown = Object.keys(options).find(key => key !== 'root')
  if (unknown !== undefined)
    throw new TypeError(`unknown option of versionOf ${unknown}; known is root`)
  const { root = process.cwd() } = options
  if (typeof root !== 'string') throw new TypeError(`root must be a path, got ${inspect(root)}`)
  const isName = (name: unknown): name is string => typeof name === 'string' && name !== ''
  if (names.length > 0 && names.every(isName)) return { names, root: resolve(root) }
  throw new TypeError(
    `versionOf must be given files and directories, as in versionOf('views'), got ${inspect(args)}`
  )
}

interface FileRead {
  readonly seen: Observation
  readonly digest: string
}

class FilesRead {
  readonly paths: readonly string[]
  version: string | undefined
  readonly #root: string
  #known: ReadonlyMap<string, FileRead> = new Map()

  constructor(paths: readonly string[], root: string) {
    this.paths = paths
    this.#root = root
  }

  async read(): Promise<void> {
    const found = (await Promise.all(this.paths.map(path => filesUnder(path)))).flat()
    const files = [...new Set(found)].toSorted((one, other) => (one < other ? -1 : 1))
    const reads = await inParallel(files, CONCURRENCY, path => this.#look(path))
    this.#known = new Map(files.flatMap((path, at) => pairOf(path, reads[at])))
    this.version = digestOf(Buffer.from(JSON.stringify(Array.from(this.#known, this.#name))))
  }

  #look = async (path: string): Promise<FileRead | undefined> => {
    const known = this.#known.get(path)
    const again = known && (await recheck(known.seen))
    if (known && again) return { seen: again, digest: known.digest }
    const readAt = Date.now()
    const whole = await readSnapshot(path)
    if (!whole) return undefined
    const { stamp, bytes } = whole
    return { seen: observe(path, stamp, () => bytes, readAt), digest: digestOf(bytes) }
  }

  // Not the absolute path: every server of a deploy has the same version.
  #name = ([path, { digest }]: readonly [string, FileRead]): readonly [string, string] => [
    relative(this.#root, path).replaceAll(sep, '/'),
    digest
  ]
}

function pairOf(path: string, read: FileRead | undefined): [string, FileRead][] {
  return read ? [[path, read]] : []
}

/** Regular files, a name that is one included; none where nothing is there any more. */
async function filesUnder(path: string, chain: readonly string[] = []): Promise<string[]> {
  const stats = await statOf(path)
  if (!stats?.isDirectory()) return stats?.isFile() ? [path] : []
  const real = await realpathOf(path)
  const entries = await ifThere(readdir(path, { withFileTypes: true }))
  if (real === undefined || !entries) return []
  const way = [...chain, real]
  const { files, partials, folders } = await sortEntries(path, entries, way, 'follow')
  const inside = await Promise.all(folders.map(name => filesUnder(join(path, name), way)))
  return [...files, ...partials].map(name => join(path, name)).concat(inside.flat())
}
