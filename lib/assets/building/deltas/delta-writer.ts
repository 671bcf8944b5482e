// Which deltas are written: by precompile from the versions of earlier deploys to an asset that changed, by
// `compress` from the files of an earlier build.
import { join } from 'node:path'
import { canMakeDeltas, MAX_DELTA_BYTES, splitDelta } from '../../../files/deltas.ts'
import { removeFile, statOf } from '../../../files/disk.ts'
import { mtimeNotBefore } from '../../../files/clock.ts'
import { isCompressibleType } from '../../../http/fields.ts'
import { publicFile } from '../../settings/public-directory.ts'
import type { Settings } from '../../settings/settings.ts'
import { encodePath } from '../../urls/encode.ts'
import { splitFingerprint, withoutHash } from '../../urls/fingerprint.ts'
import { publishedPath, publishedUrl, type Built } from '../places.ts'
import type { ReadFile } from '../copies/compress-file.ts'
import { openDirectory, type BuiltDirectory } from '../copies/directory.ts'
import type { ManifestEntries } from '../manifest/entries.ts'
import { groupBy, listPublished, type Published, type PublishedFile } from '../published-files.ts'
import {
  faultOfDelta,
  MAX_DELTAS,
  readBytes,
  savingsOf,
  updateDeltas,
  type DeltaReport,
  type DeltaSizes
} from './deltas.ts'

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
 * Brings the deltas of a file up to date with those of an earlier build.
 * @param smallest the size of its smallest other representation, in bytes
 */
export type WriteAgainst = (
  path: string,
  read: ReadFile,
  smallest: number
) => Promise<readonly DeltaSizes[]>

/** @throws as `openDirectory` does */
export async function writerAgainst(
  directory: string,
  served: BuiltDirectory
): Promise<WriteAgainst> {
  const older = await openDirectory(directory)
  const isAble = await canMakeDeltas()
  const deltas = groupBy(served.files, path => splitDelta(path)?.name)
  const versions = groupBy(older.files.filter(isCompressibleType), keyOf)
  return async (path, { file, bytes, stamp }, smallest) => {
    // A file that was built anew under its name may have other bytes than the deltas beside it lead to.
    for (const delta of deltas.get(path) ?? []) {
      const [deltaFile, from] = [join(served.path, delta), splitDelta(delta)?.digest ?? '']
      if (await faultOfDelta(deltaFile, from, file)) await removeFile(deltaFile)
    }
    const earlier = versions.get(keyOf(path) ?? '')
    if (!earlier || !isAble || bytes.length > MAX_DELTA_BYTES) return []
    const target = { file, bytes, smallest, mtimeNs: mtimeNotBefore(stamp.mtimeNs) }
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

function keyOf(path: string): string | undefined {
  const without = withoutHash(`/${path}`)
  return without && `${without.before}*${without.after}`
}
