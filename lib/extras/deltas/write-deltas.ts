// Writes deltas beside files: precompile from versions of earlier deploys, `compress` from an earlier build.
import { join } from 'node:path'
import { readInPlace, removeInPlace, type Boundary } from '../../runtime/files/containment.ts'
import {
  canMakeDeltas,
  deltaExtension,
  dictionaryIn,
  isIntactDelta,
  isSealedDelta,
  makeDelta,
  MAX_DELTA_BYTES,
  SEAL_BYTES,
  splitDelta,
  versionKey
} from './delta-format.ts'
import { digestOf, digestOfHash } from '../../runtime/files/digest.ts'
import { groupBy } from '../../runtime/lists.ts'
import { statOf, type Stamp } from '../../runtime/files/disk.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import { writeAtomically } from '../../publishing/writing/write.ts'
import { once } from '../../runtime/concurrency.ts'
import { isCompressibleType } from '../../runtime/http/fields.ts'
import { MAP } from '../../publishing/building/links.ts'
import { publicFile } from '../../runtime/settings/public-directory.ts'
import { encodePath, splitFingerprint } from '../../runtime/urls/spelling.ts'
import type { Deltas, NewNames } from '../../runtime/app/deltas.ts'
import { listPublished, openDirectory, type BuiltDirectory } from './directory.ts'
import type { DeltaReport, DeltaSavings } from './options.ts'

/** The number of deltas per file: browsers rarely have older versions. */
const MAX_DELTAS = 3
/** A larger delta is not worth a file and another copy in shared caches. */
const MAX_RATIO = 0.5

export const deltaWriter: Deltas['writer'] = async (settings, before, unsaved) => {
  const published = once(() => listPublished(settings))
  let isWritable: boolean | undefined
  const saved = { files: 0, bytes: 0, insteadOf: 0 }
  return {
    // The report is undefined if no asset with an earlier version changed or had a damaged delta.
    report: async () => ({
      deltas: isWritable === undefined ? undefined : { isWritable, ...saved }
    }),

    async write({ path, plain, size, digest, smallest }) {
      const { place } = settings
      const file = publicFile(settings, path)
      const { versions, deltas } = await published()
      const all = versions.get(splitFingerprint(path)?.name ?? plain) ?? []
      const earlier = all.filter(version => version.digest !== digest)
      const found = deltas.get(path) ?? []
      const intact: string[] = []
      for (const { file: delta, digest: from } of found) {
        const paths = earlier.flatMap(each => (each.digest === from ? each.file : []))
        if (await faultOfDelta(delta, file, paths)) await removeInPlace(place, delta)
        else intact.push(delta)
      }
      const last = before.get(encodePath(plain))?.target
      // An unchanged asset got its deltas when it was new.
      const isDue = last !== encodePath(path) || intact.length < found.length
      const mayPay = size <= MAX_DELTA_BYTES && isCompressibleType(path) && !path.endsWith(MAP)
      if (!settings.deltas || !isDue || !mayPay || earlier.length === 0) return
      isWritable = await canMakeDeltas()
      const bytes = await readBytes(place, { file, digest })
      if (!bytes) return
      const target = { file, bytes, smallest, beside: intact, keepsOthers: false, unsaved, saved }
      // The version that pages name now comes first, then the others, newest first.
      const ordered = await sortedBy(earlier, (version, stats) =>
        encodePath(version.path) === last ? -Infinity : -Number(stats?.ctimeNs ?? 0n)
      )
      await updateDeltas(target, place, ordered)
    }
  }
}

/** Removes damaged deltas, and brings the others up to date with an earlier build. @throws like `openDirectory` */
export async function writerAgainst(served: BuiltDirectory, unsaved: NewNames, against?: string) {
  const none = { path: served.path, place: served.place, files: new Set<string>() }
  const older = against === undefined ? none : await openDirectory(against)
  const deltas = groupBy(served.files, path => splitDelta(path)?.name)
  const versions = groupBy([...older.files].filter(isCompressibleType), versionKey)
  const saved = { files: 0, bytes: 0, insteadOf: 0 }
  return {
    report: async (): Promise<DeltaReport | undefined> =>
      against === undefined ? undefined : { isWritable: await canMakeDeltas(), ...saved },

    async write(path: string, { bytes, smallest }: Pick<DeltaTarget, 'bytes' | 'smallest'>) {
      const file = join(served.path, path)
      const beside = (deltas.get(path) ?? []).map(delta => join(served.path, delta))
      // A file in both builds got its deltas when it was new.
      const isOld = older.files.has(path)
      const earlier = isOld ? [] : (versions.get(versionKey(path) ?? '') ?? [])
      const files = earlier.map(each => ({ file: join(older.path, each) }))
      // Several chunks may share a name; a version of the same file has a similar size.
      const distance = (stats: Stamp | undefined) =>
        Math.abs(Number(stats?.size ?? 0n) - bytes.length)
      const nearest = await sortedBy(files, (_, stats) => distance(stats))
      const target = { file, bytes, smallest, beside, keepsOthers: true, unsaved, saved }
      await updateDeltas(target, served.place, nearest.slice(0, MAX_DELTAS), older.place)
    }
  }
}

async function sortedBy<T extends { readonly file: string }>(
  files: readonly T[],
  rankOf: (file: T, stats: Stamp | undefined) => number
): Promise<T[]> {
  const ranked = files.map(async file => ({ file, rank: rankOf(file, await statOf(file.file)) }))
  return (await Promise.all(ranked)).toSorted((a, b) => a.rank - b.rank).map(({ file }) => file)
}

interface DeltaTarget {
  readonly file: string
  readonly bytes: Uint8Array
  /** The size of its smallest other representation, in bytes. */
  readonly smallest: number
  readonly beside: readonly string[]
  /** True if intact deltas from other versions stay, as an earlier run may have made them. */
  readonly keepsOthers: boolean
  readonly unsaved: NewNames
  readonly saved: { -readonly [Count in keyof DeltaSavings]: number }
}

/** A file that a browser may have. If its bytes do not have `digest`, it is not the version in its name. */
interface Earlier {
  readonly file: string
  readonly digest?: string
}

// Writes deltas from the first three of the earlier versions, and counts them; removes those that no longer pay
// or are damaged, as the file may have been rebuilt under the same name, and, unless `keepsOthers`, all others.
async function updateDeltas(
  { file, bytes, smallest, beside, keepsOthers, unsaved, saved }: DeltaTarget,
  place: Boundary,
  earlier: readonly Earlier[],
  earlierPlace = place
): Promise<void> {
  const maxBytes = Math.floor(smallest * MAX_RATIO) + SEAL_BYTES
  const mayWrite = bytes.length <= MAX_DELTA_BYTES && (await canMakeDeltas())
  const [tried, written] = [new Set<string>(), new Set<string>()]
  for (const version of mayWrite ? earlier : []) {
    if (tried.size === MAX_DELTAS) break
    const old = await readBytes(earlierPlace, version)
    if (!old || old.equals(bytes)) continue
    const path = file + deltaExtension(digestOf(old))
    if (tried.has(path)) continue
    tried.add(path)
    const existing = (await readSnapshot(path))?.bytes
    const mayStay = existing !== undefined && existing.length <= maxBytes
    const isKept = mayStay && (await isIntactDelta(existing, old, bytes))
    const delta = isKept ? existing : await makeDelta(old, bytes, maxBytes)
    if (!delta) continue
    if (!isKept) await writeAtomically(path, delta, { place, unsaved })
    written.add(path)
    saved.files++
    saved.bytes += delta.length - SEAL_BYTES
    saved.insteadOf += smallest
  }
  for (const path of beside.filter(each => !written.has(each))) {
    const isReplaced = keepsOthers ? tried.has(path) : tried.size > 0
    if (isReplaced || (await faultOfDelta(path, file))) await removeInPlace(place, path)
  }
}

/** Returns undefined for a missing file, one whose bytes do not have the digest, and one too large for deltas. */
async function readBytes(place: Boundary, { file, digest }: Earlier) {
  const read = await readInPlace(place, file, MAX_DELTA_BYTES)
  if (!read || read === 'too-large') return undefined
  return digest === undefined || digestOf(read.bytes) === digest ? read.bytes : undefined
}

/** Says what is wrong with a delta. @param versions possible dictionaries; if undefined, only the seal is checked */
export async function faultOfDelta(file: string, target: string, versions?: readonly string[]) {
  const [delta, next] = await Promise.all([readSnapshot(file), readSnapshot(target)])
  if (!delta || !next) return 'cannot be read'
  const hash = dictionaryIn(delta.bytes)
  const isSealed = isSealedDelta(delta.bytes, hash, digestOf(next.bytes))
  if (digestOfHash(hash) !== splitDelta(file)?.digest || !isSealed)
    return 'is damaged or of another version, so it is not sent'
  for (const version of versions ?? []) {
    const old = (await readSnapshot(version))?.bytes
    if (!old || digestOf(old) !== digestOfHash(hash)) continue
    const isIntact = await isIntactDelta(delta.bytes, old, next.bytes)
    return isIntact ? undefined : 'does not decode to the original'
  }
  const lost = 'starts from a version that is not beside it, so it is never sent'
  return versions && `${lost}: keep that file, or remove the delta`
}
