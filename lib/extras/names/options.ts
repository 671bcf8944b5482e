import { join } from 'node:path'
import { isText, type Expectation } from '../../runtime/check-options.ts'

export interface NameOptions {
  /**
   * Globs of the project's views, relative to `root`: `precompile` and `verify` search them for names of
   * assets that do not exist. Default: none.
   * @example
   * 'apps/*&#47;views/**&#47;*.ejs'
   */
  views?: string | readonly string[] | undefined
}

export const typesFile = ({ root }: { readonly root: string }) => join(root, 'assets.d.ts')

export const NAMES = {
  views: {
    expected: "a glob or a list of globs, such as 'views/**/*.ejs'",
    holds: value => [value].flat().every(isText)
  }
} satisfies Record<keyof NameOptions, Expectation>
