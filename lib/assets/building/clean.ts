// Removes the fingerprinted files of earlier deploys that open pages no longer ask for.
import { join } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { CODINGS } from '../../files/codings.ts'
import { outsidePlace, wouldBeInPlace } from '../../files/containment.ts'
import { digestOfFile } from '../../files/digest.ts'
import { errorCode, removeFile, statOf } from '../../files/disk.ts'
import { lock } from '../../files/writing/lock.ts'
import { nowOnDisk } from '../../files/writing/atomic-write.ts'
import {
  check,
  flag,
  secondsOf,
  wholeNumber,
  type Duration,
  type Expectation
} from '../../options.ts'
import { warnOnce } from '../../printable.ts'
import { manifestFile } from '../settings/manifest-file.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import { publicFile } from '../settings/public-directory.ts'
import { settleForPrecompile, type Settings } from '../settings/settings.ts'
import { encodePath } from '../urls/encode.ts'
import { splitFingerprint, withFingerprint } from '../urls/fingerprint.ts'
import { readManifest } from './manifest/read-manifest.ts'
import { listPublished, type Published, type PublishedFile } from './published-files.ts'

export interface CleanOptions {
  /** How many versions of each name to keep, the newest first. Default: 3. */
  readonly keep?: number | undefined
  /**
   * Seconds, or a duration such as `'12h'`, `'1d'` or `'2w'`. A version that was published, or in the
   * manifest, within that time is kept, however many there are. Default: `'7d'`.
   */
  readonly age?: number | Duration | undefined
  /** Reports what would be removed, and removes nothing. Default: false. */
  readonly dryRun?: boolean | undefined
}

export interface CleanReport {
  /**
   * URL paths, of `cleanKept` paths in the directory, of the removed files without their compressed copies and
   * deltas; sorted.
   */
  readonly removed: readonly string[]
  /** Total size of the removed files, their compressed copies and deltas, in bytes. */
  readonly bytes: number
  /** How many fingerprinted files, of `cleanKept` kept files, remain. */
  readonly kept: number
  readonly dryRun: boolean
}

export const KEEP = 3
export const AGE = '7d' satisfies Duration

export const AGE_IN_SECONDS: Expectation = {
  expected: "a number of seconds, 0 or more, or a duration such as '12h', '1d' or '2w'",
  holds: age => asSeconds(age) !== undefined
}

const OPTIONS = {
  keep: wholeNumber('versions'),
  age: AGE_IN_SECONDS,
  dryRun: flag
} satisfies Record<keyof CleanOptions, Expectation>

const CONCURRENCY = 8

export async function clean(
  options: KoaAssetsOptions = {},
  cleanOptions: CleanOptions = {}
): Promise<CleanReport> {
  check(cleanOptions, OPTIONS)
  const { keep = KEEP, age = AGE, dryRun = false } = cleanOptions
  const settings = settleForPrecompile(options)
  const directory = publicFile(settings, settings.prefix)
  if (!(await wouldBeInPlace(settings.place, join(directory, 'any')))) {
    throw outsidePlace(settings.place, directory, 'cleaned')
  }
  // Fails before the lock creates anything in a directory without a manifest.
  await readManifest(manifestFile(settings))
  const held = dryRun ? undefined : await lock(directory, warnOnce())
  try {
    const published = await listPublished(settings)
    const versions = await readVersions(settings, published)
    const limits = { keep, ageMs: (asSeconds(age) ?? 0) * 1000 }
    const old = outdated(versions, limits, await clockOf(directory))
    const left = new Set(versions.filter(one => !old.includes(one)).map(({ path }) => path))
    const deltas = deltasWithoutEnd(published, left)
    const gone = [...deltas.map(({ file }) => [file]), ...old.map(withCopies)]
    const sizes = await inParallel(gone.flat(), CONCURRENCY, sizeOf)
    await held?.check()
    if (!dryRun) await inParallel(gone, CONCURRENCY, remove)
    return {
      removed: old.map(({ path }) => encodePath(path)).toSorted(),
      bytes: sizes.reduce((sum, size) => sum + size, 0),
      kept: left.size,
      dryRun
    }
  } finally {
    await held?.release()
  }
}

/** A fingerprinted file that `precompile` made. */
interface Version extends PublishedFile {
  /** Its change time: when it was written, or dropped from the manifest. */
  readonly changedMs: number
  readonly isCurrent: boolean
}

async function readVersions(settings: Settings, { versions }: Published): Promise<Version[]> {
  const { assets } = await readManifest(manifestFile(settings))
  const current = new Set(Array.from(assets.values(), ({ target }) => target))
  const read = await inParallel([...versions.values()].flat(), CONCURRENCY, async version => {
    const { file, path, digest } = version
    const isCurrent = current.has(encodePath(path))
    if (!isCurrent && (await digestOfFile(file)) !== digest) return []
    const stats = await statOf(file)
    return stats ? [{ ...version, changedMs: Number(stats.ctimeNs / 1_000_000n), isCurrent }] : []
  })
  return read.flat()
}

async function sizeOf(file: string): Promise<number> {
  const stats = await statOf(file)
  return stats?.isFile() ? Number(stats.size) : 0
}

/** Deltas that lead from or to a version that is not kept. Beside any other file they are not ours. */
function deltasWithoutEnd({ deltas }: Published, kept: ReadonlySet<string>) {
  return Array.from(deltas.values())
    .flat()
    .filter(({ base, digest }) => {
      const plain = splitFingerprint(base)?.name
      if (plain === undefined) return false
      return !kept.has(base) || !kept.has(withFingerprint(plain, digest))
    })
}

export function asSeconds(age: unknown): number | undefined {
  const seconds = typeof age === 'string' ? secondsOf(age) : age
  return typeof seconds === 'number' && seconds >= 0 ? seconds : undefined
}

/** The versions to remove. A current version is the newest of its name, and is kept. */
export function outdated<T extends Pick<Version, 'base' | 'changedMs' | 'isCurrent'>>(
  versions: readonly T[],
  { keep, ageMs }: { readonly keep: number; readonly ageMs: number },
  now: number
): readonly T[] {
  const ranks = new Map<string, number>()
  const newestFirst = versions.toSorted(
    (a, b) => Number(b.isCurrent) - Number(a.isCurrent) || b.changedMs - a.changedMs
  )
  return newestFirst.filter(({ base, isCurrent, changedMs }) => {
    const rank = ranks.get(base) ?? 0
    ranks.set(base, rank + 1)
    return rank >= keep && !isCurrent && changedMs <= now - ageMs
  })
}

/** Milliseconds since 1970 by the clock of the disk, which may be another machine's. */
async function clockOf(directory: string): Promise<number> {
  try {
    return Number((await nowOnDisk(directory)) / 1_000_000n)
  } catch (error) {
    // A dry run does not need write permission.
    if (errorCode(error) === undefined) throw error
    return Date.now()
  }
}

/** The copies first: as long as the file is there, an interrupted run can be repeated. */
function withCopies({ file }: Version): string[] {
  return [...CODINGS.map(({ extension }) => file + extension), file]
}

async function remove(files: readonly string[]): Promise<void> {
  for (const file of files) await removeFile(file)
}
