// The deltas beside a file: representations for clients that have an earlier version of it (RFC 9842). Each is
// looked for by the hash that a request sends.
import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import {
  canMakeDeltas,
  deltaExtension,
  dictionaryIn,
  isSealedDelta,
  leadsTo,
  MAX_DELTA_BYTES,
  SEAL_BYTES
} from './delta-format.ts'
import { digestOf, digestOfHash } from '../../files/digest.ts'
import { readInPlace } from '../../files/containment.ts'
import { isUnchangedSince } from '../../files/disk.ts'
import { DELTA_CODING } from '../../http/negotiation.ts'
import { withFingerprint, withoutHash } from '../../assets/urls/fingerprint.ts'
import type {
  ServedDirectory,
  SharedFields
} from '../../assets/serving/directories/served-directory.ts'
import { composed, type Wanted } from '../../assets/serving/request-path.ts'
import { deltasAmong, namesIn, type Folders } from '../../assets/serving/files/folders.ts'
import {
  makeRepresentation,
  type FindDelta,
  type Kept,
  type Memory,
  type Representation,
  type Stored
} from '../../assets/serving/files/representation.ts'
import { ifReadable } from '../../assets/serving/files/served-file.ts'

const MINUTE_MS = 60_000

export const VARY_BY_DICTIONARY = 'Accept-Encoding, Available-Dictionary'

/** What the deltas of one file lead to. */
interface Target extends Stored {
  readonly path: string
  readonly digest: string
  readonly fields: SharedFields
  /** The name without our fingerprint; undefined for a file that precompile did not write. */
  readonly plain: string | undefined
}

/** A delta, with no representation if it is not sent: so it is not decoded for each request. */
interface Delta extends Kept {
  /** The SHA-256 of what it starts from. */
  readonly dictionary: Buffer
}

export class Deltas {
  readonly #directory: ServedDirectory
  readonly #memory: Memory
  readonly #folders: Folders
  readonly #maxFileBytes: number
  readonly #loads = new Map<string, Promise<Delta | undefined>>()

  constructor(directory: ServedDirectory, memory: Memory, folders: Folders, maxFileBytes: number) {
    this.#directory = directory
    this.#memory = memory
    this.#folders = folders
    this.#maxFileBytes = maxFileBytes
  }

  /**
   * Undefined for a file that has none, from any version, or none that can be believed.
   * @param digested gives the file with its digest, which one that is not in memory may lack
   */
  async of(
    wanted: Wanted,
    file: Stored,
    fields: SharedFields,
    digested: () => Promise<Stored>
  ): Promise<FindDelta | undefined> {
    if (fields.dictionary === undefined) return undefined
    const plain = this.#directory.fingerprintOf?.(wanted)?.name
    // What this Node cannot decode is trusted only from precompile, which has decoded it.
    if (plain === undefined && !(await canMakeDeltas())) return undefined
    const { path } = wanted
    const { deltas } = await this.#folders.beside(path, this.#directory.revalidateMiss(wanted))
    const name = composed(basename(path))
    // Deltas are written after their file, and that may be since the names were read.
    const isSure = deltas?.has(name) || isUnchangedSince(file.stamp, Date.now() - MINUTE_MS)
    const known = (isSure && deltas) || deltasAmong(await namesIn(dirname(file.file)))
    const dictionaries = known.get(name)
    const { digest } = dictionaries ? await digested() : file
    if (!dictionaries || digest === undefined) return undefined
    const target = { ...file, path, digest, fields, plain }
    return hash => this.#find(target, hash, dictionaries)
  }

  #find(target: Target, hash: Buffer, dictionaries: readonly string[]): ReturnType<FindDelta> {
    const dictionary = digestOfHash(hash)
    if (!dictionaries.includes(dictionary)) return undefined
    const extension = deltaExtension(dictionary)
    // No path contains a line break.
    const key = `${this.#directory.memoryKey}${target.path}${extension}\n${target.digest}`
    const known = this.#memory.get(key) as Delta | undefined
    if (known) return startingFrom(hash, known)
    const load = this.#loads.get(key) ?? this.#load(key, target.file + extension, target)
    this.#loads.set(key, load)
    return load.then(delta => startingFrom(hash, delta))
  }

  async #load(key: string, file: string, target: Target): Promise<Delta | undefined> {
    try {
      const delta = await ifReadable(file, this.#read(file, target))
      if (delta) this.#memory.set(key, delta)
      return delta
    } finally {
      this.#loads.delete(key)
    }
  }

  async #read(file: string, target: Target): Promise<Delta | undefined> {
    const read = await readInPlace(this.#directory.place, file, MAX_DELTA_BYTES)
    if (typeof read !== 'object') return undefined
    const { stamp, bytes } = read
    const dictionary = Buffer.from(dictionaryIn(bytes))
    if (!(await this.#isRight(bytes, dictionary, target))) {
      return { dictionary, representations: [] }
    }
    const size = bytes.length - SEAL_BYTES
    const body = size > this.#maxFileBytes ? undefined : bytes.subarray(0, size)
    const stored = { coding: DELTA_CODING, file, stamp, size, digest: digestOf(bytes), body }
    const sent = makeRepresentation(stored, target.fields, VARY_BY_DICTIONARY)
    return { dictionary, representations: [sent] }
  }

  /** Whether a delta is undamaged and leads to the file; where this Node can, it is decoded. */
  async #isRight(bytes: Buffer, dictionary: Buffer, target: Target): Promise<boolean> {
    const { file, digest, size, plain } = target
    if (!isSealedDelta(bytes, dictionary, digest)) return false
    if (!(await canMakeDeltas())) return true
    const versions = plain
      ? [basename(withFingerprint(plain, digestOfHash(dictionary)))]
      : await otherVersions(file)
    for (const version of versions) {
      const path = join(dirname(file), version)
      const old = await readInPlace(this.#directory.place, path, MAX_DELTA_BYTES)
      if (typeof old !== 'object') continue
      const isDictionary = createHash('sha256').update(old.bytes).digest().equals(dictionary)
      if (isDictionary) return leadsTo(bytes, old.bytes, digest, size)
    }
    return false
  }
}

function startingFrom(hash: Buffer, delta: Delta | undefined): Representation | undefined {
  return delta?.dictionary.equals(hash) ? delta.representations[0] : undefined
}

/** The files that differ from a bundler's file only in the hash. */
async function otherVersions(file: string): Promise<readonly string[]> {
  const key = withoutHash(`/${basename(file)}`)
  return (await namesIn(dirname(file))).filter(name => {
    const other = withoutHash(`/${name}`)
    return other && other.before === key?.before && other.after === key.after
  })
}
