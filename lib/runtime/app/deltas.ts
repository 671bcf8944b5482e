// Declares how an extra sends and writes deltas of files.
import type { Sender } from '../serving/file.ts'
import type { Settings } from '../settings/settings.ts'
import type { AssetsByPath } from '../urls/manifest.ts'

export interface Deltas {
  /** Makes, at start, the finder of deltas for served files; undefined if none are wanted. */
  sender(settings: Settings): Sender | undefined
  /** Makes the writer of deltas of precompiled files. @param before the paths that pages name now, by plain URL path */
  writer(settings: Settings, before: AssetsByPath, unsaved: NewNames): Promise<DeltaWriter>
}

interface DeltaWriter {
  /** Writes deltas for a file; called once the file and its compressed copies exist. */
  write(file: PrecompiledFile): Promise<void>
  report(): Promise<object>
}

interface PrecompiledFile {
  /** The decoded URL path. */
  readonly path: string
  /** The path without the fingerprint. */
  readonly plain: string
  readonly size: number
  readonly digest: string
  /** The size of its smallest representation, in bytes. */
  readonly smallest: number
}

export interface NewNames {
  named(path: string): void
}
