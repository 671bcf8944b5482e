// The deltas beside a file: representations for clients that have an earlier version of it (RFC 9842). They
// are looked for by the hash that a request brings, so a file costs nothing for having them.
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  deltaExtension,
  dictionaryIn,
  isSealedDelta,
  namesDelta,
  SEAL_BYTES
} from '../../../files/deltas/delta-file.ts'
import { canMakeDeltas, leadsTo, MAX_DELTA_BYTES } from '../../../files/deltas/make-delta.ts'
import { digestOfHash } from '../../../files/digest.ts'
import { isUnchangedSince } from '../../../files/clock.ts'
import { isInPlace, readInPlace } from '../../../files/containment.ts'
import { errorCode, sameStamp, statOf, withFile, type Stamp } from '../../../files/disk.ts'
import { DELTA_CODING } from '../../../http/negotiation.ts'
import { withFingerprint, withoutHash } from '../../urls/fingerprint.ts'
import type { ServedDirectory, SharedFields } from '../directories/served-directory.ts'
import { VARY_BY_DICTIONARY } from '../fields.ts'
import { composed, type Wanted } from '../request-path.ts'
import type { Folders } from './folders.ts'
import { ifReadable } from './readable.ts'
import {
  makeRepresentation,
  readStored,
  type Kept,
  type Memory,
  type Representation,
  type Stored
} from './representation.ts'

/** The delta from a dictionary; undefined when there is none. @param dictionary its SHA-256 */
export type FindDelta = (
  dictionary: Buffer
) => Promise<Representation | undefined> | Representation | undefined

/** The deltas of one file. */
export interface FileDeltas {
  /** Whether there was one on disk, from whatever version, when the file was loaded. */
  readonly areThere: boolean
  /** Undefined where none is sent. */
  readonly find: FindDelta | undefined
}

/** What the deltas of one file lead to. */
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

/** The file of a delta, with no representation if it is not sent: so it is not decoded for each request. */
interface Delta extends Kept {
  readonly stamp: Stamp
  /** The SHA-256 of what it starts from. */
  readonly dictionary: Buffer
}

export class Deltas {
  readonly #directory: ServedDirectory
  readonly #memory: Memory
  readonly #folders: Folders
  readonly #maxFileBytes: number
  readonly #loads = new Map<string, Promise<Delta | undefined>>()

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
    { file, digest, size }: Stored,
    fields: SharedFields
  ): Promise<FileDeltas | undefined> {
    if (fields.dictionary === undefined) return undefined
    const { path } = wanted
    const names = this.#folders.namesBeside(path)?.keys() ?? (await namesIn(dirname(file)))
    const areThere = namesDelta(names, composed(basename(path)))
    const plain = this.#directory.fingerprintOf?.(wanted)?.name
    // What this Node cannot decode it believes of precompile alone, which decoded it.
    const isBelieved = plain !== undefined || (await canMakeDeltas())
    if (digest === undefined || !isBelieved) return { areThere, find: undefined }
    const isPublished = this.#directory.isPublishedOnRequest?.(wanted) ?? false
    const revalidate = isPublished ? 0 : this.#directory.revalidate(wanted)
    const target = { path, file, digest, size, fields, plain, areThere, revalidate }
    return { areThere, find: dictionary => this.#find(target, dictionary) }
  }

  #find(target: Target, dictionary: Buffer): ReturnType<FindDelta> {
    const extension = deltaExtension(digestOfHash(dictionary))
    if (this.#folders.lacksBeside(target.path + extension)) return undefined
    const known = startingFrom(dictionary, this.#recall(target, extension))
    if (known?.body) return known
    return this.#look(target, extension).then(delta => startingFrom(dictionary, delta))
  }

  /** Requests with hashes of no delta cost nothing once the names in the folder are known. */
  async #look(target: Target, extension: string): Promise<Delta | undefined> {
    const [path, key] = [target.path + extension, this.#key(target, extension)]
    if (target.revalidate > 0) await this.#folders.learn(path, target.revalidate)
    if (this.#folders.lacksBeside(path)) return undefined
    const load = this.#loads.get(key) ?? this.#load(target, extension)
    this.#loads.set(key, load)
    return load.finally(() => this.#loads.delete(key))
  }

  async #load(target: Target, extension: string): Promise<Delta | undefined> {
    const file = target.file + extension
    const known = this.#recall(target, extension)
    const now = known && (await statOf(file))
    if (known && now && sameStamp(known.stamp, now)) return known
    const readAt = Date.now()
    const delta = await ifReadable(file, this.#read(file, target))
    if (!delta) return undefined
    const isSent = delta.representations.length > 0
    if (isSent || isUnchangedSince(delta.stamp, readAt)) {
      this.#memory.set(this.#key(target, extension), delta)
    }
    // It came after the file was loaded, whose other representations do not vary by dictionary yet.
    if (isSent && !target.areThere) this.#memory.delete(this.#directory.memoryKey + target.path)
    return delta
  }

  #read(file: string, target: Target): Promise<Delta | undefined> {
    return withFile(file, async opened => {
      if (opened.stats.size > MAX_DELTA_BYTES) return undefined
      if (!(await isInPlace(this.#directory.place)(opened))) return undefined
      const stored = await readStored(DELTA_CODING, opened, MAX_DELTA_BYTES)
      const { stamp, body: bytes = Buffer.alloc(0) } = stored
      const dictionary = Buffer.from(dictionaryIn(bytes))
      if (!(await this.#isRight(bytes, dictionary, target))) {
        return { stamp, dictionary, representations: [] }
      }
      const size = bytes.length - SEAL_BYTES
      const body = size > this.#maxFileBytes ? undefined : bytes.subarray(0, size)
      const sent = makeRepresentation({ ...stored, size, body }, target.fields, VARY_BY_DICTIONARY)
      return { stamp, dictionary, representations: [sent] }
    })
  }

  /** Whether a delta is undamaged and leads to the file; where this Node can, it is decoded. */
  async #isRight(bytes: Buffer, dictionary: Buffer, target: Target): Promise<boolean> {
    if (!isSealedDelta(bytes, dictionary, target.digest)) return false
    if (!(await canMakeDeltas())) return true
    const old = await this.#earlierVersion(target, dictionary)
    return old !== undefined && leadsTo(bytes, old, target)
  }

  /** The bytes that have a SHA-256, in the folder of the file. */
  async #earlierVersion({ file, plain }: Target, sha256: Buffer): Promise<Buffer | undefined> {
    const names =
      plain === undefined
        ? await otherVersions(file)
        : [basename(withFingerprint(plain, digestOfHash(sha256)))]
    for (const name of names) {
      const path = join(dirname(file), name)
      const read = await readInPlace(this.#directory.place, path, MAX_DELTA_BYTES)
      if (typeof read !== 'object') continue
      if (createHash('sha256').update(read.bytes).digest().equals(sha256)) return read.bytes
    }
    return undefined
  }

  #recall(target: Target, extension: string): Delta | undefined {
    return this.#memory.get(this.#key(target, extension)) as Delta | undefined
  }

  // No path contains a line break.
  #key({ path, digest }: Target, extension: string): string {
    return `${this.#directory.memoryKey}${path}${extension}\n${digest}`
  }
}

function startingFrom(dictionary: Buffer, delta: Delta | undefined): Representation | undefined {
  return delta?.dictionary.equals(dictionary) ? delta.representations[0] : undefined
}

/** The files that differ from a bundler's in the hash alone. */
async function otherVersions(file: string): Promise<readonly string[]> {
  const key = withoutHash(`/${basename(file)}`)
  return (await namesIn(dirname(file))).filter(name => {
    const other = withoutHash(`/${name}`)
    return other && other.before === key?.before && other.after === key.after
  })
}

/** None for a folder that only lets its files be opened. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return []
  }
}
