// Matches paths against a list of globs.
import { sep } from 'node:path'
import picomatch from 'picomatch'

/** A backslash before one of these keeps it from being a pattern; before `*` and `?`, no names on Windows, it separates folders there. */
const SEPARATOR = /\\(?![[\]{}()!+@\\])/g

/**
 * A glob matches whole relative paths with slashes: `vendor/**`. One without a slash matches files in any folder:
 * `*.map`. As in .gitignore, `/drafts` is in the directory itself, and `drafts/` is all that is in such a folder. An
 * empty list matches nothing. On Windows a glob may be written with `\` as well.
 * @throws TypeError for an empty glob
 */
export function matcherOf(
  globs: readonly string[],
  separator: string = sep
): (path: string) => boolean {
  const matchers = globs.map(glob =>
    matcherOfOne(separator === '/' ? glob : glob.replace(SEPARATOR, '/'))
  )
  return path => matchers.some(matches => matches(path))
}

function matcherOfOne(given: string): (path: string) => boolean {
  const names = given.split('/').filter(name => name !== '' && name !== '.')
  // The slashes at both ends are no part of a path.
  const [isAnchored, isFolder] = [/^\.?\//.test(given), /\/\.?$/.test(given)]
  const within = names.join('/')
  const basename = !isAnchored && !within.includes('/')
  const matcher = picomatch(within, { dot: true, basename, windows: false })
  const matches = (path: string) => matcher(path)
  return isFolder ? path => pathsDownTo(path).some(matches) : matches
}

/** `a`, `a/b` and `a/b/c` for the last one. */
function pathsDownTo(path: string): string[] {
  return path.split('/').map((_, at, all) => all.slice(0, at + 1).join('/'))
}

/** Returns a check of whether a file, or a folder that it is in, matches one of the globs. */
export function excluderOf(globs: readonly string[]): (path: string) => boolean {
  const matches = matcherOf(globs)
  return path => pathsDownTo(path).some(matches)
}
