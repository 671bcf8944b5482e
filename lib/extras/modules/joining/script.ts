// Describes modules that are joined, and scripts that they become.

/** Paths are those of plain URLs, decoded. */
export interface Script {
  readonly name: string
  readonly source: {
    /** The absolute path, as that of the directory is. */
    readonly file: string
    readonly directory: string
    /** The package to which it belongs. */
    readonly packageName?: string | undefined
    readonly specifiers?: readonly string[] | undefined
  }
  readonly code: string
  /** The source map as JSON, if that is not in the code. */
  readonly map: string | undefined
  readonly imports: readonly string[]
  readonly dynamicImports: readonly string[]
  /** Modules to which it refers, or that it imports, by a URL with a query or fragment: each such URL runs them once more. */
  readonly again: readonly string[]
  /** The assets to which it refers in another way than by an import. */
  readonly others: readonly string[]
}

export interface Made {
  readonly name: string
  /** The code refers to assets by plain URLs, absolute or relative to its own. */
  readonly code: string
  /** The source map as JSON. */
  readonly map: string | undefined
  /** The paths of the scripts that it was made from; the first one stands for it. */
  readonly from: readonly [string, ...string[]]
}
