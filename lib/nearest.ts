// Finds the known name that a misspelled one most likely stands for.

// Two characters in five may differ, as in TypeScript's "Did you mean". The cost grows with the limit, and
// nobody mistypes more than six characters of a path.
const TOLERANCE = 0.4
const MAX_EDITS = 6

/**
 * The candidate that takes the fewest edits, the first of equals; undefined when all take too many. Ignores
 * the case of ASCII letters. Linear in the candidates, without an allocation for each.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let limit = Math.max(1, Math.min(MAX_EDITS, Math.floor(word.length * TOLERANCE)))
  const distanceTo = measure(word)
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > limit) continue
    const distance = distanceTo(candidate, limit)
    if (distance > limit) continue
    best = candidate
    // The next one has to be nearer.
    limit = distance - 1
  }
  return best
}

/**
 * For paths: a candidate that differs only in its leading folders is preferred to one spelled similarly,
 * the one with the longest common tail first.
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
  return best ?? nearest(path, candidates)
}

function isTail(tail: string, path: string): boolean {
  return path.endsWith(tail) && path[path.length - tail.length - 1] === '/'
}

/** The lower-case code unit at an index. */
function letterAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 65 && code <= 90 ? code + 32 : code
}

/** Returns a function from candidates to their distance; any number above `limit` means "too far". */
function measure(text: string) {
  const word = Uint16Array.from({ length: text.length }, (_, at) => letterAt(text, at))
  const rows = Array.from({ length: 3 }, () => new Uint16Array(text.length + 1)) as Rows
  return (candidate: string, limit: number): number => {
    // Where the parts that differ start and end: a common prefix and suffix cost nothing.
    let [start, ours, theirs] = [0, word.length, candidate.length]
    const shorter = Math.min(ours, theirs)
    while (start < shorter && word[start] === letterAt(candidate, start)) start++
    while (ours > start && theirs > start && word[ours - 1] === letterAt(candidate, theirs - 1)) {
      ours--
      theirs--
    }
    if (surplus(word, ours, candidate, theirs, start) > limit) return limit + 1
    return edits(word, ours, candidate, theirs, start, limit, rows)
  }
}

const balance = new Int32Array(32)

/** A lower bound of the edits: the letters that one has more of than the other, by their last 5 bits. */
function surplus(
  word: Uint16Array,
  ours: number,
  candidate: string,
  theirs: number,
  start: number
): number {
  balance.fill(0)
  let [more, less] = [0, 0]
  for (let at = start; at < ours; at++) (balance[(word[at] as number) & 31] as number)++
  for (let at = start; at < theirs; at++) (balance[letterAt(candidate, at) & 31] as number)--
  for (let letter = 0; letter < 32; letter++) {
    const count = balance[letter] as number
    if (count > 0) more += count
    else less -= count
  }
  return Math.max(more, less)
}

type Rows = [Uint16Array, Uint16Array, Uint16Array]

/**
 * Optimal string alignment: an edit inserts, deletes or replaces a letter, or swaps two neighbours. Fills in
 * only the band of the table that `limit` edits can reach, and stops when a whole row exceeds it.
 */
function edits(
  word: Uint16Array,
  ours: number,
  candidate: string,
  theirs: number,
  start: number,
  limit: number,
  rows: Rows
): number {
  let [current, previous, beforePrevious] = rows
  const columns = ours - start
  for (let column = 0; column <= columns; column++) previous[column] = column
  let above = -1
  for (let row = 1; row <= theirs - start; row++) {
    const letter = letterAt(candidate, start + row - 1)
    const first = Math.max(1, row - limit)
    const last = Math.min(columns, row + limit)
    let lowest = first === 1 ? row : limit + 1
    let left = lowest
    current[first - 1] = left
    // The cell above the last one is outside the band of its row.
    if (row > 1 && last === row + limit) previous[last] = limit + 1
    for (let column = first; column <= last; column++) {
      const other = word[start + column - 1]
      let cost = (previous[column - 1] as number) + (letter === other ? 0 : 1)
      cost = Math.min(cost, left + 1, (previous[column] as number) + 1)
      if (above === other && column > 1 && letter === word[start + column - 2]) {
        cost = Math.min(cost, (beforePrevious[column - 2] as number) + 1)
      }
      left = cost
      current[column] = cost
      if (cost < lowest) lowest = cost
    }
    if (lowest > limit) return limit + 1
    above = letter
    ;[current, previous, beforePrevious] = [beforePrevious, current, previous]
  }
  return previous[columns] as number
}
