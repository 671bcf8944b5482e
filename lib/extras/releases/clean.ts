// Removes the fingerprinted files of earlier deploys that open pages no longer ask for.
import { join } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { CODINGS } from '../../runtime/files/codings.ts'
import {
  outsidePlace,
  removeInPlace,
  wouldBeInPlace,
  type Boundary
} from '../../runtime/files/containment.ts'
import { digestOfFile, isSameDigest } from '../../runtime/files/digest.ts'
import { errorCode, statOf } from '../../runtime/files/disk.ts'
import { lock } from '../../publishing/writing/lock.ts'
import { nowOnDisk } from '../../publishing/writing/write.ts'
import {
  check,
  flag,
  secondsOf,
  wholeNumber,
  type Duration,
  type Expectation
} from '../../runtime/check-options.ts'
import { warnOnce } from '../../runtime/errors.ts'
import type { Project } from '../../runtime/app/parts.ts'
import { manifestFile, publicFile } from '../../runtime/settings/public-directory.ts'
import { encodePath, splitFingerprint, withFingerprint } from '../../runtime/urls/spelling.ts'
import { readManifest } from '../../runtime/urls/read-manifest.ts'
import { sum } from '../../publishing/building/publish.ts'
import { listPublished, type PublishedFile } from '../deltas/directory.ts'

export interface CleanOptions {
  /** The number of versions of each name to keep, the newest first. Default: 3. */
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
   * The URL paths, for `cleanKept` the paths in the directory, of the removed files, without their compressed copies
   * and other representations; sorted.
   */
  readonly removed: readonly string[]
  /** The total size of the removed files with all their representations, in bytes. */
  readonly bytes: number
  /** The number of fingerprinted files, for `cleanKept` of kept files, that remain. */
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
  settings: Project,
  cleanOptions: CleanOptions = {}
): Promise<CleanReport> {
  check(cleanOptions, OPTIONS)
  const { dryRun = false } = cleanOptions
  const directory = publicFile(settings, settings.prefix)
  if (!(await wouldBeInPlace(settings.place, join(directory, 'any')))) {
    throw outsidePlace(settings.place, directory, 'cleaned')
  }
  // This fails before the lock creates anything in a directory without a manifest.
  await readManifest(manifestFile(settings))
  const held = dryRun ? undefined : await lock(directory, warnOnce())
  try {
    const { versions, deltas } = await listPublished(settings)
    const { assets } = await readManifest(manifestFile(settings))
    const current = new Set(Array.from(assets.values(), ({ target }) => decodeURIComponent(target)))
    const now = await clockOf(directory)
    const judged = await inParallel([...versions.values()], CONCURRENCY, async files => {
      const dated = await withTimes(files, current)
      const outdated = outdatedAmong(cleanOptions, dated, now)
      return [...dated.keys()].map(version => ({ ...version, isOld: outdated.has(version) }))
    })
    const removed = judged.flat().filter(({ isOld }) => isOld)
    const kept = new Set(judged.flat().flatMap(({ path, isOld }) => (isOld ? [] : path)))
    const endless = [...deltas.values()].flat().filter(delta => lacksEnd(delta, kept))
    const files = [
      ...endless.map(({ file }) => [file]),
      ...removed.map(({ file }) => withCopies(file))
    ]
    await held?.check()
    return {
      removed: removed.map(({ path }) => encodePath(path)).toSorted(),
      bytes: await removeFiles(settings.place, files, dryRun),
      kept: kept.size,
      dryRun
    }
  } finally {
    await held?.release()
  }
}

/**
 * Returns the versions that `precompile` made, each with the time in milliseconds when it was written or dropped from
 * the manifest. A current one is the newest.
 */
async function withTimes(versions: readonly PublishedFile[], current: ReadonlySet<string>) {
  const times = new Map<PublishedFile, number>()
  for (const version of versions) {
    const { file, path, digest } = version
    if (current.has(path)) times.set(version, Infinity)
    else if (isSameDigest(await digestOfFile(file), digest)) {
      const stats = await statOf(file)
      if (stats) times.set(version, Number(stats.ctimeNs / 1_000_000n))
    }
  }
  return times
}

/** A delta lacks an end if a version of it is not kept. Beside any other file it is not ours. */
function lacksEnd({ base, digest }: PublishedFile, kept: ReadonlySet<string>): boolean {
  const plain = splitFingerprint(base)?.name
  if (plain === undefined) return false
  return !kept.has(base) || !kept.has(withFingerprint(plain, digest))
}

function asSeconds(age: unknown): number | undefined {
  const seconds = typeof age === 'string' ? secondsOf(age) : age
  return typeof seconds === 'number' && seconds >= 0 ? seconds : undefined
}

/** Returns the versions that neither limit keeps. @param dated has each with a time in milliseconds */
export function outdatedAmong<T>(
  { keep = KEEP, age = AGE }: Pick<CleanOptions, 'keep' | 'age'>,
  dated: ReadonlyMap<T, number>,
  now = Date.now()
): ReadonlySet<T> {
  const latest = now - (asSeconds(age) ?? 0) * 1000
  const newestFirst = [...dated].toSorted(([, a], [, b]) => b - a)
  const outdated = newestFirst.filter(([, time], rank) => rank >= keep && time <= latest)
  return new Set(outdated.map(([each]) => each))
}

/** Returns the time by the clock of the disk, which may be another machine's, in milliseconds since 1970. */
async function clockOf(directory: string): Promise<number> {
  try {
    return Number((await nowOnDisk(directory)) / 1_000_000n)
  } catch (error) {
    // A dry run does not need write permission.
    if (errorCode(error) === undefined) throw error
    return Date.now()
  }
}

/** Returns a file after its copies: as long as it is there, a run that was interrupted can be repeated. */
export function withCopies(file: string): string[] {
  return [...CODINGS.map(({ extension }) => file + extension), file]
}

/**
 * Removes files, those of one list one after the other.
 * @returns the total size in bytes
 */
export async function removeFiles(
  place: Boundary,
  groups: readonly (readonly string[])[],
  isDry: boolean
): Promise<number> {
  const sizes = await inParallel(groups.flat(), CONCURRENCY, async file => {
    const stats = await statOf(file)
    return stats?.isFile() ? Number(stats.size) : 0
  })
  const removeAll = async (files: readonly string[]) => {
    for (const file of files) await removeInPlace(place, file)
  }
  if (!isDry) await inParallel(groups, CONCURRENCY, removeAll)
  return sum(sizes)
}
