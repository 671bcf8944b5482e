// Sends the deltas beside a file to clients that have an earlier version of it (RFC 9842). Each is looked for by the
// hash that a request sends.
import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { LRUCache } from 'lru-cache'
import {
  canMakeDeltas,
  deltaExtension,
  dictionaryIn,
  isSealedDelta,
  leadsTo,
  MAX_DELTA_BYTES,
  SEAL_BYTES,
  splitDelta
} from './delta-format.ts'
import { DELTA_CODING, offeredDictionary, useAsDictionary } from './dictionary-fields.ts'
import { digestOf, digestOfHash } from '../../runtime/files/digest.ts'
import { readInPlace } from '../../runtime/files/containment.ts'
import { isSettled, sameStamp, statOf, type Stamp } from '../../runtime/files/disk.ts'
import { isCompressibleType } from '../../runtime/http/fields.ts'
import { withFingerprint, withoutHash } from '../../runtime/urls/spelling.ts'
import type { Sender, Sent, SentFile, Stored } from '../../runtime/app/parts.ts'
import { composed } from '../../runtime/files/paths.ts'
import { namesIn } from '../../runtime/serving/files/spelling.ts'
import { ifReadable } from '../../runtime/files/refusals.ts'
import type { Settings } from '../../runtime/settings/settings.ts'

/** The file that deltas lead to. */
interface Target extends SentFile {
  readonly digest: string
}

export function senderOf({ deltas, memory }: Settings): Sender | undefined {
  return deltas ? { of: file => sentWith(file, memory.maxFileBytes) } : undefined
}

async function sentWith(file: SentFile, maxBytes: number): Promise<Sent | undefined> {
  const { path, around } = file
  if (!isCompressibleType(path)) return undefined
  const fields = [['Use-As-Dictionary', useAsDictionary(around.before, around.after)]] as const
  const dictionaries = await dictionariesOf(file)
  const { digest } = dictionaries ? await file.digested() : file
  // A cache selects by the Vary of what it has stored (RFC 9111 section 4.1): deltas may come later.
  if (!dictionaries || digest === undefined) return { fields, vary: ['Accept-Encoding'] }
  const target = { ...file, digest }
  return {
    fields,
    vary: ['Accept-Encoding', 'Available-Dictionary'],
    find(headers) {
      const hash = offeredDictionary(headers)
      const dictionary = hash && digestOfHash(hash)
      if (!dictionary || !dictionaries.includes(dictionary)) return undefined
      const extension = deltaExtension(dictionary)
      const delta = file.file + extension
      return {
        key: `${extension}\n${digest}`,
        needs: hash.toString('base64'),
        read: () => ifReadable(delta, readDelta(delta, target, maxBytes))
      }
    }
  }
}

/** Returns the digests of the dictionaries for which there are deltas; undefined if there are none to be believed. */
async function dictionariesOf(file: SentFile): Promise<readonly string[] | undefined> {
  // A delta that this Node cannot decode is trusted only from precompile, which has decoded it.
  if (file.plain === undefined && !(await canMakeDeltas())) return undefined
  return (await dictionariesIn(dirname(file.file))).get(composed(basename(file.path)))
}

/** The digests of dictionaries, by the name of the file that the deltas lead to. */
type Dictionaries = ReadonlyMap<string, readonly string[]>

/** A folder is listed once for all of its files, and again once a name has come. */
const listed = new LRUCache<string, { readonly stamp: Stamp; readonly dictionaries: Dictionaries }>(
  { max: 100 }
)

async function dictionariesIn(folder: string): Promise<Dictionaries> {
  const stamp = await statOf(folder)
  const known = listed.get(folder)
  if (known && stamp && sameStamp(known.stamp, stamp)) return known.dictionaries
  const lookedAt = Date.now()
  const dictionaries = new Map<string, string[]>()
  for (const each of await namesIn(folder)) {
    const { name, digest } = splitDelta(composed(each)) ?? {}
    if (name === undefined || !digest) continue
    dictionaries.set(name, [...(dictionaries.get(name) ?? []), digest])
  }
  if (stamp && isSettled(stamp, lookedAt)) listed.set(folder, { stamp, dictionaries })
  return dictionaries
}

async function readDelta(file: string, target: Target, maxBytes: number) {
  const read = await readInPlace(target.place, file, MAX_DELTA_BYTES)
  if (typeof read !== 'object') return undefined
  const { stamp, bytes } = read
  const dictionary = Buffer.from(dictionaryIn(bytes))
  const needs = dictionary.toString('base64')
  if (!(await isRight(bytes, dictionary, target))) return { needs }
  const size = bytes.length - SEAL_BYTES
  const body = size > maxBytes ? undefined : bytes.subarray(0, size)
  const digest = digestOf(bytes)
  const stored: Stored = {
    ...{ coding: DELTA_CODING, file, stamp, size, body, digest },
    version: digest
  }
  return { needs, stored }
}

/** A delta must be undamaged and lead to the file; it is decoded where this Node can. */
async function isRight(bytes: Buffer, dictionary: Buffer, target: Target): Promise<boolean> {
  const { file, place, digest, size, plain } = target
  if (!isSealedDelta(bytes, dictionary, digest)) return false
  if (!(await canMakeDeltas())) return true
  const versions = plain
    ? [basename(withFingerprint(plain, digestOfHash(dictionary)))]
    : await otherVersions(file)
  for (const version of versions) {
    const old = await readInPlace(place, join(dirname(file), version), MAX_DELTA_BYTES)
    if (typeof old !== 'object') continue
    const isDictionary = createHash('sha256').update(old.bytes).digest().equals(dictionary)
    if (isDictionary) return leadsTo(bytes, old.bytes, digest, size)
  }
  return false
}

/** Finds files that differ from a bundler's file only in the hash. */
async function otherVersions(file: string): Promise<readonly string[]> {
  const key = withoutHash(`/${basename(file)}`)
  return (await namesIn(dirname(file))).filter(name => {
    const other = withoutHash(`/${name}`)
    return other && other.before === key?.before && other.after === key.after
  })
}
