// Writes and compares paths, also on Windows: specs give the rules of another system.
import * as native from 'node:path'

export type PathRules = Pick<typeof native, 'isAbsolute' | 'relative' | 'resolve' | 'sep'>

/**
 * The path of a file from a directory, with `/`, as names, URLs, globs, manifests and messages have it. Where `/` separates
 * folders, `\` is part of a name.
 */
export function pathFrom(directory: string, file: string, rules: PathRules = native): string {
  return withSlashes(rules.relative(directory, file), rules)
}

export function withSlashes(path: string, { sep }: Pick<PathRules, 'sep'> = native): string {
  return sep === '/' ? path : path.replaceAll(sep, '/')
}

/**
 * The absolute path of one that an option has. `c:` and `C:` are one drive, but two texts: a real path has the upper case.
 */
export function absolutePath(base: string, given = '', rules: PathRules = native): string {
  const path = rules.resolve(base, given)
  return rules.sep === '/' ? path : path.replace(/^[a-z]:/, drive => drive.toUpperCase())
}

/** Tells by segments whether `path` is `directory` or below it: `public-secret` is not in `public`. */
export function isInside(directory: string, path: string, rules: PathRules = native): boolean {
  // As in most paths, nothing is to be resolved.
  const isBelow = path.startsWith(directory) && path[directory.length] === rules.sep
  if (isBelow && !path.includes('..')) return true
  const way = rules.relative(directory, path)
  return way !== '..' && !way.startsWith(`..${rules.sep}`) && !rules.isAbsolute(way)
}

const ASCII = /^[ -~]*$/

/** Some file systems keep names decomposed. */
export function composed(name: string): string {
  return ASCII.test(name) ? name : name.normalize()
}

/** Some file systems ignore case and normalization; APFS also takes `\u017f` for `s`. */
export function folded(path: string): string {
  return ASCII.test(path) ? path.toLowerCase() : path.normalize('NFD').toUpperCase().toLowerCase()
}
