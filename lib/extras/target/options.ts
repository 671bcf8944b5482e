import { isText, type Expectation, type Option } from '../../runtime/check-options.ts'

/** Browsers, as browserslist or esbuild names them. */
export type Target = string | readonly string[]

export interface TargetOptions {
  /**
   * The browsers whose syntax scripts and stylesheets get, in every environment: a query of browserslist, such as
   * `'baseline widely available'`, which needs that package, or names of esbuild, such as `['chrome109', 'safari15.4']`.
   * What esbuild cannot lower is a warning. Needs esbuild. Default: none, and nothing is lowered.
   */
  target?: Target | undefined
}

const target: Option<Target | undefined, unknown> = {
  expected:
    "browsers, such as 'baseline widely available' or ['chrome109', 'safari15.4'], as one text or a list",
  holds: value => {
    const all = [value].flat()
    return all.length > 0 && all.every(each => isText(each) && each.trim() !== '')
  },
  default: () => undefined
}

export const TARGET = { target } satisfies Record<keyof TargetOptions, Expectation>
