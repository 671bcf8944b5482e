// A served file with all its representations: opened, checked, then read or described, and kept in memory.
import { Readable } from 'node:stream'
import { LRUCache } from 'lru-cache'
import type { Coding } from '../../../files/codings.ts'
import { isUnchangedSince } from '../../../files/clock.ts'
import { compareCopy } from '../../../files/copies.ts'
import { isInPlace, realPathOfOpen } from '../../../files/containment.ts'
import {
  isSameInode,
  sameStamp,
  stampOf,
  statOf,
  withFile,
  type OpenFile,
  type Stamp
} from '../../../files/disk.ts'
import { streamOf } from '../../../files/file-stream.ts'
import { ifReadable } from './readable.ts'
import { fileIn, type ServedDirectory } from '../directories/served-directory.ts'
import { VARY, VARY_BY_DICTIONARY, type Fields } from '../fields.ts'
import type { Folders } from './folders.ts'
import {
  readEncoded,
  withDigest,
  makeRepresentation,
  type EncodedFile,
  type FileDeltas,
  type FindDelta,
  type Representation,
  type SharedFields
} from './representation.ts'
import { hasOneSpelling, type Wanted } from '../request-path.ts'
import { MAX_ONE_WRITE_BYTES } from '../write-response.ts'

export interface ServedFile {
  readonly representations: readonly [identity: Representation, ...Representation[]]
  /** The stamps of the compressed files beside it, whether they are sent or not. */
  readonly copies: ReadonlyMap<Coding, Stamp>
  /** Whether the name has a fingerprint that is the digest of the bytes. */
  readonly isVerified: boolean
  /** Undefined for a file that has no deltas. */
  readonly findDelta: FindDelta | undefined
  /** Whether its bytes are in memory, and its path is the raw path of every request for it. */
  readonly isAtHand: boolean
  /** False for a file that changed so recently that it may change again without another stamp. */
  readonly hasRested: boolean
  /** Milliseconds of the monotonic clock, as the next one; Infinity for a verified fingerprint. */
  trustedUntil: number
  /** When its compressed copies are looked for again, if the file itself is the same. */
  copiesTrustedUntil: number
}

/** One for all directories that are served. */
export type Memory = LRUCache<string, ServedFile>

/** @param maxBytes of all representations; 0 keeps none */
export function makeMemory({ maxBytes }: { readonly maxBytes: number }): Memory {
  return new LRUCache({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ representations }) =>
      representations.reduce((sum, representation) => sum + memoryCostOf(representation), 0)
  })
}

// What a representation costs beside its body, measured in resident memory: strings, fields, stamps, the
// buffer itself, and garbage that is not yet collected.
const OVERHEAD_BYTES = 12 * 1024

/** A small body is held twice: the second time it follows a kept head. */
function memoryCostOf({ body }: Representation): number {
  const length = body?.length ?? 0
  return OVERHEAD_BYTES + (length < MAX_ONE_WRITE_BYTES ? 2 * length : length)
}

/** How the files of a directory are loaded. */
export interface Loading {
  readonly directory: ServedDirectory
  readonly folders: Folders
  readonly deltasOf: (
    wanted: Wanted,
    file: EncodedFile,
    fields: SharedFields
  ) => Promise<FileDeltas | undefined>
  /** In bytes; a larger representation is not kept in memory. */
  readonly maxFileBytes: number
}

const ATTEMPTS = 3

/**
 * Opens a file of a directory, and uses it while it is open. A file that is replaced before it is checked is
 * opened again: not every system knows the path of an open file whose name was given to another.
 * @param codings of the compressed copies that may be beside it
 * @returns undefined for anything but a regular file, for a link that leads out of the directory, for a name
 *   in another case, and for bytes that do not match the fingerprint
 */
export async function withServedFile<T>(
  loading: Loading,
  wanted: Wanted,
  codings: readonly Coding[],
  use: (file: ServedFile, opened: OpenFile) => Promise<T> | T
): Promise<T | undefined> {
  const path = fileIn(loading.directory, wanted.path)
  for (let attempt = 1; ; attempt++) {
    let isReplaced = false
    const openedAt = Date.now()
    const used = await withFile(path, async opened => {
      const file = await prepare({ ...loading, codings, openedAt }, wanted, opened)
      if (file) return use(file, opened)
      isReplaced = !(await isStillAt(path, opened))
      return undefined
    })
    if (!isReplaced || attempt === ATTEMPTS) return used
  }
}

async function isStillAt(path: string, { stats }: OpenFile): Promise<boolean> {
  const now = await statOf(path)
  return now !== undefined && isSameInode(now, stats)
}

async function prepare(
  {
    directory,
    folders,
    deltasOf,
    maxFileBytes,
    codings,
    openedAt
  }: Loading & { readonly codings: readonly Coding[]; readonly openedAt: number },
  wanted: Wanted,
  opened: OpenFile
): Promise<ServedFile | undefined> {
  if (directory.isHidden && (await isHidden(directory.isHidden, opened))) return undefined
  if (!(await isInPlace(directory.place)(opened))) return undefined
  if (!(await folders.hasNames(wanted.path))) return undefined
  const file = await readEncoded('identity', opened, maxFileBytes)
  const fingerprint = directory.fingerprintOf(wanted)
  const copies = codings.length === 0 ? NONE : await findCopies(codings, file)
  const needsDigest = fingerprint !== undefined || copies.size > 0
  const identity = needsDigest ? await withDigest(file, opened) : file
  const isVerified = fingerprint !== undefined && fingerprint.digest === identity.digest
  if (fingerprint && !isVerified && !(await directory.isOrdinary(wanted, fingerprint.name))) {
    return undefined
  }
  const fields = directory.fieldsOf(wanted, isVerified)
  const deltas = await deltasOf(wanted, identity, fields)
  const readAll = () => readCopies(directory, identity, copies, maxFileBytes)
  const compressed = copies.size === 0 ? [] : await readAll()
  const vary = varyOf(compressed.length > 0 || fields.dictionary !== undefined, deltas)
  const rest = compressed.map(copy => makeRepresentation(copy, fields, vary))
  const representations = [makeRepresentation(identity, fields, vary), ...rest] as const
  return {
    ...{ representations, copies, isVerified, findDelta: deltas?.find },
    isAtHand:
      hasOneSpelling(wanted.path) && representations.every(({ body }) => body !== undefined),
    hasRested: representations.every(({ stamp }) => isUnchangedSince(stamp, openedAt)),
    trustedUntil: isVerified ? Infinity : 0,
    copiesTrustedUntil: 0
  }
}

/** A cache selects by the Vary of what it has stored (RFC 9111 section 4.1), so deltas may come later. */
function varyOf(mayBeEncoded: boolean, deltas: FileDeltas | undefined): Fields {
  if (deltas?.areThere) return VARY_BY_DICTIONARY
  return mayBeEncoded ? VARY : []
}

/** Whatever links lead to it. */
async function isHidden(
  hides: NonNullable<ServedDirectory['isHidden']>,
  opened: OpenFile
): Promise<boolean> {
  return hides(opened.path) || hides((await realPathOfOpen(opened)) ?? '')
}

const NONE: ReadonlyMap<Coding, Stamp> = new Map()

/** The compressed files beside a file. One that is older is a copy of something else. */
async function findCopies(
  codings: readonly Coding[],
  { file, stamp }: Pick<EncodedFile, 'file' | 'stamp'>
): Promise<ReadonlyMap<Coding, Stamp>> {
  const stats = await Promise.all(codings.map(({ extension }) => statOf(file + extension)))
  const copies = new Map<Coding, Stamp>()
  codings.forEach((coding, at) => {
    const copy = stats[at]
    if (copy?.isFile() && copy.size > 0n && copy.mtimeNs >= stamp.mtimeNs) {
      copies.set(coding, stampOf(copy))
    }
  })
  return copies
}

async function readCopies(
  directory: ServedDirectory,
  identity: EncodedFile,
  copies: ReadonlyMap<Coding, Stamp>,
  maxFileBytes: number
): Promise<EncodedFile[]> {
  const read = Array.from(copies.keys(), coding =>
    ifReadable(
      identity.file + coding.extension,
      readCopy(directory, identity, coding, maxFileBytes)
    )
  )
  return (await Promise.all(read)).filter(copy => copy !== undefined)
}

/** A compressed copy, unless it expands to other bytes; it is compared each time that it is loaded. */
async function readCopy(
  { place }: ServedDirectory,
  { file, digest, size }: EncodedFile,
  coding: Coding,
  maxFileBytes: number
): Promise<EncodedFile | undefined> {
  if (digest === undefined) return undefined
  return withFile(file + coding.extension, async opened => {
    if (!(await isInPlace(place)(opened))) return undefined
    const copy = await readEncoded(coding.name, opened, maxFileBytes)
    const bytes = () => (copy.body ? Readable.from([copy.body]) : streamOf(opened))
    return (await compareCopy({ size, digest }, bytes, coding)) === 'equal' ? copy : undefined
  })
}

/** @param codings of the compressed copies that may be beside it */
export async function hasSameCopies(
  { representations, copies }: ServedFile,
  codings: readonly Coding[]
): Promise<boolean> {
  const now = await findCopies(codings, representations[0])
  const isSame = ([coding, copy]: readonly [Coding, Stamp]) => {
    const known = copies.get(coding)
    return known !== undefined && sameStamp(known, copy)
  }
  return now.size === copies.size && [...now].every(isSame)
}
