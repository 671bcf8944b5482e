// The known name that a person most likely meant.

// Two letters in five may be wrong, as in TypeScript's own "did you mean".
const TOLERANCE = 0.4

/** The candidate nearest to the word in edits, or `undefined` when none is near. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let limit = Math.max(1, Math.floor(word.length * TOLERANCE))
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > limit) continue
    const distance = edits(word.toLowerCase(), candidate.toLowerCase())
    if (distance > limit) continue
    best = candidate
    // From here on only a nearer one is better.
    limit = distance - 1
  }
  return best
}

// Optimal string alignment: insert, delete, replace a letter, or swap two neighbours.
function edits(from: string, to: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped =
        row > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (beforePrevious[column - 2] ?? 0) + 1 : Infinity
      )
    }
    beforePrevious = previous
    previous = current
  }
  return previous[to.length] ?? 0
}
