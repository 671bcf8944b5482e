// What extras tell of directories that a tool has built, to each other and to `verify`.

/** What a manifest says about the files of its directory. Paths are below it, without queries. */
export interface ManifestNames {
  readonly files: ReadonlySet<string>
  /** Those whose names contain a hash of their content. */
  readonly hashed: ReadonlySet<string>
}

/** @throws AssetError with the code `manifest-broken` for anything but the manifest of a build */
export type ReadManifest = (
  bytes: Buffer,
  of: {
    /** The file that they are from. */
    readonly manifest: string
    readonly dir: string
  }
) => ManifestNames

/** A file in a directory that names more of its files than the manifest. */
export interface FileList {
  /** Its path. @param dir of the build */
  in(dir: string): string
  /**
   * The files whose names contain a hash of their content.
   * @param bytes of the list; undefined where there is none
   * @throws AssetError with the code `manifest-broken` for anything but such a list
   */
  hashed(bytes: Uint8Array | undefined, dir: string): ReadonlySet<string>
}

/** What is wrong with a directory, beside its compressed copies. */
export interface DirectoryCheck {
  /** How many files its manifest names; undefined without one. */
  readonly files: number | undefined
  readonly problems: readonly { readonly path: string; readonly message: string }[]
}
