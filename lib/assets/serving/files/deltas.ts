// The deltas beside a file: representations for clients that have an earlier version of it (RFC 9842). They
// are looked for by the hash that a request brings, so a file costs nothing for having them.
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import {
  deltaExtension,
  isSealedDelta,
  namesDelta,
  SEAL_BYTES
} from '../../../files/deltas/delta-file.ts'
import { canMakeDeltas, leadsTo, MAX_DELTA_BYTES } from '../../../files/deltas/make-delta.ts'
import { digestOfHash } from '../../../files/digest.ts'
import { isUnchangedSince } from '../../../files/clock.ts'
import { isInPlace } from '../../../files/containment.ts'
import { sameStamp, statOf, withFile, type Stamp } from '../../../files/disk.ts'
import { ifReadable } from './readable.ts'
import { DELTA_CODING } from '../../../http/coding/dictionaries.ts'
import type { ServedDirectory } from '../directories/served-directory.ts'
import { VARY_BY_DICTIONARY } from '../fields.ts'
import { namesBeside, readDictionary } from './dictionary-file.ts'
import {
  readEncoded,
  makeRepresentation,
  type EncodedFile,
  type FileDeltas,
  type FindDelta,
  type Representation,
  type SharedFields
} from './representation.ts'
import type { Folders } from './folders.ts'
import type { Memory } from './served-file.ts'
import type { Wanted } from '../request-path.ts'

interface Target {
  /** The decoded URL path. */
  readonly path: string
  /** Absolute. */
  readonly file: string
  readonly digest: string
  /** In bytes. */
  readonly size: number
  readonly fields: SharedFields
  /** The name without our fingerprint; undefined for a file that precompile did not write. */
  readonly plain: string | undefined
  readonly areThere: boolean
  /** Seconds for which the names in its folder may be remembered. */
  readonly revalidate: number
}

/** A delta that a request may be answered with. */
interface Sought {
  readonly target: Target
  /** The SHA-256 of what it starts from. */
  readonly dictionary: Buffer
  readonly extension: string
  readonly key: string
}

const MAX_REFUSED = 1000

export class Deltas {
  readonly #directory: ServedDirectory
  readonly #memory: Memory
  readonly #folders: Folders
  readonly #maxFileBytes: number
  readonly #loads = new Map<string, Promise<Representation | undefined>>()
  /** Those that are not sent, so that they are not decoded for each request. */
  readonly #refused = new Map<string, Stamp>()

  /** @param maxFileBytes of a delta that is kept in memory */
  constructor(directory: ServedDirectory, memory: Memory, folders: Folders, maxFileBytes: number) {
    this.#directory = directory
    this.#memory = memory
    this.#folders = folders
    this.#maxFileBytes = maxFileBytes
  }

  /** Undefined for a file that is no dictionary and so has no deltas. One without a digest is sent whole. */
  async of(
    wanted: Wanted,
    { file, digest, size }: EncodedFile,
    fields: SharedFields
  ): Promise<FileDeltas | undefined> {
    if (fields.dictionary === undefined) return undefined
    const { path } = wanted
    const { fingerprintOf, isPublishedOnRequest, revalidate } = this.#directory
    const areThere = this.#folders.hasDelta(path) ?? (await hasDelta(file))
    const plain = fingerprintOf(wanted)?.name
    // What this Node cannot decode it believes of precompile alone, which decoded it.
    const isBelieved = plain !== undefined || (await canMakeDeltas())
    if (digest === undefined || !isBelieved) return { areThere, find: undefined }
    const trust = isPublishedOnRequest(wanted) ? 0 : revalidate(wanted)
    const target = { path, file, digest, size, fields, plain, areThere, revalidate: trust }
    return { areThere, find: dictionary => this.#find(target, dictionary) }
  }

  #find(target: Target, dictionary: Buffer): ReturnType<FindDelta> {
    const extension = deltaExtension(digestOfHash(dictionary))
    const path = target.path + extension
    if (this.#folders.lacksDelta(path)) return undefined
    // No path contains a line break.
    const start = `${this.#directory.memoryKey}${target.path}\n${target.digest}`
    const key = `${start}\n${dictionary.toString('hex')}`
    const known = this.#memory.get(key)?.representations[0]
    if (known?.body) return known
    const sought = { target, dictionary, extension, key }
    const isKnown = this.#folders.kindOf(path) === 'file' || target.revalidate === 0
    return isKnown ? this.#load(sought) : this.#lookUp(sought)
  }

  /** Requests with hashes of no delta cost nothing once the names in the folder are known. */
  async #lookUp(sought: Sought): Promise<Representation | undefined> {
    const path = sought.target.path + sought.extension
    await this.#folders.learn(path, sought.target.revalidate)
    return this.#folders.lacksDelta(path) ? undefined : this.#load(sought)
  }

  /** Concurrent requests share one load. */
  #load(sought: Sought): Promise<Representation | undefined> {
    const { key } = sought
    const load =
      this.#loads.get(key) ?? this.#loadOnce(sought).finally(() => this.#loads.delete(key))
    this.#loads.set(key, load)
    return load
  }

  async #loadOnce(sought: Sought): Promise<Representation | undefined> {
    const { target, key } = sought
    const file = target.file + sought.extension
    const known = this.#memory.get(key)?.representations[0]
    const earlier = known?.stamp ?? this.#refused.get(key)
    const stamp = earlier && (await statOf(file))
    if (earlier && stamp && sameStamp(earlier, stamp)) return known
    const encoded = await ifReadable(file, this.#read(file, sought))
    if (!encoded) return undefined
    const delta = makeRepresentation(encoded, target.fields, VARY_BY_DICTIONARY)
    this.#memory.set(key, {
      representations: [delta],
      copies: new Map(),
      isVerified: true,
      findDelta: undefined,
      isAtHand: false,
      hasRested: true,
      trustedUntil: Infinity,
      copiesTrustedUntil: Infinity
    })
    // It came after the file was loaded, whose other representations do not vary by dictionary yet.
    if (!target.areThere) this.#memory.delete(this.#directory.memoryKey + target.path)
    return delta
  }

  /** Undefined for a delta that is not sent. */
  #read(file: string, sought: Sought): Promise<EncodedFile | undefined> {
    const readAt = Date.now()
    return withFile(file, async opened => {
      if (opened.stats.size > MAX_DELTA_BYTES) return undefined
      if (!(await isInPlace(this.#directory.place)(opened))) return undefined
      const stored = await readEncoded(DELTA_CODING, opened, MAX_DELTA_BYTES)
      const { body: bytes, stamp } = stored
      if (!bytes || !(await this.#isRight(bytes, sought))) {
        if (isUnchangedSince(stamp, readAt)) this.#refuse(sought.key, stamp)
        return undefined
      }
      const size = bytes.length - SEAL_BYTES
      const body = size > this.#maxFileBytes ? undefined : bytes.subarray(0, size)
      return { ...stored, size, body }
    })
  }

  /** Whether a delta is undamaged and starts from the dictionary; where this Node can, it is decoded. */
  async #isRight(bytes: Buffer, { target, dictionary }: Sought): Promise<boolean> {
    const { file, plain, digest } = target
    if (!(await isSealedDelta(Readable.from([bytes]), dictionary, digest))) return false
    if (!(await canMakeDeltas())) return true
    const old = await readDictionary(this.#directory.place, file, plain, dictionary)
    return old !== undefined && leadsTo(bytes, old, target)
  }

  #refuse(key: string, stamp: Stamp): void {
    if (this.#refused.size >= MAX_REFUSED) this.#refused.clear()
    this.#refused.set(key, stamp)
  }
}

/** Looks on disk: nothing is known of a folder that has very many names, or is on another machine. */
async function hasDelta(file: string): Promise<boolean> {
  return namesDelta(await namesBeside(file), basename(file))
}
