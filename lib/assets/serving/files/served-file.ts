// A served file with all its representations, and the compressed copies beside it. What this process may not read
// is treated like what does not exist.
import { dirname } from 'node:path'
import { warnOnce } from '../../../errors.ts'
import { CODINGS, compareCopy, type Coding } from '../../../files/codings.ts'
import { isInPlace, type ServedPlace } from '../../../files/containment.ts'
import { errorCode, lstatOf, stampOf, statOf, type Stamp } from '../../../files/disk.ts'
import { withFile, isUnmodified, streamOf, type OpenFile } from '../../../files/open-file.ts'
import { digestOfStream } from '../../../files/digest.ts'
import type { Stored } from '../../parts.ts'
import type { FindFurther } from './further.ts'
import { readStored, type Kept, type Representation } from './representation.ts'

export interface ServedFile extends Kept {
  readonly representations: readonly [identity: Representation, ...Representation[]]
  readonly copies: Copies
  /** Whether the name has a fingerprint that is the digest of the bytes. */
  readonly isVerified: boolean
  /** Each finds what a request may be sent instead. */
  readonly further: readonly FindFurther[]
  /** Whether its bytes are in memory, and its path is the raw path of every request for it. */
  readonly isAtHand: boolean
  /** False for a file that changed so recently that it may change again without a new stamp. */
  readonly hasRested: boolean
  /** Uses it while it is open, described as it is by then; undefined for a miss. */
  readonly open: <T>(use: UseOpened<T>) => Promise<T | undefined>
  /** Milliseconds of the monotonic clock, as the next one; Infinity for a verified fingerprint. */
  trustedUntil: number
  /** When its compressed copies are looked for again, if the file itself is the same. */
  copiesTrustedUntil: number
}

export type UseOpened<T> = (file: ServedFile, opened: OpenFile) => Promise<T> | T

/** The stamps of the compressed files beside a file, whether they are sent or not, in the order of `CODINGS`. */
export type Copies = readonly (Stamp | undefined)[]

export function findCopies(
  { file }: Pick<Stored, 'file'>,
  mayBeThere: (file: string) => boolean
): Promise<Copies> {
  return Promise.all(
    CODINGS.map(async ({ extension }) => {
      const copy = mayBeThere(file + extension) ? await statOf(file + extension) : undefined
      return copy?.isFile() && copy.size > 0n ? stampOf(copy) : undefined
    })
  )
}

/** The copies that are sent: those that expand to the same bytes. They are compared each time they are loaded. */
export async function readCopies(
  place: ServedPlace,
  identity: Stored,
  copies: Copies,
  maxBytes: number
): Promise<Stored[]> {
  const read = CODINGS.filter((_, at) => copies[at]).map(coding =>
    ifReadable(identity.file + coding.extension, readCopy(place, identity, coding, maxBytes))
  )
  return (await Promise.all(read)).filter(copy => copy !== undefined)
}

async function readCopy(
  place: ServedPlace,
  { file, digest, size }: Stored,
  coding: Coding,
  maxBytes: number
): Promise<Stored | undefined> {
  if (digest === undefined) return undefined
  return withFile(file + coding.extension, async opened => {
    if (!(await isInPlace(place)(opened))) return undefined
    const copy = await readStored(coding.name, opened, maxBytes)
    const bytes = copy.body ?? (() => streamOf(opened))
    return (await compareCopy({ size, digest }, bytes, coding)) === 'equal' ? copy : undefined
  })
}

/** The same file with its digest, for which it is read; without one when it changed meanwhile. */
export async function withDigest(file: Stored, opened: OpenFile): Promise<Stored> {
  if (file.digest !== undefined) return file
  const digest = await digestOfStream(streamOf(opened))
  return (await isUnmodified(opened)) ? { ...file, digest } : file
}

const warn = warnOnce()

// The last one comes from Node's permission model.
const DENIED = new Set(['EACCES', 'EPERM', 'ERR_ACCESS_DENIED'])

function isDenied(error: unknown): boolean {
  return DENIED.has(errorCode(error) ?? '')
}

/**
 * Undefined, and a warning that comes once, where permission to read the path is lacking.
 * @param path absolute
 */
export async function ifReadable<T>(path: string, outcome: Promise<T> | T): Promise<T | undefined> {
  try {
    return await outcome
  } catch (error) {
    if (!isDenied(error)) throw error
    warn(
      `${await deniedAt(path)} is not served, because this process may not read it: correct its permissions, or move it`
    )
    return undefined
  }
}

/** The path itself, or the folder above it that may not be entered: it is one for any number of paths. */
async function deniedAt(path: string): Promise<string> {
  try {
    await lstatOf(path)
    return path
  } catch (error) {
    if (!isDenied(error)) throw error
    const above = dirname(path)
    return above === path ? path : deniedAt(above)
  }
}
