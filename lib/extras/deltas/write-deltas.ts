// The deltas beside a file: what they are made from, whether they are correct, and what they save. Precompile
// makes them from the versions of earlier deploys of an asset that changed, `compress` from an earlier build.
import { join } from 'node:path'
import {
  readInPlace,
  removeInPlace,
  requireInPlace,
  type ServedPlace
} from '../../files/containment.ts'
import {
  canMakeDeltas,
  deltaExtension,
  isIntactDelta,
  makeDelta,
  MAX_DELTA_BYTES,
  SEAL_BYTES,
  splitDelta
} from './delta-format.ts'
import { digestOf } from '../../files/digest.ts'
import { statOf, type Stamp } from '../../files/disk.ts'
import { readSnapshot } from '../../files/open-file.ts'
import { writeAtomically } from '../../files/writing/atomic-write.ts'
import type { Unsaved } from '../../files/writing/unsaved.ts'
import { isCompressibleType } from '../../http/fields.ts'
import { publicFile } from '../../assets/settings/public-directory.ts'
import type { Settings } from '../../assets/settings/settings.ts'
import { encodePath } from '../../assets/urls/canonical-path.ts'
import { splitFingerprint, withoutHash } from '../../assets/urls/fingerprint.ts'
import {
  openDirectory,
  type BuiltDirectory,
  listPublished,
  type Published,
  type PublishedFile,
  groupBy,
  sum
} from '../../assets/building/directory.ts'
import { faultOfDelta, removeFaulty } from './delta-faults.ts'
import type { ManifestEntries } from '../../assets/building/manifest/manifest.ts'
import { publishedPath, publishedUrl, type Built } from '../../assets/building/places.ts'

export interface DeltaSavings {
  /** How many deltas there are. */
  readonly files: number
  /** Their total size, in bytes. */
  readonly bytes: number
  /** Bytes that would be sent without them: for each, the smallest representation of its file. */
  readonly insteadOf: number
}

/** The deltas that lead to the files that changed. */
export interface DeltaReport extends DeltaSavings {
  /** Whether this Node can make deltas: 22.19, 24.6 and newer. */
  readonly isWritable: boolean
}

/** The sizes of a delta and of what would be sent without it, in bytes. */
export interface DeltaSizes {
  readonly size: number
  readonly insteadOf: number
}

export function savingsOf(deltas: readonly DeltaSizes[]): DeltaSavings {
  return {
    files: deltas.length,
    bytes: sum(deltas.map(({ size }) => size)),
    insteadOf: sum(deltas.map(({ insteadOf }) => insteadOf))
  }
}

/** How many deltas a file has at most: more earlier versions are rarely in browsers. */
const MAX_DELTAS = 3
/** A larger delta is not worth a file, nor another copy in shared caches. */
const MAX_RATIO = 0.5

/**
 * @param before the entries of the previous manifest
 * @param unsaved is told which names have changed
 */
export function deltaWriter(settings: Settings, before: ManifestEntries, unsaved: Unsaved) {
  let published: Promise<Published> | undefined
  let isWritable: boolean | undefined
  const sizes: DeltaSizes[] = []
  return {
    /** Undefined when no asset that has an earlier version changed, or had a damaged delta. */
    report: (): DeltaReport | undefined =>
      isWritable === undefined ? undefined : { isWritable, ...savingsOf(sizes) },

    /** @param smallest the size of the smallest other representation, in bytes */
    async write(built: Built, smallest: number): Promise<void> {
      const { app, size, digest, mtimeNs } = built
      if (!app.fingerprint) return
      const { place } = settings
      const path = publishedPath(built)
      const file = publicFile(settings, path)
      const { versions, deltas } = await (published ??= listPublished(settings))
      const all = versions.get(splitFingerprint(path)?.name ?? built.path) ?? []
      const earlier = all.filter(version => version.digest !== digest)
      const found = deltas.get(path) ?? []
      const beside = await removeFaulty(found, file, earlier, place)
      const last = before.get(encodePath(built.path))?.target
      // An unchanged asset got its deltas when it was new.
      const isDue = last !== publishedUrl(built) || beside.length < found.length
      const mayPay = size <= MAX_DELTA_BYTES && isCompressibleType(path)
      if (!settings.deltas || !isDue || !mayPay || earlier.length === 0) return
      isWritable = await canMakeDeltas()
      const bytes = await readBytes(place, { file, digest })
      if (!bytes) return
      const target = { file, bytes, smallest, mtimeNs, beside, keepsOthers: false, unsaved }
      sizes.push(...(await updateDeltas(target, place, await newestFirst(earlier, last))))
    }
  }
}

/** The version that pages name now, then the others, the newest first. */
function newestFirst(versions: readonly PublishedFile[], current: string | undefined) {
  return sortedBy(versions, ({ path }, stats) =>
    encodePath(path) === current ? -Infinity : -Number(stats?.ctimeNs ?? 0n)
  )
}

/**
 * Removes damaged deltas, and brings those of files up to date with an earlier build.
 * @param directory of the earlier build, if there is one
 * @throws as `openDirectory` does
 */
export async function writerAgainst(directory: string | undefined, served: BuiltDirectory) {
  const none = { path: served.path, place: served.place, files: new Set<string>() }
  const older = directory === undefined ? none : await openDirectory(directory)
  const deltas = groupBy(served.files, path => splitDelta(path)?.name)
  const versions = groupBy([...older.files].filter(isCompressibleType), keyOf)
  return async (path: string, file: Omit<DeltaTarget, 'beside' | 'keepsOthers'>) => {
    const beside = (deltas.get(path) ?? []).map(delta => join(served.path, delta))
    // A file that both builds have got its deltas when it was new.
    const earlier = older.files.has(path) ? [] : (versions.get(keyOf(path) ?? '') ?? [])
    const files = earlier.map(each => ({ file: join(older.path, each) }))
    // Several chunks may have one name; a version of the file is about as large.
    const size = file.bytes.length
    const nearest = await sortedBy(files, (_, stats) => Math.abs(Number(stats?.size ?? 0n) - size))
    const target = { ...file, beside, keepsOthers: true }
    return updateDeltas(target, served.place, nearest.slice(0, MAX_DELTAS), older.place)
  }
}

async function sortedBy<T extends { readonly file: string }>(
  files: readonly T[],
  rankOf: (file: T, stats: Stamp | undefined) => number
): Promise<T[]> {
  const ranked = files.map(async file => ({ file, rank: rankOf(file, await statOf(file.file)) }))
  return (await Promise.all(ranked)).toSorted((a, b) => a.rank - b.rank).map(({ file }) => file)
}

/** What versions of a bundler's file have in common; undefined for a name without a hash. */
export function keyOf(path: string): string | undefined {
  const without = withoutHash(`/${path}`)
  return without && `${without.before}*${without.after}`
}

/** A file that deltas lead to. */
interface DeltaTarget {
  /** Absolute. */
  readonly file: string
  readonly bytes: Uint8Array
  /** The size of its smallest other representation, in bytes. */
  readonly smallest: number
  readonly mtimeNs: bigint
  /** The deltas that it has, absolute. */
  readonly beside: readonly string[]
  /** Whether those from other versions stay if they are intact: an earlier run may have made them. */
  readonly keepsOthers: boolean
  readonly unsaved: Unsaved
}

/** A file that a browser may have: one without the digest is not the version that its name claims. */
interface Earlier {
  readonly file: string
  readonly digest?: string
}

/**
 * Writes deltas from the first three of the earlier versions, and removes those that no longer pay or are damaged,
 * as the file may have been rebuilt under the same name, and where there are earlier versions perhaps the others.
 * @returns the sizes of the deltas from these versions, as they are sent
 */
async function updateDeltas(
  { file, bytes, smallest, mtimeNs, beside, keepsOthers, unsaved }: DeltaTarget,
  place: ServedPlace,
  earlier: readonly Earlier[],
  earlierPlace = place
): Promise<readonly DeltaSizes[]> {
  const maxBytes = Math.floor(smallest * MAX_RATIO) + SEAL_BYTES
  const written = new Map<string, DeltaSizes>()
  const mayWrite = bytes.length <= MAX_DELTA_BYTES && (await canMakeDeltas())
  const tried = new Set<string>()
  for (const version of mayWrite ? earlier : []) {
    if (tried.size === MAX_DELTAS) break
    const old = await readBytes(earlierPlace, version)
    if (!old || old.equals(bytes)) continue
    const path = file + deltaExtension(digestOf(old))
    tried.add(path)
    const existing = (await readSnapshot(path))?.bytes
    const mayStay = existing !== undefined && existing.length <= maxBytes
    const isKept = mayStay && (await isIntactDelta(existing, old, bytes))
    const delta = isKept ? existing : await makeDelta(old, bytes, maxBytes)
    if (delta && !isKept) {
      const checks = { checkLocation: requireInPlace(place), unsaved }
      await writeAtomically(path, delta, mtimeNs, checks)
    }
    if (delta) written.set(path, { size: delta.length - SEAL_BYTES, insteadOf: smallest })
  }
  for (const path of beside.filter(each => !written.has(each))) {
    const isReplaced = keepsOthers ? tried.has(path) : tried.size > 0
    if (isReplaced || (await faultOfDelta(path, file))) await removeInPlace(place, path)
  }
  return [...written.values()]
}

/** Undefined also for a file whose bytes do not have the digest, and for one too large for deltas. */
async function readBytes(place: ServedPlace, { file, digest }: Earlier) {
  const read = await readInPlace(place, file, MAX_DELTA_BYTES)
  if (!read || read === 'too-large') return undefined
  return digest === undefined || digestOf(read.bytes) === digest ? read.bytes : undefined
}
