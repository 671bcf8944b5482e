// The files of mounts by name, as the view helpers need them.
import type { AssetAddress, LoadedUrl } from './asset-url.ts'

/** Finds files of mounts by the names of their sources. */
export interface MountAssets {
  /** The file of a source; undefined for an unknown name. @throws TypeError when several mounts have it */
  file(name: string, mount: string | undefined): AssetAddress | undefined
  /** Whether a page may load it, with all that it needs. */
  hasEntry(name: string, mount: string | undefined): boolean
  /** What a page loads for it. @throws AssetError for an unknown name; TypeError as `file` */
  entry(name: string, mount: string | undefined): readonly LoadedUrl[]
  /** What messages call the places that are searched. */
  labelsAt(mount: string | undefined): string
  /** Those that exist, as far as it is known. */
  known(): KnownNames
}

export interface KnownNames {
  readonly entries: ReadonlySet<string>
  readonly sources: ReadonlySet<string>
  /** Whether there are no other entries. */
  readonly hasAllEntries: boolean
  /** Whether there are no other sources. */
  readonly hasAllSources: boolean
}
