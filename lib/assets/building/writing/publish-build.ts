// From a build to public: what has a fingerprint first, the plain names and the manifest at the end.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AssetError } from '../../../errors.ts'
import { errorCode, ifThere, statOf } from '../../../files/disk.ts'
import { publishedUrl, type Built } from '../finish-build.ts'
import type { LastBuild } from '../last-build/last-build.ts'
import type { Lock } from '../../../files/writing/lock.ts'
import { manifestApps, manifestFile } from '../../settings/manifest-file.ts'
import { serialize, type ManifestEntries, type ManifestEntry } from '../manifest/manifest.ts'
import { Publication } from './publication.ts'
import { parsing } from '../manifest/read-manifest.ts'
import { prepareReplacement } from '../../../files/writing/replacement.ts'
import type { Settings } from '../../settings/settings.ts'
import { filesOf, writeBuilt, type Written } from './write-build.ts'
import { setMtime } from '../../../files/writing/mtime.ts'
import { encodePath } from '../../urls/encode.ts'
import { atOnce, inParallel } from '../../../concurrency.ts'
import { rethrowAsPublishError } from '../../../files/writing/publish-error.ts'

type Assets = ReadonlyMap<string, Built>

interface Work {
  readonly last: LastBuild
  readonly lock: Lock
  readonly signal: AbortSignal | undefined
  readonly onProgress: (done: number, total: number, path: string) => void
}

interface Published {
  readonly entries: ManifestEntries
  /** Those of the manifest before. */
  readonly before: ManifestEntries
  readonly compressedBytes: number
}

// Compression runs on the thread pool, four at a time.
const CONCURRENCY = 8

/**
 * Up to the last moment, whatever ends this process leaves the manifest, what it names, and the plain
 * names as they were.
 */
export async function publishBuild(
  settings: Settings,
  assets: Assets,
  work: Work
): Promise<Published> {
  const publication = new Publication(settings)
  try {
    const written = await writeAll(settings, assets, publication, work)
    work.signal?.throwIfAborted()
    const failed = rethrowAsPublishError(settings, `${settings.prefix}.json`)
    const file = manifestFile(settings)
    const before = await lastEntries(file).catch(failed)
    const entries = entriesOf(assets.values())
    const text = serialize(entries, manifestApps(settings.apps))
    const manifest = await prepareReplacement(file, Buffer.from(text), now()).catch(failed)
    publication.addLast(`${settings.prefix}.json`, manifest)
    await touchSuperseded(settings, before, entries)
    work.signal?.throwIfAborted()
    await work.lock.check()
    await publication.commit()
    await keepAll(settings, written, work.last)
    const sizes = written.map(({ smallest }) => smallest)
    return { entries, before, compressedBytes: sizes.reduce((sum, size) => sum + size, 0) }
  } catch (error) {
    await publication.discard()
    throw error
  }
}

type WrittenAsset = Written & { readonly built: Built; readonly isKnown: boolean }

async function writeAll(
  settings: Settings,
  assets: Assets,
  publication: Publication,
  { last, signal, onProgress }: Work
): Promise<readonly WrittenAsset[]> {
  let done = 0
  const isAsset = (path: string) => assets.has(path)
  const write = async (built: Built): Promise<WrittenAsset> => {
    // What nobody touched since it was written is not even read.
    const known = await last.written(built)
    if (known) return { ...known, built, isKnown: true }
    const written = await writeBuilt(settings, built, isAsset, publication.open(built.path))
    return { ...written, built, isKnown: false }
  }
  return inParallel(
    [...assets.values()],
    CONCURRENCY,
    async built => {
      const written = await write(built).catch(rethrowAsPublishError(settings, built.path))
      onProgress(++done, assets.size, built.path)
      return written
    },
    signal
  )
}

async function keepAll(
  settings: Settings,
  written: readonly WrittenAsset[],
  last: LastBuild
): Promise<void> {
  await inParallel(written, CONCURRENCY, async one => {
    if (!one.isKnown) await last.keepWritten(one.built, one, filesOf(settings, one.built))
  })
}

/**
 * Open pages go on asking for what the manifest named until now. Its change time, which nobody can set,
 * tells `clean` how long that is ago.
 */
async function touchSuperseded(
  { publicDir }: Settings,
  before: ManifestEntries,
  entries: ManifestEntries
): Promise<void> {
  const current = new Set(Array.from(entries.values(), ({ target }) => target))
  const superseded = [...before.values()].filter(({ target }) => !current.has(target))
  await inParallel(superseded, CONCURRENCY, async ({ target }) => {
    const file = join(publicDir, decodeURIComponent(target))
    const stats = await statOf(file)
    if (stats?.isFile()) await setMtime(file, stats.mtimeNs).catch(unlessRefused)
  })
}

/** Another user's file keeps the time at which it was written. */
function unlessRefused(error: unknown): void {
  if (!['EPERM', 'EACCES', 'EROFS', 'ENOENT'].includes(errorCode(error) ?? '')) throw error
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

async function lastEntries(file: string): Promise<ManifestEntries> {
  const bytes = await ifThere(readFile(file))
  if (bytes === undefined) return new Map()
  try {
    return atOnce(parsing(bytes, file)).assets
  } catch (error) {
    // It is about to be replaced by a good one.
    if (error instanceof AssetError) return new Map()
    throw error
  }
}

function now(): bigint {
  return BigInt(Date.now()) * 1_000_000n
}
