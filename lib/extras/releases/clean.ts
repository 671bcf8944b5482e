// Removes files that open pages no longer need: those of earlier deploys, and those that `keep` has copied to a build.
import { join } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { CODINGS } from '../../runtime/files/codings.ts'
import {
  outsidePlace,
  removeInPlace,
  wouldBeInPlace,
  type Boundary
} from '../../runtime/files/containment.ts'
import { digestOfFile } from '../../runtime/files/digest.ts'
import { removeFile, statOf } from '../../runtime/files/disk.ts'
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
import type { Project } from '../../runtime/app/extra.ts'
import { hiddenMapFile, manifestFile, publicFile } from '../../runtime/settings/public-directory.ts'
import { encodePath, splitFingerprint, withFingerprint } from '../../runtime/urls/spelling.ts'
import { readNames } from '../../runtime/urls/read-manifest.ts'
import { sum } from '../../runtime/lists.ts'
import { splitDelta } from '../deltas/delta-format.ts'
import { listPublished, openDirectory, type PublishedFile } from '../deltas/directory.ts'
import type { KeptFile } from '../vite/kept-files.ts'
import { findBuild, keptIn, readBuild, requireList, writeKept } from './build.ts'

/** Limits how many versions of each name, or earlier builds, are kept, and for how long. */
interface Limits {
  /** The number of versions, or earlier builds, to keep, however old they are. Default: 3. */
  readonly keep?: number | undefined
  /**
   * Seconds, or a duration such as `'12h'`, `'1d'` or `'2w'`. A version that was published, or in the manifest, within
   * that time is kept, and so is a build that was replaced within it, however many there are. Default: `'7d'`.
   */
  readonly age?: number | Duration | undefined
}

export interface BuildLimits extends Limits {
  /**
   * The bundler's manifest, relative to the directory of each build: `'build/stats.json'`. Default:
   * `.vite/manifest.json`, `metafile.json`, `meta.json`, `stats.json`, `assets-manifest.json` or
   * `manifest.json`, the first that exists.
   */
  readonly manifest?: string | undefined
}

export interface CleanOptions extends Limits {
  /** Reports what would be removed, and removes nothing. Default: false. */
  readonly dryRun?: boolean | undefined
}

export interface CleanKeptOptions extends BuildLimits, CleanOptions {}

export interface CleanReport {
  /** The URL paths (of `cleanKept`: the paths in the directory) of removed files, without representations; sorted. */
  readonly removed: readonly string[]
  /** The total size of the removed files with all their representations, in bytes. */
  readonly bytes: number
  /** The number of fingerprinted files, for `cleanKept` of kept files, that remain. */
  readonly kept: number
  readonly dryRun: boolean
}

export const KEEP = 3
export const AGE = '7d' satisfies Duration

const age: Expectation = {
  expected: "a number of seconds, 0 or more, or a duration such as '12h', '1d' or '2w'",
  holds: given => asSeconds(given) !== undefined
}

const OPTIONS = {
  keep: wholeNumber('versions'),
  age,
  dryRun: flag
} satisfies Record<keyof CleanOptions, Expectation>

export const BUILD_LIMITS = {
  keep: wholeNumber('builds'),
  age,
  manifest: {
    expected: 'a path relative to the builds',
    holds: path => typeof path === 'string' && /^[^/\0][^\0]*$/.test(path)
  }
} satisfies Record<keyof BuildLimits, Expectation>

const CONCURRENCY = 8

export async function clean(settings: Project, options: CleanOptions = {}): Promise<CleanReport> {
  check(options, OPTIONS)
  const { dryRun = false } = options
  const directory = publicFile(settings, settings.prefix)
  if (!(await wouldBeInPlace(settings.place, join(directory, 'any'))))
    throw outsidePlace(settings.place, directory, 'cleaned')
  // Without a manifest this fails before the lock creates anything in the directory.
  await readNames(manifestFile(settings))
  const held = dryRun ? undefined : await lock(directory, warnOnce())
  try {
    const { versions, deltas } = await listPublished(settings)
    const { assets } = await readNames(manifestFile(settings))
    const current = new Set(Array.from(assets.values(), ({ target }) => decodeURIComponent(target)))
    // Times are those of the disk, which may be another machine's. A dry run may lack permission to read its clock.
    const now = dryRun ? Date.now() : Number((await nowOnDisk(directory)) / 1_000_000n)
    const dated = await inParallel([...versions.values()], CONCURRENCY, files =>
      withTimes(files, current)
    )
    // The plain file of an asset that is gone stays until its newest version has the age, or if that is 0, with a version.
    const byAge = asSeconds(options.age ?? AGE) === 0 ? options : { ...options, keep: 0 }
    const gone = dated.filter(each => outdatedAmong(byAge, each, now).size === each.size)
    const plain = await inParallel(gone, CONCURRENCY, each => plainFileOf(settings, each.keys()))
    const removed = dated.flatMap(each => [...outdatedAmong(options, each, now)])
    removed.push(...plain.flat().filter(({ path }) => !assets.has(encodePath(path))))
    const kept = new Set(dated.flatMap(each => Array.from(each.keys(), ({ path }) => path)))
    for (const { path } of removed) kept.delete(path)
    const endless = [...deltas.values()].flat().filter(delta => lacksEnd(delta, kept))
    const copied = removed.map(({ file }) => withCopies(file))
    await held?.check()
    const files = [...endless.map(({ file }) => [file]), ...copied]
    const bytes = await removeFiles(settings.place, files, dryRun)
    for (const { path } of dryRun ? [] : removed) await removeFile(hiddenMapFile(settings, path))
    const paths = removed.map(({ path }) => encodePath(path)).toSorted()
    return { removed: paths, bytes, kept: kept.size, dryRun }
  } finally {
    await held?.release()
  }
}

/** Returns the plain file beside versions if it has the bytes of one; any other file belongs to somebody else. */
async function plainFileOf(settings: Project, versions: Iterable<PublishedFile>) {
  const [first, ...others] = versions
  const file = publicFile(settings, first?.base ?? settings.prefix)
  const digest = (await statOf(file))?.isFile() ? await digestOfFile(file) : undefined
  const found = [first, ...others].find(each => each?.digest === digest)
  return found ? [{ ...found, path: found.base, file }] : []
}

/** Returns the versions of `precompile`, each with its change time in milliseconds. A current one is newest. */
async function withTimes(versions: readonly PublishedFile[], current: ReadonlySet<string>) {
  const times = new Map<PublishedFile, number>()
  for (const version of versions) {
    const { file, path, digest } = version
    if (current.has(path)) times.set(version, Infinity)
    else if ((await digestOfFile(file)) === digest) {
      const stats = await statOf(file)
      if (stats) times.set(version, Number(stats.ctimeNs / 1_000_000n))
    }
  }
  return times
}

/** Tells whether one of the two versions of a delta is not kept. A delta beside any other file is not ours. */
function lacksEnd({ base, digest }: PublishedFile, kept: ReadonlySet<string>): boolean {
  const plain = splitFingerprint(base)?.name
  if (plain === undefined) return false
  return !kept.has(base) || !kept.has(withFingerprint(plain, digest))
}

export async function cleanKept(directory: string, options: CleanKeptOptions = {}) {
  check(options, { ...BUILD_LIMITS, dryRun: flag })
  const { dryRun = false } = options
  const served = await openDirectory(directory)
  const listed = await keptIn(served)
  if (listed.size === 0) {
    const build = await findBuild(served, options.manifest)
    if (build) await requireList(served, build)
    return { removed: [], bytes: 0, kept: 0, dryRun }
  }
  const build = await readBuild(served, options.manifest)
  const outdated = outdatedBuilds(options, listed)
  const kept = [...listed].filter(([file]) => served.files.has(file) && !build.paths.has(file))
  const left = new Map(kept.filter(([, { replaced }]) => !outdated.has(replaced)))
  const removed = kept.flatMap(([file]) => (left.has(file) ? [] : file)).toSorted()
  const pathOf = (file: string) => join(served.path, file)
  const digests = await inParallel(removed, CONCURRENCY, file => digestOfFile(pathOf(file)))
  const endless = [...served.files].filter(file => {
    const delta = splitDelta(file)
    return delta && (removed.includes(delta.name) || digests.includes(delta.digest))
  })
  // A folder or a link with the name of a copy stays.
  const copied = removed.map(file => withCopies(file).filter(path => served.files.has(path)))
  const gone = [...endless.map(file => [file]), ...copied].map(files => files.map(pathOf))
  const bytes = await removeFiles(served.place, gone, dryRun)
  if (!dryRun) await writeKept(served, left, build.manifest)
  return { removed, bytes, kept: left.size, dryRun }
}

export function outdatedBuilds(limits: Limits, kept: Iterable<readonly [string, KeptFile]>) {
  const times = Array.from(kept, ([, { replaced }]) => [replaced, replaced] as const)
  return outdatedAmong(limits, new Map(times))
}

/** Returns the versions that neither limit keeps. @param dated the versions, each with a time in milliseconds */
function outdatedAmong<T>(limits: Limits, dated: ReadonlyMap<T, number>, now = Date.now()) {
  const { keep = KEEP, age = AGE } = limits
  const latest = now - (asSeconds(age) ?? 0) * 1000
  const newestFirst = [...dated].toSorted(([, a], [, b]) => b - a)
  const outdated = newestFirst.filter(([, time], rank) => rank >= keep && time <= latest)
  return new Set(outdated.map(([each]) => each))
}

function asSeconds(age: unknown): number | undefined {
  const seconds = typeof age === 'string' ? secondsOf(age) : age
  return typeof seconds === 'number' && seconds >= 0 ? seconds : undefined
}

/** Returns a file after its copies: as long as the file exists, an interrupted run can be repeated. */
export function withCopies(file: string): string[] {
  return [...CODINGS.map(({ extension }) => file + extension), file]
}

/** Removes files, those of one list one after the other, and returns their total size in bytes. */
async function removeFiles(place: Boundary, lists: readonly string[][], isDry: boolean) {
  const sizes = await inParallel(lists, CONCURRENCY, async files => {
    let bytes = 0
    for (const file of files) {
      const stats = await statOf(file)
      if (stats?.isFile()) bytes += Number(stats.size)
      if (!isDry) await removeInPlace(place, file)
    }
    return bytes
  })
  return sum(sizes)
}
