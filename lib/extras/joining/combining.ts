// Joins modules into other scripts before they are published.
import type { AppSettings } from '../../assets/settings/settings.ts'

export interface Combiner {
  /** If true, it takes modules as they were written or compiled, not minified. */
  readonly isReady: boolean
  /** Returns true if it has something to do with scripts from such a source. */
  takes(app: AppSettings, source: { readonly packageName?: string | undefined }): boolean
  /**
   * Returns what takes the place of some scripts of an app.
   * @param scripts are listed by path, and refer to assets by these
   * @param named are the paths of those that a page, a stylesheet or another app loads
   */
  combine(
    app: AppSettings,
    scripts: ReadonlyMap<string, Script>,
    named: ReadonlySet<string>
  ): Promise<Combined>
  /** Returns rows of the report. */
  report(): object
}

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
  /** The assets to which it refers in another way. */
  readonly others: readonly string[]
}

export interface Combined {
  /** The paths of scripts that are not published, unless `made` has them again. */
  readonly replaced: Iterable<string>
  readonly made: readonly Made[]
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
