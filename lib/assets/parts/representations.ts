// Parts about representations of files: those that extras send, and those that they keep in files.
import type { IncomingHttpHeaders } from 'node:http'
import type { ServedPlace } from '../../files/containment.ts'
import type { Stamp } from '../../files/disk.ts'
import type { Unsaved } from '../../files/writing/unsaved.ts'
import type { CompressExtras } from '../settings/extra-options.ts'
import type { Settings } from '../settings/settings.ts'
import type { Fingerprinted, WithoutHash } from '../urls/fingerprint.ts'

/** Sends further representations of files, to clients that can read them. */
export interface Sender {
  /** Asked when a file is loaded; undefined for one whose responses stay as they are. */
  of(file: SentFile): Promise<Sent | undefined>
}

/** What one file holds: the bytes of a representation. */
export interface Stored {
  /** `identity`, or the name of a content coding. */
  readonly coding: string
  /** Absolute. */
  readonly file: string
  readonly stamp: Stamp
  /** In bytes. */
  readonly size: number
  /** Undefined for a file that is too big for memory, unless its digest was asked for. */
  readonly digest: string | undefined
  /** Undefined for a file that is too big for memory. */
  readonly body: Buffer | undefined
}

export interface SentFile extends Stored {
  /** The decoded URL path. */
  readonly path: string
  readonly place: ServedPlace
  /** The URL path, with the base, around the hash in it; undefined for a file that may change at its URL. */
  readonly around: WithoutHash | undefined
  /** The path without our fingerprint; undefined for a file that precompile did not write. */
  readonly plain: string | undefined
  /** The composed names in its folder, as far as they are known; the last ones may be missing. */
  readonly names: () => Promise<ReadonlyMap<string, unknown> | undefined>
  /** The same with its digest, unless it changed meanwhile. */
  readonly digested: () => Promise<Stored>
}

export interface Sent {
  /** Of every response that has the fields of the file. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** The request fields by which a representation is selected. */
  readonly vary: readonly string[]
  /** What may be sent to a request instead of the file; undefined: nothing. */
  readonly find?: ((headers: IncomingHttpHeaders) => Further | undefined) | undefined
}

export interface Further {
  /** By which it is remembered, among those of one path. */
  readonly key: string
  /** What the client needs in order to read it, and has. */
  readonly needs: string
  /** Called until it is remembered; undefined if there is no such file. */
  readonly read: () => Promise<{ readonly needs: string; readonly stored?: Stored } | undefined>
}

/** Each of its files takes another file to read: an earlier version of the file that it represents. */
export interface Representations {
  /** The path of the file that one represents, and the digest of the one that it takes; undefined for other paths. */
  split(path: string): Fingerprinted | undefined
  /** What is wrong with one, to be read after its path. @param versions of the original, one of which it takes */
  faultOf(file: string, original: string, versions: readonly string[]): Promise<string | undefined>
  /** Brings those beside a precompiled file up to date. @param before by plain URL path, what pages name now */
  ofPublished(
    settings: Settings,
    before: ReadonlyMap<string, { readonly target: string }>,
    unsaved: Unsaved
  ): Writer<PrecompiledFile>
  /** The same in the directory of a build. @param earlier an earlier build, absolute, if that is known */
  ofBuild(
    directory: BuiltDirectory,
    options: { readonly options: CompressExtras; readonly earlier: string | undefined },
    unsaved: Unsaved
  ): Promise<Writer<CompressedFile>>
}

export interface Writer<File> {
  /** Called once the file and its compressed copies are there. */
  write(file: File): Promise<void>
  /** Rows of the report. */
  report(): Promise<object>
}

interface CopiedFile {
  /** The size of its smallest representation, in bytes. */
  readonly smallest: number
}

/** With a fingerprint in its name. */
export interface PrecompiledFile extends CopiedFile {
  /** The decoded URL path. */
  readonly path: string
  /** Without the fingerprint. */
  readonly plain: string
  readonly size: number
  readonly digest: string
}

export interface CompressedFile extends CopiedFile {
  /** Relative to the directory. */
  readonly path: string
  readonly bytes: Uint8Array
}

export interface BuiltDirectory {
  /** Its real path. */
  readonly path: string
  /** Nothing is read or written through a symbolic link. */
  readonly place: ServedPlace
  /** The regular files that can be requested, relative to the directory, with slashes; sorted. */
  readonly files: ReadonlySet<string>
}
