// Takes away what earlier deploys published and nobody is likely to ask for any more.
import { readdir, unlink } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { encodePath } from './asset-url.ts'
import { CODINGS } from './compress.ts'
import { missing, statOf } from './disk.ts'
import { digestOfFile, splitFingerprint } from './fingerprint.ts'
import { inParallel } from './in-parallel.ts'
import { lock } from './lock.ts'
import { readManifest } from './read-manifest.ts'
import type { KoaAssetsOptions } from './options.ts'
import { manifestFile } from './manifest-file.ts'
import { settleForPrecompile, type Settings } from './settings.ts'

export interface CleanOptions {
  /** How many versions of each name stay, the newest first. Default: 3. */
  readonly keep?: number | undefined
  /** Seconds. A version younger than this stays, however many there are. Default: 604,800, a week. */
  readonly age?: number | undefined
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
export const AGE_SECONDS = 7 * 24 * 3600

const LANES = 8

/**
 * Removes fingerprinted files with their compressed copies. A file goes when the manifest does not
 * name it, when it is not among the newest `keep` of its name, and when it is older than `age`, by
 * its mtime. A file whose bytes do not have the digest that its name tells is not ours and stays.
 *
 * @throws TypeError for a wrong option; AssetError for a manifest that is missing or broken, or when
 *   a precompile is under way
 */
export async function clean(
  options: KoaAssetsOptions = {},
  { keep = KEEP, age = AGE_SECONDS, dryRun = false }: CleanOptions = {}
): Promise<CleanReport> {
  if (!Number.isSafeInteger(keep) || keep < 0) {
    throw new TypeError(`keep must be a whole number of versions, got ${keep}`)
  }
  if (!(age >= 0)) throw new TypeError(`age must be a number of seconds, 0 or more, got ${age}`)
  const settings = settleForPrecompile(options)
  if (dryRun) return sort(settings, keep, age).then(({ kept, old }) => report(old, kept, true))
  // Read first, so that a directory without a manifest is left as it is.
  await readManifest(manifestFile(settings))
  const held = await lock(join(settings.publicDir, settings.prefix))
  try {
    const { kept, old } = await sort(settings, keep, age)
    await held.check()
    await inParallel(old, LANES, remove)
    return report(old, kept, false)
  } finally {
    await held.release()
  }
}

/** A fingerprinted file that we made. */
interface Version {
  readonly path: string
  readonly file: string
  /** The path without its fingerprint. */
  readonly plain: string
  readonly mtimeMs: number
  readonly copies: readonly string[]
  /** With its copies. */
  readonly bytes: number
  readonly isCurrent: boolean
}

async function sort(
  settings: Settings,
  keep: number,
  age: number
): Promise<{ kept: number; old: readonly Version[] }> {
  const versions = await findVersions(settings)
  const before = Date.now() - age * 1000
  const ranks = new Map<string, number>()
  const newestFirst = versions.toSorted((a, b) => b.mtimeMs - a.mtimeMs)
  const old = newestFirst.filter(({ plain, isCurrent, mtimeMs }) => {
    const rank = ranks.get(plain) ?? 0
    ranks.set(plain, rank + 1)
    return rank >= keep && !isCurrent && mtimeMs < before
  })
  return { kept: versions.length - old.length, old }
}

async function findVersions(settings: Settings): Promise<readonly Version[]> {
  const { assets } = await readManifest(manifestFile(settings))
  const current = new Set([...assets.values()].map(({ target }) => target))
  const directory = join(settings.publicDir, settings.prefix)
  const entries = await missing(readdir(directory, { withFileTypes: true, recursive: true }))
  const files = (entries ?? []).filter(entry => entry.isFile())
  const paths = files.map(file => join(file.parentPath, file.name))
  const versions = await inParallel(paths, LANES, file => {
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
  const print = splitFingerprint(path)
  if (!print) return undefined
  const isCurrent = current.has(encodePath(path))
  if (!isCurrent && (await digestOfFile(file)) !== print.digest) return undefined
  const [stats, ...copied] = await Promise.all(
    ['', ...CODINGS.map(coding => coding.extension)].map(extension => statOf(file + extension))
  )
  if (!stats) return undefined
  const copies = CODINGS.filter((_, at) => copied[at]?.isFile()).map(({ extension }) => extension)
  const bytes = [stats, ...copied].reduce((sum, one) => sum + Number(one?.size ?? 0), 0)
  const mtimeMs = Number(stats.mtimeNs / 1_000_000n)
  return { path, file, plain: print.name, mtimeMs, copies, bytes, isCurrent }
}

/** The file last: while it is there, a run that was broken off can be repeated. */
async function remove({ file, copies }: Version): Promise<void> {
  for (const extension of copies) await missing(unlink(file + extension))
  await missing(unlink(file))
}

function report(old: readonly Version[], kept: number, dryRun: boolean): CleanReport {
  return {
    removed: old.map(({ path }) => encodePath(path)).toSorted(),
    bytes: old.reduce((sum, { bytes }) => sum + bytes, 0),
    kept,
    dryRun
  }
}
