// Moves the columns of a source map when parts of the text that it belongs to change their length.
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec'
import { writtenReference, type Reference } from './references.ts'
import { positionsOf, type Position } from './text-position.ts'

/** From a position on, the rest of that line moves this much to the right. */
interface Shift extends Position {
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
  const shifts = shiftsOf(text, references, urls)
  if (shifts.length === 0) return json
  const map = JSON.parse(json) as { mappings: string }
  const lines = decode(map.mappings)
  applyShifts(lines, shifts)
  return JSON.stringify({ ...map, mappings: encode(lines) })
}

/** In the order of the text. */
function shiftsOf(
  text: string,
  references: readonly Reference[],
  urls: readonly (string | undefined)[]
): Shift[] {
  const offsets = references.map(({ end }) => end)
  const ends = positionsOf(text, offsets)
  return references.flatMap((reference, at) => {
    const [url, end] = [urls[at], ends[at]]
    if (url === undefined || !end) return []
    const by = writtenReference(reference, url).length - (reference.end - reference.start)
    return { ...end, by }
  })
}

function applyShifts(lines: readonly SourceMapSegment[][], shifts: readonly Shift[]): void {
  let next = 0
  lines.forEach((segments, line) => {
    let moved = 0
    for (const segment of segments) {
      for (let shift = shifts[next]; shift; shift = shifts[++next]) {
        if (shift.line > line || (shift.line === line && shift.column > segment[0])) break
        if (shift.line === line) moved += shift.by
      }
      segment[0] += moved
    }
  })
}
