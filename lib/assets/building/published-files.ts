// What is in the folder of `public` that assets are published to, judging by the names of files.
import { join, relative, sep } from 'node:path'
import { splitDelta } from '../../files/delta-format.ts'
import { entriesBelow } from '../../files/disk.ts'
import { publicFile } from '../settings/public-directory.ts'
import type { Settings } from '../settings/settings.ts'
import { splitFingerprint } from '../urls/fingerprint.ts'

/** A fingerprinted file, or a delta. */
export interface PublishedFile {
  /** The decoded URL path. */
  readonly path: string
  /** Absolute. */
  readonly file: string
  /** The path without the fingerprint; that of the file beside a delta. */
  readonly base: string
  /** The digest in its name: that of its bytes, or for a delta that of the bytes that it starts from. */
  readonly digest: string
}

export interface Published {
  /** By their path without the fingerprint. */
  readonly versions: ReadonlyMap<string, readonly PublishedFile[]>
  /** By the path of the file that they lead to. */
  readonly deltas: ReadonlyMap<string, readonly PublishedFile[]>
}

/** No link is followed. */
export async function listPublished(settings: Settings): Promise<Published> {
  const entries = await entriesBelow(publicFile(settings, settings.prefix))
  const files = entries.filter(entry => entry.isFile())
  const named = (split: typeof splitDelta) =>
    files.flatMap(({ parentPath, name }) => {
      const file = join(parentPath, name)
      const path = `/${relative(settings.publicDir, file).split(sep).join('/')}`
      const parts = split(path)
      return parts ? [{ path, file, base: parts.name, digest: parts.digest }] : []
    })
  return {
    versions: groupBy(named(splitFingerprint), ({ base }) => base),
    deltas: groupBy(named(splitDelta), ({ base }) => base)
  }
}

export function sum(numbers: Iterable<number>): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}

/** `Map.groupBy`, which Node 20 lacks. An item whose key is undefined is left out. */
export function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string | undefined) {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    if (key === undefined) continue
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
