// Finds the known name that a misspelled one most likely stands for.
import { distance } from 'fastest-levenshtein'

/** Asks whether a name was meant, and tells what two that look alike differ in. */
export function didYouMean(given: string, near: string): string {
  const [before, after] = [given.normalize('NFC'), near.normalize('NFC')]
  const question = `did you mean '${near}'?`
  if (before === after) return `${question} It has its accents in another Unicode form (NFC, NFD)`
  const isCase = before.toLowerCase() === after.toLowerCase()
  return isCase ? `${question} It differs in upper and lower case` : question
}

// Two characters in five may differ, as in TypeScript's "Did you mean"; nobody mistypes more than six.
const TOLERANCE = 0.4
const MAX_EDITS = 6

/**
 * Returns the candidate that takes the fewest edits, the first of those that tie; undefined when all take too many.
 * Case and Unicode form are ignored.
 */
export function nearest(
  word: string,
  candidates: Iterable<string>,
  maxEdits = MAX_EDITS
): string | undefined {
  let best: string | undefined
  let limit = Math.max(1, Math.min(maxEdits, Math.floor(word.length * TOLERANCE)))
  const typed = folded(word)
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > limit) continue
    const edits = editsBetween(typed, folded(candidate))
    if (edits > limit) continue
    best = candidate
    // The next candidate has to be nearer.
    limit = edits - 1
  }
  return best
}

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

/** Counts the edits between two names; two swapped letters are one edit. */
function editsBetween(a: string, b: string): number {
  const edits = distance(a, b)
  if (edits !== 2 || a.length !== b.length) return edits
  let at = 0
  while (a[at] === b[at]) at++
  const isSwapped =
    a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2)
  return isSwapped ? 1 : edits
}

/**
 * Returns the nearest path: a candidate that differs only in its leading folders is preferred to one spelled
 * similarly, the one with the longest common tail first. Where there is none, it is the module that the path has as a
 * folder: `npm/tip.js` for `npm/tip/dist/tip.esm.js`.
 */
export function nearestPath(path: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined
  let common = 0
  for (const candidate of candidates) {
    const length = Math.min(candidate.length, path.length)
    if (length <= common || !(isTail(path, candidate) || isTail(candidate, path))) continue
    best = candidate
    common = length
  }
  return best ?? nearest(path, candidates) ?? moduleAround(path, candidates)
}

function moduleAround(path: string, candidates: readonly string[]): string | undefined {
  if (!/\.m?js$/.test(path)) return undefined
  const around = candidates.filter(each => path.startsWith(each.replace(/\.js$/, '/')))
  return around.toSorted((a, b) => b.length - a.length)[0]
}

function isTail(tail: string, path: string): boolean {
  return path.endsWith(tail) && path[path.length - tail.length - 1] === '/'
}
