// The parts of extras that tell figures: of an asset in a list, and what a page costs its visitors.

/** Paths are plain URL paths, encoded; sizes are bytes in brotli, without headers. */
export interface Weight {
  readonly entries: readonly string[]
  /** When that was precompiled; undefined for an estimate from the sources. */
  readonly builtAt: Date | undefined
  readonly files: readonly WeighedFile[]
  /** The same by package, the largest first, as their parts. */
  readonly groups: readonly Group[]
  /** With fingerprints; the last one is that after the last precompile, where it replaced files. */
  readonly visits: readonly Visit[]
}

export interface Visit {
  /** In words. */
  readonly visit: string
  /** The page is one of them. */
  readonly requests: number
  /** Without the page. */
  readonly bytes: number
}

export interface WeighedFile extends Pick<Weighed, 'path' | 'size'> {
  /** Loaded by `import()` only. */
  readonly isLater: boolean
  /** Whether the last precompile put it in the place of an earlier one; undefined where there is none. */
  readonly isChanged?: boolean | undefined
  /** What it was made from. */
  readonly parts: readonly Weighed[]
}

export interface Weighed {
  readonly path: string
  /** Its package; empty for a source of the application. */
  readonly group: string
  readonly size: number
}

/** A package, or the application: `path` is its name. */
export interface Group extends Pick<Weighed, 'path' | 'size'> {
  readonly parts: readonly Weighed[]
}

export interface Column {
  /** Its heading, and the name of its values in JSON. */
  readonly name: string
  /** Undefined for a file of which there is nothing to tell. @param file its URL path, encoded, and its size in bytes */
  of(file: { readonly target: string; readonly size: number }): Promise<Cell | undefined>
}

export interface Cell {
  readonly value: object
  /** The value for people. */
  readonly text: string
}
