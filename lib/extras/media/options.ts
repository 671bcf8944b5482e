import { isGlob, type Expectation, type Option } from '../../runtime/check-options.ts'

export interface InlineOptions {
  /**
   * The SVG files that the helper `inline` may write into pages: globs of names, such as `icons/**`. A file of a
   * third-party directory or a package must be named itself, without a pattern. Default: `icons/**`.
   *
   * A file with a script, an event attribute, or a reference to anything but itself is an error in every environment;
   * without the option, only on pages that use it.
   */
  inline?: string | readonly string[] | undefined
}

const globs: Option<InlineOptions['inline'], unknown> = {
  expected: "a glob of names or a list of globs, such as 'icons/**'",
  holds: value => [value].flat().every(isGlob),
  default: () => undefined
}

export const INLINE = { inline: globs } satisfies Record<keyof InlineOptions, Expectation>
