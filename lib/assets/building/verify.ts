// The manifest against the disk: whether what pages will ask for is there, whole and unchanged.
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { canonicalSegments } from '../urls/canonical-path.ts'
import { compareCopy } from '../../files/compress.ts'
import { sameBytes, statOf, type Stamp } from '../../files/disk.ts'
import { splitFingerprint } from '../urls/fingerprint.ts'
import type { ManifestEntry } from './manifest/manifest.ts'
import { readManifest } from './manifest/read-manifest.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import { manifestFile } from '../settings/manifest-file.ts'
import { settleForPrecompile, type Settings } from '../settings/settings.ts'
import {
  checksumsOf,
  INTEGRITY_ALGORITHMS,
  type IntegrityAlgorithm
} from '../../files/checksums.ts'
import { digestOfFile } from '../../files/digest.ts'
import { CODINGS, type Coding } from '../../files/codings.ts'
import { inParallel } from '../../concurrency.ts'

/** One thing that is not as the manifest says. */
export interface VerifyProblem {
  /** The URL path of the file at fault: `/assets/app-<32 hex>.css.br`. */
  readonly path: string
  /** What is wrong with it, without the path. */
  readonly message: string
}

export interface VerifyReport {
  /** Absolute path of the manifest. */
  readonly manifest: string
  /** How many assets the manifest names. */
  readonly assets: number
  /** Empty: everything is as it should be. */
  readonly problems: readonly VerifyProblem[]
}

const CONCURRENCY = 8

/**
 * Compares what lies in `public` with the manifest: every fingerprinted file, its plain twin, the
 * compressed copies of both. Nothing is written.
 *
 * @throws TypeError for a wrong option; AssetError for a manifest that is missing or broken
 */
export async function verify(options: KoaAssetsOptions = {}): Promise<VerifyReport> {
  const settings = settleForPrecompile(options)
  const file = manifestFile(settings)
  const { assets } = await readManifest(file)
  const found = await inParallel([...assets], CONCURRENCY, ([path, entry]) =>
    verifyEntry(settings, assets, path, entry)
  )
  return { manifest: file, assets: assets.size, problems: found.flat() }
}

async function verifyEntry(
  settings: Settings,
  assets: ReadonlyMap<string, ManifestEntry>,
  path: string,
  entry: ManifestEntry
): Promise<VerifyProblem[]> {
  const { target } = entry
  const [fingerprinted, plain] = [fileOf(settings, target), fileOf(settings, path)]
  if (fingerprinted === undefined || plain === undefined) {
    return [
      { path, message: `is no path that a request can have, or its target ${target} is none` }
    ]
  }
  const wrong = await judgeTarget(fingerprinted, path, entry)
  if (wrong !== undefined) return [{ path: target, message: wrong }]
  const problems = await verifyCopies(target, fingerprinted, assets)
  if (target === path) return problems
  if (!(await sameBytes(fingerprinted, plain))) {
    return [...problems, { path, message: await whyNotTwin(plain, target) }]
  }
  return [...problems, ...(await verifyCopies(path, plain, assets))]
}

function fileOf({ publicDir }: Settings, path: string): string | undefined {
  const segments = canonicalSegments(path)
  return Array.isArray(segments) ? join(publicDir, ...segments) : undefined
}

async function judgeTarget(
  file: string,
  path: string,
  entry: ManifestEntry
): Promise<string | undefined> {
  const stats = await statOf(file)
  if (!stats) return 'is missing'
  if (!stats.isFile()) return 'is no file'
  if (Number(stats.size) !== entry.size) return `has size ${stats.size}, not ${entry.size}`
  const sums = await checksumsOf({ copyOf: file }, algorithmsOf(entry))
  const fingerprinted = splitFingerprint(decodeURIComponent(entry.target))?.digest
  // Without fingerprints the target is the plain name.
  if (entry.target !== path && sums.digest !== fingerprinted)
    return 'holds other bytes than its fingerprint says'
  const isIntact = sums.integrity.every((hash, at) => hash === entry.integrity[at])
  return isIntact ? undefined : 'has another integrity than the manifest says'
}

/** An unknown one is compared as sha256, and so found to be wrong. */
function algorithmsOf({ integrity }: ManifestEntry): IntegrityAlgorithm[] {
  return integrity.map(hash => {
    return INTEGRITY_ALGORITHMS.find(name => hash.startsWith(`${name}-`)) ?? 'sha256'
  })
}

async function whyNotTwin(plain: string, target: string): Promise<string> {
  return (await statOf(plain)) ? `holds other bytes than ${target}` : 'is missing'
}

/** Copies are optional, but one that is there is sent. */
async function verifyCopies(
  path: string,
  file: string,
  assets: ReadonlyMap<string, ManifestEntry>
): Promise<VerifyProblem[]> {
  const stats = await statOf(file)
  if (!stats) return []
  // An archive that is an asset itself is nobody's copy.
  const codings = CODINGS.filter(({ extension }) => !assets.has(path + extension))
  const judged = await Promise.all(
    codings.map(async coding => {
      const message = await judgeCopy(file, stats, coding)
      return message === undefined ? [] : [{ path: path + coding.extension, message }]
    })
  )
  return judged.flat()
}

async function judgeCopy(file: string, original: Stamp, coding: Coding) {
  const copy = file + coding.extension
  const stats = await statOf(copy)
  if (!stats) return undefined
  if (!stats.isFile()) return 'is no file'
  if (stats.mtimeNs < original.mtimeNs) return 'is older than what it is a copy of: it is not sent'
  const expected = { size: Number(original.size), digest: await digestOfFile(file) }
  const comparison = await compareCopy(expected, () => createReadStream(copy), coding)
  if (comparison === 'different') return 'decompresses to other bytes'
  // A Node that cannot read a coding cannot have written the copy either.
  return comparison === 'damaged' ? 'cannot be decompressed' : undefined
}
