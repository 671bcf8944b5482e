// The whole tree at once, for production: built, compressed, written, and the manifest last.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { AssetError } from '../errors.ts'
import { encodePath } from './asset-url.ts'
import { build, type Problem } from './build.ts'
import { publishedUrl, type Built } from './finish-build.ts'
import { missing } from './disk.ts'
import { inParallel } from './in-parallel.ts'
import { openLastBuild, type LastBuild } from './last-build.ts'
import { lock } from './lock.ts'
import { loadMinifier } from './minify.ts'
import { atOnce } from './in-slices.ts'
import { serialize, type ManifestEntry } from './manifest.ts'
import { parsing } from './read-manifest.ts'
import { describeApps, manifestFile } from './manifest-file.ts'
import type { KoaAssetsOptions } from './options.ts'
import { explained, write } from './publish.ts'
import { settleForPrecompile, type Settings } from './settings.ts'
import { makeSources } from './sources.ts'
import { once, warnOnce } from '../warn-once.ts'
import { writeUnlessWritten } from './write-build.ts'
import { sweep } from './temporary.ts'

export interface Progress {
  readonly stage: 'compile' | 'write'
  readonly done: number
  readonly total: number
  /** The URL path of the asset that was done last. */
  readonly path: string
}

export interface PrecompileOptions {
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /**
   * Makes stylesheets and scripts smaller with esbuild, and publishes a source map of each at
   * `<name>.map`; `*.min.*` stays as it is. Default: false. Error when esbuild is not installed.
   */
  readonly minify?: boolean | undefined
  /** Aborting it rejects with its reason; the old manifest and its files stay. */
  readonly signal?: AbortSignal | undefined
  /** Hears of what is no error, each thing once. Default: `console.warn`. */
  readonly warn?: ((message: string) => void) | undefined
}

export interface PrecompileReport {
  /** Absolute path of the manifest. */
  readonly manifest: string
  readonly assets: number
  /** Bytes of all assets, and of the smallest representation of each. */
  readonly bytes: number
  readonly compressedBytes: number
  readonly seconds: number
  /** The five largest, by URL path. */
  readonly largest: readonly { readonly path: string; readonly size: number }[]
  /** URL paths, against the manifest of before. */
  readonly changes: {
    readonly added: readonly string[]
    readonly changed: readonly string[]
    readonly removed: readonly string[]
  }
}

/** Everything that is wrong, at once. */
export class PrecompileError extends AssetError {
  override name = 'PrecompileError'
  readonly problems: readonly AssetError[]

  constructor(problems: readonly AssetError[]) {
    const list = problems.map(problem => `\n- ${problem.message}`).join('')
    super('precompile-failed', `nothing was published: ${problems.length} to mend${list}`)
    this.problems = problems
  }
}

// Compression runs on the thread pool, four at a time.
const LANES = 8

/**
 * Publishes every asset of every app and third-party directory under plain and checksum names, with
 * compressed copies, and writes the manifest last. What earlier deploys published stays.
 *
 * @throws TypeError for a wrong option; PrecompileError that lists every broken source, in which case
 *   nothing was changed; AssetError when the disk refuses or another precompile is under way
 */
export async function precompile(
  options: KoaAssetsOptions = {},
  { onProgress, minify = false, signal, warn: say }: PrecompileOptions = {}
): Promise<PrecompileReport> {
  const startedAt = performance.now()
  const settings = settleForPrecompile(options)
  const directory = join(settings.publicDir, settings.prefix)
  const warn = say ? once(say) : warnOnce()
  signal?.throwIfAborted()
  const minifier = minify ? await loadMinifier(undefined, settings.root) : undefined
  const held = await lock(directory).catch(rethrow(settings, settings.prefix))
  try {
    await sweepAll(directory)
    const sources = makeSources(settings, warn)
    const progress = (stage: Progress['stage']) => (done: number, total: number, path: string) =>
      onProgress?.({ stage, done, total, path })
    const last = await openLastBuild(settings, sources, minify)
    const { assets, problems } = await build(settings, sources, {
      ...last,
      minify: minifier,
      warn,
      signal,
      onProgress: progress('compile')
    })
    if (problems.length > 0) throw new PrecompileError(inOrder(problems))
    const compressedBytes = await writeAll(settings, assets, last, progress('write'), signal)
    signal?.throwIfAborted()
    const file = manifestFile(settings)
    const unlessWritten = rethrow(settings, `${settings.prefix}.json`)
    const before = await lastEntries(file).catch(unlessWritten)
    const entries = entriesOf(assets.values())
    await write(file, Buffer.from(serialize(entries, describeApps(settings.apps))), now()).catch(
      unlessWritten
    )
    await last.save()
    const seconds = (performance.now() - startedAt) / 1000
    return { ...report(settings, entries, before), compressedBytes, seconds }
  } finally {
    await held.release()
  }
}

/** The order in which they were found is chance. */
function inOrder(problems: readonly Problem[]): AssetError[] {
  const sorted = problems.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return sorted.map(({ error }) => error)
}

function now(): bigint {
  return BigInt(Date.now()) * 1_000_000n
}

async function writeAll(
  settings: Settings,
  assets: ReadonlyMap<string, Built>,
  last: LastBuild,
  onProgress: (done: number, total: number, path: string) => void,
  signal: AbortSignal | undefined
): Promise<number> {
  let done = 0
  const isAsset = (path: string) => assets.has(path)
  const sizes = await inParallel(
    [...assets.values()],
    LANES,
    async built => {
      const writing = writeUnlessWritten(settings, built, isAsset, last)
      const { smallest } = await writing.catch(rethrow(settings, built.path))
      onProgress(++done, assets.size, built.path)
      return smallest
    },
    signal
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

function rethrow(settings: Settings, path: string) {
  return (error: unknown): never => {
    throw explained(settings, path, error)
  }
}

export function entriesOf(assets: Iterable<Built>): Map<string, ManifestEntry> {
  return new Map(
    Array.from(assets, built => {
      const { path, source, integrity, size, from } = built
      const entry = { target: publishedUrl(built), source: source.path, integrity, size }
      return [encodePath(path), { ...entry, ...(from > 0 && { from }) }]
    })
  )
}

type Entries = ReadonlyMap<string, ManifestEntry>

async function lastEntries(file: string): Promise<Entries> {
  const bytes = await missing(readFile(file))
  if (bytes === undefined) return new Map()
  try {
    return atOnce(parsing(bytes, file)).assets
  } catch (error) {
    // It is about to be replaced by a good one.
    if (error instanceof AssetError) return new Map()
    throw error
  }
}

function report(settings: Settings, entries: Entries, before: Entries) {
  const paths = [...entries.keys()].toSorted()
  const sized = Array.from(entries, ([path, { size }]) => ({ path, size }))
  return {
    manifest: manifestFile(settings),
    assets: entries.size,
    bytes: sized.reduce((sum, { size }) => sum + size, 0),
    largest: sized.toSorted((a, b) => b.size - a.size).slice(0, 5),
    changes: {
      added: paths.filter(path => !before.has(path)),
      changed: paths.filter(path => {
        const old = before.get(path)
        return old !== undefined && old.target !== entries.get(path)?.target
      }),
      removed: [...before.keys()].filter(path => !entries.has(path)).toSorted()
    }
  }
}

/** Removes what a killed run left behind, in every folder. */
async function sweepAll(directory: string): Promise<void> {
  const entries = await missing(readdir(directory, { withFileTypes: true, recursive: true }))
  const folders = (entries ?? []).filter(entry => entry.isDirectory())
  const paths = folders.map(folder => join(folder.parentPath, folder.name))
  await inParallel([directory, join(directory, '..'), ...paths], LANES, sweep)
}
