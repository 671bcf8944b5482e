// Which paths some globs name.
import picomatch from 'picomatch'

/**
 * A glob names whole paths, relative and with slashes: `vendor/**`. One without a slash names files of any
 * folder: `*.map`. No glob names nothing.
 * @throws TypeError for an empty glob
 */
export function matcherOf(globs: readonly string[]): (path: string) => boolean {
  const matchers = globs.map(glob => picomatch(glob, { dot: true, basename: !glob.includes('/') }))
  return path => matchers.some(matches => matches(path))
}
