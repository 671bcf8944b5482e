// Lines and columns of offsets in a text.

/** Both count from 0. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** One walk over the text, so `offsets` must ascend. */
export function positionsOf(text: string, offsets: readonly number[]): Position[] {
  let [line, lineStart, lineEnd] = [0, 0, endOfLine(text, 0)]
  return offsets.map(offset => {
    while (lineEnd < offset) {
      ;[line, lineStart] = [line + 1, lineEnd + 1]
      lineEnd = endOfLine(text, lineStart)
    }
    return { line, column: offset - lineStart }
  })
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}
