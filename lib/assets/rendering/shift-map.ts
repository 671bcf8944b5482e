// Moves the columns of a source map, when parts of the text that it was made for get longer or shorter.
import { writtenReference, type Reference } from './references.ts'
import { readVlq, writeVlq } from './vlq.ts'

/** From a column on, everything in that line of the text lies this much further right. */
interface Shift {
  readonly column: number
  readonly by: number
}

/**
 * The map, as JSON, of a text whose references were replaced by `urls`. No URL brings a new line, so
 * that only the first field of a segment, its column in the text, can change (ECMA-426 section 9).
 */
export function shiftMap(
  json: string,
  text: string,
  references: readonly Reference[],
  urls: readonly (string | undefined)[]
): string {
  const shifts = shiftsByLine(text, references, urls)
  if (shifts.size === 0) return json
  const map = JSON.parse(json) as { mappings: string }
  const lines = map.mappings.split(';').map((line, at) => shiftLine(line, shifts.get(at) ?? []))
  return JSON.stringify({ ...map, mappings: lines.join(';') })
}

function shiftsByLine(
  text: string,
  references: readonly Reference[],
  urls: readonly (string | undefined)[]
): Map<number, Shift[]> {
  const shifts = new Map<number, Shift[]>()
  let [line, lineStart, lineEnd] = [0, 0, endOfLine(text, 0)]
  references.forEach((reference, at) => {
    const url = urls[at]
    if (url === undefined) return
    const { start, end } = reference
    while (lineEnd < start) {
      ;[line, lineStart] = [line + 1, lineEnd + 1]
      lineEnd = endOfLine(text, lineStart)
    }
    const by = writtenReference(reference, url).length - (end - start)
    const shift = { column: end - lineStart, by }
    const known = shifts.get(line)
    if (known) known.push(shift)
    else shifts.set(line, [shift])
  })
  return shifts
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

function shiftLine(line: string, shifts: readonly Shift[]): string {
  if (line === '' || shifts.length === 0) return line
  let [before, after, moved, next] = [0, 0, 0, 0]
  const segments = line.split(',').map(segment => {
    const { value, length } = readVlq(segment)
    before += value
    for (let shift = shifts[next]; shift && shift.column <= before; shift = shifts[++next]) {
      moved += shift.by
    }
    const written = writeVlq(before + moved - after) + segment.slice(length)
    after = before + moved
    return written
  })
  return segments.join(',')
}
