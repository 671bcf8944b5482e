// The deltas beside a file: representations for clients that have an earlier version of it (RFC 9842). They are
// looked for by the hash that a request sends, so a file costs nothing for having them.
import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import {
  deltaExtension,
  dictionaryIn,
  isSealedDelta,
  splitDelta,
  SEAL_BYTES,
  canMakeDeltas,
  leadsTo,
  MAX_DELTA_BYTES
} from '../../../files/delta-format.ts'
import { digestOf, digestOfHash } from '../../../files/digest.ts'
import { isUnchangedSince } from '../../../files/clock.ts'
import { readInPlace } from '../../../files/containment.ts'
import { sameStamp, statOf, type Stamp } from '../../../files/disk.ts'
import { DELTA_CODING } from '../../../http/negotiation.ts'
import { withFingerprint, withoutHash } from '../../urls/fingerprint.ts'
import type { ServedDirectory, SharedFields } from '../directories/served-directory.ts'
import { VARY_BY_DICTIONARY } from '../fields.ts'
import { composed, type Wanted } from '../request-path.ts'
import { folderOf, namesIn, type Folders } from './folders.ts'
import {
  makeRepresentation,
  type FindDelta,
  type Kept,
  type Memory,
  type Representation,
  type Stored
} from './representation.ts'
import { ifReadable } from './served-file.ts'

/** The deltas of one file. */
export interface FileDeltas {
  /** Whether there was one on disk, from any version, when the file was loaded. */
  readonly areThere: boolean
  /** Undefined where none is sent. */
  readonly find: FindDelta | undefined
}

/** What the deltas of one file lead to. */
interface Target {
  readonly wanted: Wanted
  readonly stored: Stored & { readonly digest: string }
  readonly fields: SharedFields
  /** The name without our fingerprint; undefined for a file that precompile did not write. */
  readonly plain: string | undefined
  readonly areThere: boolean
}

/** The file of a delta, with no representation if it is not sent: so it is not decoded for each request. */
interface Delta extends Kept {
  readonly stamp: Stamp
  /** The SHA-256 of what it starts from. */
  readonly dictionary: Buffer
}

interface Surroundings {
  readonly directory: ServedDirectory
  readonly memory: Memory
  readonly folders: Folders
  /** Of a delta that is kept in memory. */
  readonly maxFileBytes: number
}

export class Deltas {
  readonly #in: Surroundings
  readonly #loads = new Map<string, Promise<Delta | undefined>>()

  constructor(surroundings: Surroundings) {
    this.#in = surroundings
  }

  /** Undefined for a file that is not a dictionary and so has no deltas. One without a digest is sent whole. */
  async of(wanted: Wanted, stored: Stored, fields: SharedFields): Promise<FileDeltas | undefined> {
    if (fields.dictionary === undefined) return undefined
    const { file, digest } = stored
    const { directory, folders } = this.#in
    const name = composed(basename(wanted.path))
    const folder = await folders.read(folderOf(wanted.path), directory.revalidateMiss(wanted))
    const areThere = folder?.isFolder
      ? folder.withDeltas.has(name)
      : (await namesIn(dirname(file))).some(each => splitDelta(composed(each))?.name === name)
    const plain = directory.fingerprintOf?.(wanted)?.name
    // What this Node cannot decode is trusted only from precompile, which has decoded it.
    const isBelieved = plain !== undefined || (await canMakeDeltas())
    if (digest === undefined || !isBelieved) return { areThere, find: undefined }
    const target = { wanted, stored: { ...stored, digest }, fields, plain, areThere }
    return { areThere, find: dictionary => this.#find(target, dictionary) }
  }

  #find(target: Target, dictionary: Buffer): ReturnType<FindDelta> {
    const { directory, memory, folders } = this.#in
    const extension = deltaExtension(digestOfHash(dictionary))
    const path = target.wanted.path + extension
    const folder = folders.peek(folderOf(path))
    if (folder?.isFolder && !folder.isFolder.has(composed(basename(path)))) return undefined
    // No path contains a line break.
    const key = `${directory.memoryKey}${path}\n${target.stored.digest}`
    const known = memory.get(key) as Delta | undefined
    const delta = startingFrom(dictionary, known)
    if (delta?.body) return delta
    const file = target.stored.file + extension
    const loading = this.#loads.get(key) ?? this.#load(key, file, target, known)
    this.#loads.set(key, loading)
    return loading
      .finally(() => this.#loads.delete(key))
      .then(loaded => startingFrom(dictionary, loaded))
  }

  async #load(
    key: string,
    file: string,
    target: Target,
    known: Delta | undefined
  ): Promise<Delta | undefined> {
    const { directory, folders, memory } = this.#in
    const { wanted, areThere } = target
    // The next client with this dictionary need not look.
    await folders.read(folderOf(wanted.path), directory.revalidateMiss(wanted))
    const now = known && (await statOf(file))
    if (known && now && sameStamp(known.stamp, now)) return known
    const readAt = Date.now()
    const delta = await ifReadable(file, this.#read(file, target))
    if (!delta) return undefined
    const isSent = delta.representations.length > 0
    if (isSent || isUnchangedSince(delta.stamp, readAt)) memory.set(key, delta)
    // It appeared after the file was loaded, so the file's other representations do not vary by dictionary yet.
    if (isSent && !areThere) memory.delete(directory.memoryKey + wanted.path)
    return delta
  }

  async #read(file: string, target: Target): Promise<Delta | undefined> {
    const { directory, maxFileBytes } = this.#in
    const read = await readInPlace(directory.place, file, MAX_DELTA_BYTES)
    if (typeof read !== 'object') return undefined
    const { stamp, bytes } = read
    const dictionary = Buffer.from(dictionaryIn(bytes))
    if (!(await this.#isRight(bytes, dictionary, target))) {
      return { stamp, dictionary, representations: [] }
    }
    const size = bytes.length - SEAL_BYTES
    const body = size > maxFileBytes ? undefined : bytes.subarray(0, size)
    const stored = { coding: DELTA_CODING, file, stamp, size, digest: digestOf(bytes), body }
    const sent = makeRepresentation(stored, target.fields, VARY_BY_DICTIONARY)
    return { stamp, dictionary, representations: [sent] }
  }

  /** Whether a delta is undamaged and leads to the file; where this Node can, it is decoded. */
  async #isRight(bytes: Buffer, dictionary: Buffer, target: Target): Promise<boolean> {
    const { stored, plain } = target
    if (!isSealedDelta(bytes, dictionary, stored.digest)) return false
    if (!(await canMakeDeltas())) return true
    const folder = dirname(stored.file)
    const versions =
      plain === undefined
        ? await otherVersions(stored.file)
        : [basename(withFingerprint(plain, digestOfHash(dictionary)))]
    for (const version of versions) {
      const old = await readInPlace(
        this.#in.directory.place,
        join(folder, version),
        MAX_DELTA_BYTES
      )
      if (typeof old !== 'object') continue
      const isDictionary = createHash('sha256').update(old.bytes).digest().equals(dictionary)
      if (isDictionary) return leadsTo(bytes, old.bytes, stored.digest, stored.size)
    }
    return false
  }
}

function startingFrom(dictionary: Buffer, delta: Delta | undefined): Representation | undefined {
  return delta?.dictionary.equals(dictionary) ? delta.representations[0] : undefined
}

/** The files that differ from a bundler's file only in the hash. */
async function otherVersions(file: string): Promise<readonly string[]> {
  const key = withoutHash(`/${basename(file)}`)
  return (await namesIn(dirname(file))).filter(name => {
    const other = withoutHash(`/${name}`)
    return other && other.before === key?.before && other.after === key.after
  })
}
