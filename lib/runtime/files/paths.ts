// Writes and compares paths, and matches them against globs, on Windows as well; specs pass the rules of other systems.
import * as native from 'node:path'
import picomatch from 'picomatch'

type PathRules = Pick<typeof native, 'isAbsolute' | 'relative' | 'resolve' | 'sep'>

/** Returns a path with `/`, as in URLs, globs, manifests and messages; a `\` that separates no folders stays. */
export function pathFrom(directory: string, file: string, rules: PathRules = native): string {
  return withSlashes(rules.relative(directory, file), rules)
}

export function withSlashes(path: string, { sep }: Pick<PathRules, 'sep'> = native): string {
  return sep === '/' ? path : path.replaceAll(sep, '/')
}

/** Resolves a path. `c:` becomes `C:`, the same drive, as in real paths. */
export function absolutePath(base: string, given = '', rules: PathRules = native): string {
  const path = rules.resolve(base, given)
  return rules.sep === '/' ? path : path.replace(/^[a-z]:/, drive => drive.toUpperCase())
}

/** Tells by segments whether `path` is `directory` or below it: `public-secret` is not in `public`. */
export function isInside(directory: string, path: string, rules: PathRules = native): boolean {
  // Most paths have nothing to resolve.
  const isBelow = path.startsWith(directory) && path[directory.length] === rules.sep
  if (isBelow && !path.includes('..')) return true
  const way = rules.relative(directory, path)
  return way !== '..' && !way.startsWith(`..${rules.sep}`) && !rules.isAbsolute(way)
}

const ASCII = /^[ -~]*$/

/** Some file systems keep names decomposed. */
export const composed = (name: string): string => (ASCII.test(name) ? name : name.normalize())

/** Some file systems ignore case and normalization; APFS also takes `\u017f` for `s`. */
export function folded(path: string): string {
  return ASCII.test(path) ? path.toLowerCase() : path.normalize('NFD').toUpperCase().toLowerCase()
}

/** A backslash escapes one of these; before `*` and `?`, which no name on Windows has, it separates folders there. */
const SEPARATOR = /\\(?![[\]{}()!+@\\])/g

// A glob matches whole relative paths with slashes: `vendor/**`. One without a slash matches files in any folder:
// `*.map`. As in .gitignore, `/drafts` is in the directory itself, and `drafts/` is all that is in such a folder.
export function matcherOf(globs: readonly string[], separator: string = native.sep) {
  const matchers = globs.map(glob =>
    matcherOfOne(separator === '/' ? glob : glob.replace(SEPARATOR, '/'))
  )
  return (path: string) => matchers.some(matches => matches(path))
}

function matcherOfOne(given: string): (path: string) => boolean {
  const names = given.split('/').filter(name => name !== '' && name !== '.')
  // The slashes at both ends are not part of a path.
  const [isAnchored, isFolder] = [/^\.?\//.test(given), /\/\.?$/.test(given)]
  const within = names.join('/')
  const basename = !isAnchored && !within.includes('/')
  const matcher = picomatch(within, { dot: true, basename, windows: false })
  const matches = (path: string) => matcher(path)
  return isFolder ? path => pathsDownTo(path).some(matches) : matches
}

/** Returns `a`, `a/b` and `a/b/c` for `a/b/c`. */
function pathsDownTo(path: string): string[] {
  return path.split('/').map((_, at, all) => all.slice(0, at + 1).join('/'))
}

/** Returns a check of whether a file, or a folder that it is in, matches one of the globs. */
export function excluderOf(globs: readonly string[]): (path: string) => boolean {
  const matches = matcherOf(globs)
  return path => pathsDownTo(path).some(matches)
}

export function withDot(extension: string): string {
  return extension.startsWith('.') ? extension : `.${extension}`
}
