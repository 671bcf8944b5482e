// The deltas beside a file: representations for clients that have an earlier version of it (RFC 9842). They
// are looked for by the hash that a request brings, so a file costs nothing for having them.
import { Readable } from 'node:stream'
import { deltaExtension, isSealedDelta, SEAL_BYTES } from '../../../files/deltas/delta-file.ts'
import { digestOfHash } from '../../../files/digest.ts'
import { isInPlace } from '../../../files/containment.ts'
import { sameStamp, statOf, withFile } from '../../../files/disk.ts'
import { streamOf } from '../../../files/file-stream.ts'
import { DELTA_CODING } from '../../../http/coding/dictionaries.ts'
import type { ServedDirectory } from '../directories/served-directory.ts'
import { readEncoded, type EncodedFile } from './encoded-file.ts'
import type { KnownFolders } from './known-folders.ts'
import type { Memory } from './memory.ts'
import {
  makeRepresentation,
  type FindDelta,
  type Representation,
  type SharedFields
} from './representation.ts'
import type { Wanted } from '../request-path.ts'

interface Target {
  /** The decoded URL path. */
  readonly path: string
  /** Absolute. */
  readonly file: string
  readonly digest: string
  readonly fields: SharedFields
}

export class Deltas {
  readonly #directory: ServedDirectory
  readonly #memory: Memory
  readonly #folders: KnownFolders
  readonly #maxFileBytes: number

  /** @param maxFileBytes of a delta that is kept in memory */
  constructor(
    directory: ServedDirectory,
    memory: Memory,
    folders: KnownFolders,
    maxFileBytes: number
  ) {
    this.#directory = directory
    this.#memory = memory
    this.#folders = folders
    this.#maxFileBytes = maxFileBytes
  }

  /** Undefined for a file that is no dictionary and so has no deltas. */
  of({ path }: Wanted, { file, digest }: EncodedFile, fields: SharedFields): FindDelta | undefined {
    if (fields.dictionary === undefined || digest === undefined) return undefined
    const target = { path, file, digest, fields }
    return dictionary => this.#find(target, dictionary)
  }

  #find(target: Target, dictionary: Buffer): ReturnType<FindDelta> {
    const extension = deltaExtension(digestOfHash(dictionary))
    if (!this.#folders.mayHave(target.path + extension)) return undefined
    // No path contains a line break.
    const start = `${this.#directory.memoryKey}${target.path}\n${target.digest}`
    const key = `${start}\n${dictionary.toString('hex')}`
    const known = this.#memory.get(key)?.representations[0]
    return known?.body ? known : this.#load(key, target, target.file + extension, dictionary)
  }

  async #load(
    key: string,
    { digest, fields }: Target,
    file: string,
    dictionary: Buffer
  ): Promise<Representation | undefined> {
    const known = this.#memory.get(key)?.representations[0]
    const stamp = known && (await statOf(file))
    if (known && stamp && sameStamp(known.stamp, stamp)) return known
    const encoded = await this.#read(file, dictionary, digest)
    if (!encoded) return undefined
    const delta = makeRepresentation(encoded, fields, true)
    this.#memory.set(key, {
      representations: [delta],
      copies: new Map(),
      isVerified: true,
      findDelta: undefined,
      isAtHand: false,
      hasRested: true,
      trustedUntil: Infinity
    })
    return delta
  }

  /** Undefined for a delta that is damaged, or that is another than its name says. */
  #read(file: string, dictionary: Buffer, digest: string): Promise<EncodedFile | undefined> {
    return withFile(file, async opened => {
      if (!(await isInPlace(this.#directory.place)(opened))) return undefined
      const stored = await readEncoded(DELTA_CODING, opened, this.#maxFileBytes)
      const bytes = stored.body ? Readable.from([stored.body]) : streamOf(opened)
      if (!(await isSealedDelta(bytes, dictionary, digest))) return undefined
      const body = stored.body?.subarray(0, -SEAL_BYTES)
      return { ...stored, size: stored.size - SEAL_BYTES, body }
    })
  }
}
