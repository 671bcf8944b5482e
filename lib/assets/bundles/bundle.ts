// What a bundler's manifest says, whichever bundler wrote it. Files are paths below the mount's directory.

import type { ScriptKind } from '../views/entry.ts'

export interface Bundle {
  /** The names of its entries, as pages write them. */
  readonly names: readonly string[]
  /** Undefined for an unknown name. */
  readonly entry: (name: string) => BundleEntry | undefined
  /** Files that the tags of some entry name. */
  readonly tagged: ReadonlySet<string>
  /** All files that the manifest names. */
  readonly files: ReadonlySet<string>
  /** Those whose names contain a hash of what is in them. */
  readonly hashed: ReadonlySet<string>
}

/** The static import graph of an entry, in the order in which a page names the files. */
export interface BundleEntry {
  readonly stylesheets: readonly string[]
  readonly scripts: readonly BundleScript[]
  /** Modules that the scripts import. */
  readonly preloads: readonly string[]
}

export interface BundleScript {
  readonly file: string
  readonly kind: ScriptKind
}
