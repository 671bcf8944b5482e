// Sends the deltas beside a file to clients that have an earlier version, by the hash that they send (RFC 9842).
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { basename, dirname, join } from 'node:path'
import {
  canMakeDeltas,
  deltaExtension,
  dictionaryIn,
  isSealedDelta,
  leadsTo,
  MAX_DELTA_BYTES,
  SEAL_BYTES,
  splitDelta,
  versionKey
} from './delta-format.ts'
import { digestOf, digestOfHash } from '../../runtime/files/digest.ts'
import { groupBy } from '../../runtime/lists.ts'
import { readInPlace } from '../../runtime/files/containment.ts'
import { isCompressibleType } from '../../runtime/http/fields.ts'
import { isOwnPage, weightsIn } from '../../runtime/http/requests.ts'
import { withFingerprint, type WithoutHash } from '../../runtime/urls/spelling.ts'
import type { Sender, Sent, SentFrom } from '../../runtime/serving/file.ts'
import { withDigest, type Bytes } from '../../runtime/serving/variant.ts'
import { composed } from '../../runtime/files/paths.ts'
import { namesIn, type FolderNames } from '../../runtime/serving/folder-names.ts'
import { ifReadable } from '../../runtime/files/refusals.ts'
import type { Settings } from '../../runtime/settings/settings.ts'

export function senderOf({ deltas, memory }: Settings): Sender | undefined {
  return deltas ? { of: (file, at) => sentWith(file, at, memory.maxFileBytes) } : undefined
}

async function sentWith(file: Bytes, at: SentFrom, maxBytes: number): Promise<Sent | undefined> {
  const { path, around, place, plain } = at
  if (!isCompressibleType(path)) return undefined
  const ofDeltas = [['Use-As-Dictionary', useAsDictionary(around)]] as const
  const deltas = await deltasOf(file, at)
  const target = deltas ? await withDigest(file, at.opened) : file
  const { digest } = target
  // A cache selects by the Vary of what it has stored (RFC 9111 section 4.1): deltas may come later.
  if (!deltas || digest === undefined) return { ofDeltas, vary: ['Accept-Encoding'] }
  return {
    ofDeltas,
    vary: ['Accept-Encoding', 'Available-Dictionary'],
    find(headers) {
      const hash = offeredDictionary(headers)
      if (!hash) return undefined
      const extension = deltaExtension(digestOfHash(hash))
      if (!deltas.includes(composed(basename(path)) + extension)) return undefined
      const delta = target.file + extension
      return {
        key: `${extension}\n${digest}`,
        dictionary: hash.toString('base64'),
        read: () => ifReadable(delta, readDelta(delta, { target, digest, place, plain }, maxBytes))
      }
    }
  }
}

/** Returns the names of the deltas beside a file; undefined if there are none that can be trusted. */
async function deltasOf({ file }: Bytes, { path, plain, names }: SentFrom) {
  // A delta that this Node cannot decode is trusted only from precompile, which has decoded it.
  if (plain === undefined && !(await canMakeDeltas())) return undefined
  const beside = names ?? new Set((await namesIn(dirname(file))).map(composed))
  // The deltas of a folder, by the name of the file to which they lead, are remembered as long as its names.
  const deltas = known.get(beside) ?? groupBy(beside, name => splitDelta(name)?.name)
  known.set(beside, deltas)
  return deltas.get(composed(basename(path)))
}

const known = new WeakMap<FolderNames, ReturnType<typeof groupBy<string>>>()

interface Target extends Pick<SentFrom, 'place' | 'plain'> {
  readonly target: Bytes
  readonly digest: string
}

async function readDelta(file: string, to: Target, maxBytes: number) {
  const read = await readInPlace(to.place, file, MAX_DELTA_BYTES)
  if (typeof read !== 'object') return undefined
  const { bytes, stamp } = read
  const hash = Buffer.from(dictionaryIn(bytes))
  if (!(await isRight(bytes, hash, to))) return []
  const [size, digest] = [bytes.length - SEAL_BYTES, digestOf(bytes)]
  const body = size > maxBytes ? undefined : bytes.subarray(0, size)
  const [coding, dictionary] = [DELTA_CODING, hash.toString('base64')]
  return [{ coding, file, stamp, size, digest, version: digest, body, dictionary }]
}

/** Tells whether a delta is undamaged and leads to the file; decodes it if this Node can. */
async function isRight(bytes: Buffer, hash: Buffer, { target, digest, place, plain }: Target) {
  const { file, size } = target
  if (!isSealedDelta(bytes, hash, digest)) return false
  if (!(await canMakeDeltas())) return true
  const key = versionKey(basename(file))
  const versions = plain
    ? [basename(withFingerprint(plain, digestOfHash(hash)))]
    : (await namesIn(dirname(file))).filter(name => key !== undefined && versionKey(name) === key)
  for (const version of versions) {
    const old = await readInPlace(place, join(dirname(file), version), MAX_DELTA_BYTES)
    if (typeof old !== 'object') continue
    const isDictionary = createHash('sha256').update(old.bytes).digest().equals(hash)
    if (isDictionary) return leadsTo(bytes, old.bytes, digest, size)
  }
  return false
}

/** The content coding of a delta, Dictionary-Compressed Zstandard (section 5). */
const DELTA_CODING = 'dcz'

// The value is a Byte Sequence (section 2.2; RFC 9651), here the 32 bytes of a SHA-256.
const AVAILABLE = /^:[A-Za-z0-9+/]{43}=:$/

// Returns the SHA-256 of the dictionary that a client has, if it accepts deltas by name and the page can read the
// response: the size of an unreadable one must not depend on the contents of the cache (section 9.3).
function offeredDictionary(headers: IncomingHttpHeaders): Buffer | undefined {
  const offered = headers['available-dictionary']
  if (typeof offered !== 'string' || !AVAILABLE.test(offered)) return undefined
  // `*` does not suffice for a coding that needs more than a decoder.
  const weight = weightsIn(headers['accept-encoding'] ?? '').get(DELTA_CODING) ?? 0
  // A page of another site may not read this response (Fetch Standard).
  const isOpaque = headers['sec-fetch-mode'] === 'no-cors' && !isOwnPage(headers)
  return weight > 0 && !isOpaque ? Buffer.from(offered, 'base64') : undefined
}

// These characters are escaped in a pattern (URL Pattern Standard, "escape a pattern string").
const SPECIAL = /[+*?:{}()\\]/g

/** Returns a value of `Use-As-Dictionary` (section 2.1) for all URLs that differ in one part of the path. */
function useAsDictionary({ before, after }: WithoutHash): string {
  const [start, end] = [before, after].map(text => text.replace(SPECIAL, String.raw`\\$&`))
  return `match="${start}*${end}"`
}
