// A file that holds one representation: its bytes, when they fit into memory, and its validators.
import { formatEtag, type Validators } from '../../../http/validators.ts'
import { digestOf, digestOfStream } from '../../../files/digest.ts'
import { stampOf, readOpenFile, type OpenFile, type Stamp } from '../../../files/disk.ts'
import { isUnmodified, streamOf } from '../../../files/file-stream.ts'

export interface EncodedFile extends Validators {
  /** `identity`, or the name of a content coding. */
  readonly coding: string
  /** Absolute. */
  readonly file: string
  readonly stamp: Stamp
  /** In bytes. */
  readonly size: number
  readonly etag: string
  /** Undefined for a file that is too big for memory, unless its digest was asked for. */
  readonly digest: string | undefined
  /** Undefined for a file that is too big for memory. */
  readonly body: Buffer | undefined
}

/** Reads an open file; one of more than `maxBytes` stays on disk. */
export async function readEncoded(
  coding: string,
  opened: OpenFile,
  maxBytes: number
): Promise<EncodedFile> {
  const { path, stats } = opened
  const snapshot = stats.size > maxBytes ? undefined : await readOpenFile(opened)
  const body = snapshot?.bytes
  const stamp = snapshot?.stamp ?? stampOf(stats)
  const digest = body && digestOf(body)
  return {
    coding,
    file: path,
    stamp,
    // A file may shrink while it is read.
    size: body?.length ?? Number(stamp.size),
    etag: etagOf(coding, digest ?? versionOf(stamp)),
    lastModified: lastModifiedOf(stamp.mtimeNs),
    digest,
    body
  }
}

/** The same file with its digest, for which it is read; without one when it changed meanwhile. */
export async function withDigest(file: EncodedFile, opened: OpenFile): Promise<EncodedFile> {
  if (file.digest !== undefined) return file
  const digest = await digestOfStream(streamOf(opened))
  if (!(await isUnmodified(opened))) return file
  return { ...file, digest, etag: etagOf(file.coding, digest) }
}

/** Identifies bytes that are not read: an mtime can be set, an inode and a ctime cannot. */
function versionOf({ size, mtimeNs, ctimeNs, ino }: Stamp): string {
  return [size, mtimeNs, ctimeNs, ino].map(number => number.toString(16)).join('-')
}

function etagOf(coding: string, version: string): string {
  return formatEtag(coding === 'identity' ? version : `${version}-${coding}`)
}

/**
 * In milliseconds, whole seconds. Undefined for the epoch, which stands for "unknown", and for a date in
 * the future, which an origin server must not send (RFC 9110 section 8.8.2.1).
 */
function lastModifiedOf(mtimeNs: bigint): number | undefined {
  const seconds = Number(mtimeNs / 1_000_000_000n)
  return seconds === 0 || seconds * 1000 > Date.now() ? undefined : seconds * 1000
}
