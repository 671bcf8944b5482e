// The options of minifying, and its part of a report.
import { flag, type Expectation, type Option } from '../../runtime/check-options.ts'

export interface MinifyOptions {
  /**
   * Precompile minifies stylesheets and scripts with esbuild, and publishes the source map of each at
   * `<name>.map`. Files named `*.min.*` are left as they are. Default: where esbuild can be loaded; a source
   * that esbuild cannot parse is then published as it is, with a warning.
   *
   * With `true`, precompile throws an AssetError when esbuild is not installed, and for such a source.
   */
  minify?: boolean | undefined
}

/** The default, undefined, minifies where esbuild can be loaded. */
const ifLoadable: Option<boolean | undefined, unknown> = { ...flag, default: () => undefined }

export const MINIFY = {
  minify: ifLoadable
} satisfies Record<keyof MinifyOptions, Expectation>

export interface PrecompileMinifyOptions {
  /**
   * Overrides the option `minify` of every app. Default: each app's own, which by default is "if esbuild is there".
   */
  readonly minify?: boolean | undefined
}

export const PRECOMPILE_MINIFY = {
  minify: flag
} satisfies Record<keyof PrecompileMinifyOptions, Expectation>

/** Sizes are in bytes, without source maps. */
export interface MinifyReport {
  readonly files: number
  readonly bytes: number
  readonly insteadOf: number
  /** Says why nothing was minified: esbuild cannot be loaded. */
  readonly problem?: string
}

export interface MinifyRow {
  /** The sizes before and after; undefined if no app is minified. */
  readonly minified: MinifyReport | undefined
}
