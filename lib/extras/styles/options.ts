// The options of minifying and lowering, and the parts of a report about stylesheets and scripts.
import { flag, isText, type Expectation, type Option } from '../../runtime/check-options.ts'

export interface StyleOptions {
  /**
   * Precompile minifies stylesheets and scripts with esbuild, with a source map for each (`sourceMaps`). Files named
   * `*.min.*` are left unchanged. Default: if esbuild can be loaded; a source that esbuild cannot parse is then
   * published unchanged, with a warning.
   *
   * With `true`, precompile throws an AssetError if esbuild is not installed, and for such a source.
   */
  minify?: boolean | undefined
  /**
   * The browsers for which syntax of scripts and stylesheets is lowered, in every environment: a browserslist query,
   * such as `'baseline widely available'`, which needs that package, or esbuild's names: `['chrome109', 'safari15.4']`.
   * Syntax that esbuild cannot lower is a warning. Needs esbuild. Default: none, and nothing is lowered.
   */
  target?: string | readonly string[] | undefined
}

export const BROWSER =
  /^(?:es(?:\d{1,4}|next)|(?:chrome|deno|edge|firefox|hermes|ie|ios|node|opera|rhino|safari)\d+(?:\.\d+){0,2})$/i

// Browserslist knows no name of this form.
const isTarget = (text: string) => BROWSER.test(text) || !/^(?:[a-z]+\d[\d.]*)?$/i.test(text)

export const STYLES = {
  minify: { ...flag, default: (): StyleOptions['minify'] => undefined },
  target: {
    expected:
      "browsers, such as 'baseline widely available' or ['chrome109', 'safari15.4'], as one text or a list",
    holds: value => {
      const all = [value].flat()
      const names = all.flatMap(each => (isText(each) ? each.trim().split(/\s*,\s*/) : ''))
      return names.length > 0 && names.every(isTarget)
    },
    default: (): StyleOptions['target'] => undefined
  }
} satisfies Record<keyof StyleOptions, Option<unknown, unknown>>

export interface PrecompileStyleOptions {
  /** Overrides the option `minify` of every app. Default: each app's own, by default on if esbuild is installed. */
  readonly minify?: boolean | undefined
}

export const PRECOMPILE_STYLES = {
  minify: flag
} satisfies Record<keyof PrecompileStyleOptions, Expectation>

export interface StyleRows {
  /** The sizes before and after in bytes, without source maps; undefined if no app is minified. */
  readonly minified?: {
    readonly files: number
    readonly bytes: number
    readonly insteadOf: number
    /** The reason why nothing was minified: esbuild cannot be loaded. */
    readonly problem?: string
  }
  /** The joined stylesheets; undefined if there was none to join. */
  readonly sheets?: {
    /** The number of stylesheets into which others were joined. */
    readonly files: number
    /** The number of imports that browsers need not follow any more. */
    readonly imports: number
    /** The reason why nothing was joined: esbuild cannot be loaded. */
    readonly problem?: string
  }
}
