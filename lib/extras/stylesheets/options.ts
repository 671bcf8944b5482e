/** Sizes are in bytes, without source maps. */
export interface SheetReport {
  /** The number of stylesheets into which others were joined. */
  readonly files: number
  /** The number of imports that no browser has to follow any more. */
  readonly imports: number
  /** Says why nothing was joined: esbuild cannot be loaded. */
  readonly problem?: string
}

export interface SheetRow {
  /** The joined stylesheets; undefined if there was none to join. */
  readonly sheets?: SheetReport | undefined
}
