// Declares the files of mounts by name, as the view helpers need them.
import type { AssetAddress, LoadedUrl } from './asset-url.ts'

/** Finds files of mounts by the names of their sources. */
export interface MountAssets {
  /**
   * Returns the file of a source; undefined for an unknown name.
   * @throws TypeError when several mounts have it
   */
  file(name: string, mount: string | undefined): AssetAddress | undefined
  /** Tells whether the name has an entry that a page may load. */
  hasEntry(name: string, mount: string | undefined): boolean
  /**
   * Returns the files that a page loads for an entry.
   * @throws AssetError for an unknown name; TypeError as `file`
   */
  entry(name: string, mount: string | undefined): readonly LoadedUrl[]
  /** Returns the places that are searched, as messages name them. */
  labelsAt(mount: string | undefined): string
  /** Returns the names that exist, as far as they are known. */
  known(): KnownNames
}

export interface KnownNames {
  readonly entries: ReadonlySet<string>
  readonly sources: ReadonlySet<string>
  /** True if there are no other entries. */
  readonly hasAllEntries: boolean
  /** True if there are no other sources. */
  readonly hasAllSources: boolean
}
