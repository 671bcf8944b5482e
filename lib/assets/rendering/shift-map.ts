// Moves the columns of a source map when parts of the text that it belongs to change their length.
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec'
import { writtenReference, type Reference } from './references.ts'
import { positionsOf } from './text-position.ts'

/** From a column on, the rest of that line moves this much to the right. */
interface Shift {
  readonly column: number
  readonly by: number
}

/**
 * The map, as JSON, of a text whose references were replaced by `urls`. A URL never adds a line, so
 * only the first field of a segment, its column in the text, can change (ECMA-426, section 9).
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
  const lines = decode(map.mappings)
  for (const [line, own] of shifts) shiftLine(lines[line] ?? [], own)
  return JSON.stringify({ ...map, mappings: encode(lines) })
}

function shiftsByLine(
  text: string,
  references: readonly Reference[],
  urls: readonly (string | undefined)[]
): Map<number, Shift[]> {
  const shifts = new Map<number, Shift[]>()
  const ends = positionsOf(
    text,
    references.map(({ end }) => end)
  )
  references.forEach((reference, at) => {
    const [url, position] = [urls[at], ends[at]]
    if (url === undefined || !position) return
    const { line, column } = position
    const by = writtenReference(reference, url).length - (reference.end - reference.start)
    const known = shifts.get(line)
    if (known) known.push({ column, by })
    else shifts.set(line, [{ column, by }])
  })
  return shifts
}

function shiftLine(segments: readonly SourceMapSegment[], shifts: readonly Shift[]): void {
  let [moved, next] = [0, 0]
  for (const segment of segments) {
    for (let shift = shifts[next]; shift && shift.column <= segment[0]; shift = shifts[++next]) {
      moved += shift.by
    }
    segment[0] += moved
  }
}
