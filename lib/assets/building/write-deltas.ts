// The deltas beside a file: what they are made from, whether they are correct, and what they save. Precompile
// makes them from the versions of earlier deploys of an asset that changed, `compress` from an earlier build.
import { join } from 'node:path'
import { readInPlace, requireInPlace, type ServedPlace } from '../../files/containment.ts'
import {
  canMakeDeltas,
  deltaExtension,
  dictionaryIn,
  isIntactDelta,
  isSealedDelta,
  makeDelta,
  MAX_DELTA_BYTES,
  SEAL_BYTES,
  splitDelta
} from '../../files/delta-format.ts'
import { digestOf, digestOfHash } from '../../files/digest.ts'
import { removeFile, statOf } from '../../files/disk.ts'
import { readSnapshot } from '../../files/open-file.ts'
import { writeAtomically } from '../../files/writing/atomic-write.ts'
import { isCompressibleType } from '../../http/fields.ts'
import { publicFile } from '../settings/public-directory.ts'
import type { Settings } from '../settings/settings.ts'
import { encodePath } from '../urls/encode.ts'
import { splitFingerprint, withoutHash } from '../urls/fingerprint.ts'
import { openDirectory, type BuiltDirectory } from './copies/directory.ts'
import type { ManifestEntries } from './manifest/manifest.ts'
import { publishedPath, publishedUrl, type Built } from './places.ts'
import { groupBy, listPublished, type Published, type PublishedFile } from './published-files.ts'

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
    bytes: deltas.reduce((sum, { size }) => sum + size, 0),
    insteadOf: deltas.reduce((sum, { insteadOf }) => sum + insteadOf, 0)
  }
}

/** How many deltas a file has at most: more earlier versions are rarely in browsers. */
const MAX_DELTAS = 3
/** A larger delta is not worth a file, nor another copy in shared caches. */
const MAX_RATIO = 0.5

/** @param before the entries of the previous manifest */
export function deltaWriter(settings: Settings, before: ManifestEntries) {
  let published: Promise<Published> | undefined
  let isWritable: boolean | undefined
  const sizes: DeltaSizes[] = []
  return {
    /** Undefined when no asset changed that has an earlier version. */
    report: (): DeltaReport | undefined =>
      isWritable === undefined ? undefined : { isWritable, ...savingsOf(sizes) },

    /** @param smallest the size of the smallest other representation, in bytes */
    async write(built: Built, smallest: number): Promise<void> {
      const { app, size, digest, mtimeNs } = built
      const path = publishedPath(built)
      const mayPay = size <= MAX_DELTA_BYTES && isCompressibleType(path)
      if (!settings.deltas || !app.fingerprint || !mayPay) return
      const last = before.get(encodePath(built.path))?.target
      // An unchanged asset got its deltas when it was new.
      if (last === publishedUrl(built)) return
      const { versions, deltas } = await (published ??= listPublished(settings))
      const all = versions.get(splitFingerprint(path)?.name ?? built.path) ?? []
      const earlier = all.filter(version => version.digest !== digest)
      if (earlier.length === 0) return
      isWritable = await canMakeDeltas()
      const file = publicFile(settings, path)
      const bytes = isWritable ? await readBytes(settings.place, file, digest) : undefined
      if (!bytes) return
      const target = { file, bytes, smallest, mtimeNs }
      const written = await updateDeltas(target, settings.place, await newestFirst(earlier, last))
      sizes.push(...written.values())
      for (const delta of deltas.get(path) ?? []) {
        if (!written.has(delta.file)) await removeFile(delta.file)
      }
    }
  }
}

/** The version that pages name now, then the others, the newest first. */
async function newestFirst(versions: readonly PublishedFile[], current: string | undefined) {
  const dated = versions.map(async version => {
    const ctimeNs = (await statOf(version.file))?.ctimeNs ?? 0n
    return { ...version, rank: encodePath(version.path) === current ? Infinity : Number(ctimeNs) }
  })
  return (await Promise.all(dated)).toSorted((a, b) => b.rank - a.rank)
}

/**
 * Brings the deltas of files up to date with those of an earlier build.
 * @throws as `openDirectory` does
 */
export async function writerAgainst(directory: string, served: BuiltDirectory) {
  const older = await openDirectory(directory)
  const isAble = await canMakeDeltas()
  const deltas = groupBy(served.files, path => splitDelta(path)?.name)
  // A file that both builds have got its deltas when it was new.
  const isOld = new Set(older.files)
  const versions = groupBy(older.files.filter(isCompressibleType), keyOf)
  return async (path: string, target: DeltaTarget): Promise<readonly DeltaSizes[]> => {
    const { file, bytes } = target
    // A file that was rebuilt under the same name may have other bytes than the deltas beside it lead to.
    for (const delta of deltas.get(path) ?? []) {
      const [deltaFile, from] = [join(served.path, delta), splitDelta(delta)?.digest ?? '']
      if (await faultOfDelta(deltaFile, from, file)) await removeFile(deltaFile)
    }
    const earlier = isOld.has(path) ? undefined : versions.get(keyOf(path) ?? '')
    if (!earlier || !isAble || bytes.length > MAX_DELTA_BYTES) return []
    const files = earlier.map(each => join(older.path, each))
    const nearest = await nearestInSize(files, bytes.length)
    return [...(await updateDeltas(target, served.place, nearest, older.place)).values()]
  }
}

/** Several chunks may have one name; a version of the file is about as large. */
async function nearestInSize(files: readonly string[], size: number) {
  const sized = files.map(async file => {
    const other = Number((await statOf(file))?.size ?? 0n)
    return { file, distance: Math.abs(other - size) }
  })
  const sorted = (await Promise.all(sized)).toSorted((a, b) => a.distance - b.distance)
  return sorted.slice(0, MAX_DELTAS)
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
}

/**
 * Writes deltas from the first three of these files, and removes those that no longer pay.
 * @param earlier files that a browser may have: one without the digest is not the version that its name claims
 * @returns the sizes of the deltas that exist now, as they are sent, by their files
 */
async function updateDeltas(
  { file, bytes, smallest, mtimeNs }: DeltaTarget,
  place: ServedPlace,
  earlier: readonly { readonly file: string; readonly digest?: string }[],
  earlierPlace = place
): Promise<ReadonlyMap<string, DeltaSizes>> {
  const maxBytes = Math.floor(smallest * MAX_RATIO) + SEAL_BYTES
  const sizes = new Map<string, DeltaSizes>()
  let tried = 0
  for (const { file: from, digest } of earlier) {
    if (tried === MAX_DELTAS) break
    const old = await readBytes(earlierPlace, from, digest)
    if (!old || old.equals(bytes)) continue
    tried++
    const path = file + deltaExtension(digestOf(old))
    const existing = (await readSnapshot(path))?.bytes
    const mayStay = existing !== undefined && existing.length <= maxBytes
    const isKept = mayStay && (await isIntactDelta(existing, old, bytes))
    const delta = isKept ? existing : await makeDelta(old, bytes, maxBytes)
    if (delta) sizes.set(path, { size: delta.length - SEAL_BYTES, insteadOf: smallest })
    else if (existing) await removeFile(path)
    if (delta && !isKept) {
      await writeAtomically(path, delta, mtimeNs, { checkLocation: requireInPlace(place) })
    }
  }
  return sizes
}

/** Undefined also for a file whose bytes do not have the digest, and for one too large for deltas. */
async function readBytes(place: ServedPlace, file: string, digest: string | undefined) {
  const read = await readInPlace(place, file, MAX_DELTA_BYTES)
  if (!read || read === 'too-large') return undefined
  return digest === undefined || digestOf(read.bytes) === digest ? read.bytes : undefined
}

/**
 * What is wrong with a delta, to be read after its path; undefined for a correct one. Its seal is
 * compared; it is decoded where the earlier version is there and this Node can.
 * @param from the digest of what it starts from
 * @param target the file that it leads to
 * @param older the file of the earlier version
 */
export async function faultOfDelta(
  file: string,
  from: string,
  target: string,
  older?: string
): Promise<string | undefined> {
  const [delta, next] = await Promise.all([readSnapshot(file), readSnapshot(target)])
  if (!delta || !next) return 'cannot be read'
  const hash = dictionaryIn(delta.bytes)
  const isSealed = isSealedDelta(delta.bytes, hash, digestOf(next.bytes))
  if (digestOfHash(hash) !== from || !isSealed) {
    return 'is damaged or of another version, so it is not sent'
  }
  const old = older === undefined ? undefined : (await readSnapshot(older))?.bytes
  const isRefuted =
    old && digestOf(old) === from && !(await isIntactDelta(delta.bytes, old, next.bytes))
  return isRefuted ? 'does not decode to the original' : undefined
}
