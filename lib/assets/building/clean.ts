// Takes away what earlier deploys published and nobody is likely to ask for any more.
import { readdir, unlink } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { secondsOf, type Duration } from '../../duration.ts'
import { check, flag, wholeNumber, type Expectation } from '../../options.ts'
import { errorCode, ifThere, statOf } from '../../files/disk.ts'
import { splitFingerprint } from '../urls/fingerprint.ts'
import { lock } from '../../files/writing/lock.ts'
import { readManifest } from './manifest/read-manifest.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import { manifestFile } from '../settings/manifest-file.ts'
import { settleForPrecompile, type Settings } from '../settings/settings.ts'
import { nowOnDisk } from '../../files/writing/temporary.ts'
import { digestOfFile } from '../../files/digest.ts'
import { encodePath } from '../urls/encode.ts'
import { CODINGS } from '../../files/codings.ts'
import { inParallel } from '../../concurrency.ts'

export interface CleanOptions {
  /** How many versions of each name stay, the newest first. Default: 3. */
  readonly keep?: number | undefined
  /**
   * Seconds, or a duration such as `'12h'`, `'1d'` or `'2w'`. A version that the manifest named at
   * any time since then stays, however many there are. Default: `'7d'`.
   */
  readonly age?: number | Duration | undefined
  /** Tells what would be removed, and removes nothing. Default: false. */
  readonly dryRun?: boolean | undefined
}

export interface CleanReport {
  /** URL paths of what was removed, compressed copies not among them; sorted. */
  readonly removed: readonly string[]
  /** Bytes set free, compressed copies among them. */
  readonly bytes: number
  /** How many fingerprinted files are left. */
  readonly kept: number
  readonly dryRun: boolean
}

export const KEEP = 3
export const AGE = '7d' satisfies Duration

const CONCURRENCY = 8

/**
 * Removes fingerprinted files with their compressed copies. A file goes when the manifest does not
 * name it, when it is not among the newest `keep` of its name, and when the last manifest that named
 * it, or its publication, is longer ago than `age`, on the clock of its disk. A file whose bytes do not
 * have the digest that its name tells is not ours and stays.
 *
 * @throws TypeError for a wrong option; AssetError for a manifest that is missing or broken, or when
 *   a precompile is under way
 */
export async function clean(
  options: KoaAssetsOptions = {},
  cleanOptions: CleanOptions = {}
): Promise<CleanReport> {
  check(cleanOptions, OPTIONS)
  const { keep = KEEP, age = AGE, dryRun = false } = cleanOptions
  const rule = { keep, ageMs: (asSeconds(age) ?? 0) * 1000 }
  const settings = settleForPrecompile(options)
  if (dryRun) return sort(settings, rule).then(({ kept, old }) => report(old, kept, true))
  // Read first, so that a directory without a manifest is left as it is.
  await readManifest(manifestFile(settings))
  const held = await lock(join(settings.publicDir, settings.prefix))
  try {
    const { kept, old } = await sort(settings, rule)
    await held.check()
    await inParallel(old, CONCURRENCY, remove)
    return report(old, kept, false)
  } finally {
    await held.release()
  }
}

const OPTIONS = {
  keep: wholeNumber('versions'),
  age: {
    expected: "a number of seconds, 0 or more, or a duration such as '12h', '1d' or '2w'",
    holds: age => asSeconds(age) !== undefined
  },
  dryRun: flag
} satisfies Record<keyof CleanOptions, Expectation>

function asSeconds(age: unknown): number | undefined {
  const seconds = typeof age === 'string' ? secondsOf(age) : age
  return typeof seconds === 'number' && seconds >= 0 ? seconds : undefined
}

/** A fingerprinted file that we made. */
interface Version {
  readonly path: string
  readonly file: string
  /** The path without its fingerprint. */
  readonly plain: string
  /** When the disk says that it was changed last: written, or dropped from the manifest. */
  readonly changedMs: number
  readonly copies: readonly string[]
  /** With its copies. */
  readonly bytes: number
  readonly isCurrent: boolean
}

interface Rule {
  readonly keep: number
  readonly ageMs: number
}

async function sort(
  settings: Settings,
  rule: Rule
): Promise<{ kept: number; old: readonly Version[] }> {
  const versions = await findVersions(settings)
  const old = outdated(versions, rule, await clockOf(join(settings.publicDir, settings.prefix)))
  return { kept: versions.length - old.length, old }
}

/** What goes, of all there is. What the manifest names is the newest of its name, and never goes. */
export function outdated<T extends Pick<Version, 'plain' | 'changedMs' | 'isCurrent'>>(
  versions: readonly T[],
  { keep, ageMs }: Rule,
  now: number
): readonly T[] {
  const ranks = new Map<string, number>()
  const newestFirst = versions.toSorted(
    (a, b) => Number(b.isCurrent) - Number(a.isCurrent) || b.changedMs - a.changedMs
  )
  return newestFirst.filter(({ plain, isCurrent, changedMs }) => {
    const rank = ranks.get(plain) ?? 0
    ranks.set(plain, rank + 1)
    return rank >= keep && !isCurrent && changedMs <= now - ageMs
  })
}

/** In milliseconds. That of the disk, which is another machine's perhaps. */
async function clockOf(directory: string): Promise<number> {
  try {
    return Number((await nowOnDisk(directory)) / 1_000_000n)
  } catch (error) {
    // A dry run needs no right to write.
    if (errorCode(error) === undefined) throw error
    return Date.now()
  }
}

async function findVersions(settings: Settings): Promise<readonly Version[]> {
  const { assets } = await readManifest(manifestFile(settings))
  const current = new Set([...assets.values()].map(({ target }) => target))
  const directory = join(settings.publicDir, settings.prefix)
  const entries = await ifThere(readdir(directory, { withFileTypes: true, recursive: true }))
  const files = (entries ?? []).filter(entry => entry.isFile())
  const paths = files.map(file => join(file.parentPath, file.name))
  const versions = await inParallel(paths, CONCURRENCY, file => {
    const path = `/${relative(settings.publicDir, file).split(sep).join('/')}`
    return asVersion(file, path, current)
  })
  return versions.filter(version => version !== undefined)
}

async function asVersion(
  file: string,
  path: string,
  current: ReadonlySet<string>
): Promise<Version | undefined> {
  const fingerprint = splitFingerprint(path)
  if (!fingerprint) return undefined
  const isCurrent = current.has(encodePath(path))
  if (!isCurrent && (await digestOfFile(file)) !== fingerprint.digest) return undefined
  const [stats, ...copied] = await Promise.all(
    ['', ...CODINGS.map(coding => coding.extension)].map(extension => statOf(file + extension))
  )
  if (!stats) return undefined
  const copies = CODINGS.filter((_, at) => copied[at]?.isFile()).map(({ extension }) => extension)
  const bytes = [stats, ...copied].reduce((sum, one) => sum + Number(one?.size ?? 0), 0)
  const changedMs = Number(stats.ctimeNs / 1_000_000n)
  return { path, file, plain: fingerprint.name, changedMs, copies, bytes, isCurrent }
}

/** The file last: while it is there, a run that was broken off can be repeated. */
async function remove({ file, copies }: Version): Promise<void> {
  for (const extension of copies) await ifThere(unlink(file + extension))
  await ifThere(unlink(file))
}

function report(old: readonly Version[], kept: number, dryRun: boolean): CleanReport {
  return {
    removed: old.map(({ path }) => encodePath(path)).toSorted(),
    bytes: old.reduce((sum, { bytes }) => sum + bytes, 0),
    kept,
    dryRun
  }
}
