// Which paths match a list of globs.
import { sep } from 'node:path'
import picomatch from 'picomatch'

/** A backslash before one of these keeps it from being a pattern; before `*` and `?`, no names on Windows, it separates folders there. */
const SEPARATOR = /\\(?![[\]{}()!+@\\])/g

/**
 * A glob matches whole relative paths with slashes: `vendor/**`. One without a slash matches files in any folder:
 * `*.map`. An empty list matches nothing. On Windows a glob may be written with `\` as well.
 * @throws TypeError for an empty glob
 */
export function matcherOf(
  globs: readonly string[],
  separator: string = sep
): (path: string) => boolean {
  const matchers = globs
    .map(glob => (separator === '/' ? glob : glob.replace(SEPARATOR, '/')))
    .map(glob => picomatch(glob, { dot: true, basename: !glob.includes('/'), windows: false }))
  return path => matchers.some(matches => matches(path))
}

/** Whether a file, or a folder that it is in, matches one of the globs. */
export function excluderOf(globs: readonly string[]): (path: string) => boolean {
  const matches = matcherOf(globs)
  return path => path.split('/').some((_, at, all) => matches(all.slice(0, at + 1).join('/')))
}
