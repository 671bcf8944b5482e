// A file of public with all its representations: opened, checked, then read or described.
import { Readable } from 'node:stream'
import { contentType } from '../../http/media-type.ts'
import { CODINGS, type Coding } from '../../files/codings.ts'
import { compareCopy } from '../../files/compress.ts'
import { isInPublic } from '../../files/containment.ts'
import {
  isSameInode,
  sameStamp,
  stampOf,
  statOf,
  withFile,
  type OpenFile,
  type Stamp
} from '../../files/disk.ts'
import { streamOf } from '../../files/file-stream.ts'
import { publicFile } from '../settings/public-directory.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import { splitFingerprint } from '../urls/fingerprint.ts'
import { readEncoded, withDigest, type EncodedFile } from './encoded-file.ts'
import { makeRepresentation, type Representation, type SharedFields } from './representation.ts'
import type { Wanted } from './request-path.ts'

export interface PublicFile {
  readonly representations: readonly [identity: Representation, ...Representation[]]
  /** The stamps of the compressed files beside it, whether they are sent or not. */
  readonly copies: ReadonlyMap<Coding, Stamp>
  /** Whether the name has a fingerprint that is the digest of the bytes. */
  readonly isVerified: boolean
}

/**
 * Whether 32 hex characters that are not the digest of the bytes are part of the name itself.
 * @param plain the path without them
 */
export type IsOrdinary = (wanted: Wanted, plain: string) => Promise<boolean>

const ATTEMPTS = 3

/**
 * Opens a file of public, and uses it while it is open. A file that is replaced before it is checked is
 * opened again: not every system knows the path of an open file whose name was given to another.
 * @returns undefined for anything but a regular file, for a link that leads out of public, and for bytes
 *   that do not match the fingerprint
 */
export async function withPublicFile<T>(
  settings: Settings,
  wanted: Wanted,
  isOrdinary: IsOrdinary,
  use: (file: PublicFile, opened: OpenFile) => Promise<T> | T
): Promise<T | undefined> {
  const path = publicFile(settings, wanted.path)
  for (let attempt = 1; ; attempt++) {
    const result = await withFile(path, async opened => {
      const file = await prepare(settings, wanted, isOrdinary, opened)
      if (file) return { used: await use(file, opened), isReplaced: false }
      return { used: undefined, isReplaced: !(await isStillAt(path, opened)) }
    })
    if (!result?.isReplaced || attempt === ATTEMPTS) return result?.used
  }
}

async function isStillAt(path: string, { stats }: OpenFile): Promise<boolean> {
  const now = await statOf(path)
  return now !== undefined && isSameInode(now, stats)
}

async function prepare(
  settings: Settings,
  wanted: Wanted,
  isOrdinary: IsOrdinary,
  opened: OpenFile
): Promise<PublicFile | undefined> {
  if (!(await isInPublic(settings)(opened))) return undefined
  const file = await readEncoded('identity', opened, settings.memory.maxFileBytes)
  const fingerprint = wanted.app === settings.publicApp ? undefined : splitFingerprint(wanted.path)
  const copies = await findCopies(wanted.app, opened.path, file.stamp)
  const needsDigest = fingerprint !== undefined || copies.size > 0
  const identity = needsDigest ? await withDigest(file, opened) : file
  const isVerified = fingerprint !== undefined && fingerprint.digest === identity.digest
  if (fingerprint && !isVerified && !(await isOrdinary(wanted, fingerprint.name))) return undefined
  const codings = [...copies.keys()]
  const read = await Promise.all(codings.map(coding => readCopy(settings, identity, coding)))
  const compressed = read.filter(copy => copy !== undefined)
  const shared = sharedFields(settings, wanted, compressed.length > 0, isVerified)
  const rest = compressed.map(copy => makeRepresentation(copy, shared))
  const representations = [makeRepresentation(identity, shared), ...rest] as const
  return { representations, copies, isVerified }
}

/** The compressed files beside a file. One that is older is a copy of something else. */
async function findCopies(
  { compile }: AppSettings,
  path: string,
  { mtimeNs }: Stamp
): Promise<ReadonlyMap<Coding, Stamp>> {
  // A file that is compiled on request changes without its compressed copies.
  if (compile) return new Map()
  const stats = await Promise.all(CODINGS.map(({ extension }) => statOf(path + extension)))
  const copies = new Map<Coding, Stamp>()
  CODINGS.forEach((coding, at) => {
    const copy = stats[at]
    if (copy?.isFile() && copy.size > 0n && copy.mtimeNs >= mtimeNs) {
      copies.set(coding, stampOf(copy))
    }
  })
  return copies
}

/** A compressed copy, unless it expands to other bytes; it is compared each time that it is loaded. */
async function readCopy(
  settings: Settings,
  { file, digest, size }: EncodedFile,
  coding: Coding
): Promise<EncodedFile | undefined> {
  if (digest === undefined) return undefined
  return withFile(file + coding.extension, async opened => {
    if (!(await isInPublic(settings)(opened))) return undefined
    const copy = await readEncoded(coding.name, opened, settings.memory.maxFileBytes)
    const bytes = () => (copy.body ? Readable.from([copy.body]) : streamOf(opened))
    return (await compareCopy({ size, digest }, bytes, coding)) === 'equal' ? copy : undefined
  })
}

/** @param stamp what the file's stat returns now */
export async function isUnchanged(
  { app }: Wanted,
  { representations, copies }: PublicFile,
  stamp: Stamp
): Promise<boolean> {
  const [identity] = representations
  if (!sameStamp(identity.stamp, stamp)) return false
  const now = await findCopies(app, identity.file, identity.stamp)
  const isSame = ([coding, copy]: readonly [Coding, Stamp]) => {
    const known = copies.get(coding)
    return known !== undefined && sameStamp(known, copy)
  }
  return now.size === copies.size && [...now].every(isSame)
}

function sharedFields(
  { host, prefix }: Settings,
  { app, path }: Wanted,
  varies: boolean,
  isVerified: boolean
): SharedFields {
  const revalidated = app.compile ? 'no-cache' : 'public, max-age=0, must-revalidate'
  return {
    type: contentType(path),
    // RFC 8246: the bytes at this URL never change.
    cacheControl: isVerified ? 'public, max-age=31536000, immutable' : revalidated,
    varies,
    crossOrigin: host !== undefined && path.startsWith(`${prefix}/`)
  }
}
