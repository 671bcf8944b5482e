// The deltas beside a file: representations for clients that have an earlier version of it (RFC 9842). They
// are looked for by the hash that a request brings, so a file costs nothing for having them.
import { Readable } from 'node:stream'
import { deltaExtension, isSealedDelta, SEAL_BYTES } from '../../../files/deltas/delta-file.ts'
import { digestOfHash } from '../../../files/digest.ts'
import { isInPlace } from '../../../files/containment.ts'
import { sameStamp, statOf, withFile } from '../../../files/disk.ts'
import { streamOf } from '../../../files/file-stream.ts'
import { ifReadable } from './readable.ts'
import { DELTA_CODING } from '../../../http/coding/dictionaries.ts'
import type { ServedDirectory } from '../directories/served-directory.ts'
import { VARY_BY_DICTIONARY } from '../fields.ts'
import { readEncoded, type EncodedFile } from './encoded-file.ts'
import { isNoFile } from './folder-names.ts'
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
  /** Seconds for which the names in its folder may be remembered. */
  readonly revalidate: number
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
  of(wanted: Wanted, { file, digest }: EncodedFile, fields: SharedFields): FindDelta | undefined {
    if (fields.dictionary === undefined || digest === undefined) return undefined
    const { isPublishedOnRequest, revalidate } = this.#directory
    const trust = isPublishedOnRequest(wanted) ? 0 : revalidate(wanted)
    const target = { path: wanted.path, file, digest, fields, revalidate: trust }
    return dictionary => this.#find(target, dictionary)
  }

  #find(target: Target, dictionary: Buffer): ReturnType<FindDelta> {
    const extension = deltaExtension(digestOfHash(dictionary))
    const kind = this.#folders.kindOf(target.path + extension)
    if (isNoFile(kind)) return undefined
    // No path contains a line break.
    const start = `${this.#directory.memoryKey}${target.path}\n${target.digest}`
    const key = `${start}\n${dictionary.toString('hex')}`
    const known = this.#memory.get(key)?.representations[0]
    if (known?.body) return known
    return kind === 'file' || target.revalidate === 0
      ? this.#load(key, target, extension, dictionary)
      : this.#lookUp(key, target, extension, dictionary)
  }

  /** Requests with hashes of no delta cost nothing once the names in the folder are known. */
  async #lookUp(key: string, target: Target, extension: string, dictionary: Buffer) {
    const path = target.path + extension
    await this.#folders.learn(path, target.revalidate)
    if (isNoFile(this.#folders.kindOf(path))) return undefined
    return this.#load(key, target, extension, dictionary)
  }

  async #load(
    key: string,
    target: Target,
    extension: string,
    dictionary: Buffer
  ): Promise<Representation | undefined> {
    const { digest, fields } = target
    const file = target.file + extension
    const known = this.#memory.get(key)?.representations[0]
    const stamp = known && (await statOf(file))
    if (known && stamp && sameStamp(known.stamp, stamp)) return known
    const encoded = await ifReadable(file, this.#read(file, dictionary, digest))
    if (!encoded) return undefined
    const delta = makeRepresentation(encoded, fields, VARY_BY_DICTIONARY)
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
