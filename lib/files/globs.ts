// Which paths match a list of globs.
import picomatch from 'picomatch'

/**
 * A glob matches whole relative paths with slashes: `vendor/**`. One without a slash matches files in any folder:
 * `*.map`. An empty list matches nothing.
 * @throws TypeError for an empty glob
 */
export function matcherOf(globs: readonly string[]): (path: string) => boolean {
  const matchers = globs.map(glob => picomatch(glob, { dot: true, basename: !glob.includes('/') }))
  return path => matchers.some(matches => matches(path))
}

/** Whether a file, or a folder that it is in, matches one of the globs. */
export function excluderOf(globs: readonly string[]): (path: string) => boolean {
  const matches = matcherOf(globs)
  return path => path.split('/').some((_, at, all) => matches(all.slice(0, at + 1).join('/')))
}
