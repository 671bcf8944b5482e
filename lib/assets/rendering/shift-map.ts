// Moves the columns of a source map when parts of the text that it belongs to change their length.
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec'
import { positionsOf, writtenReference, type Position, type Reference } from './references.ts'

/** From a position on, the rest of that line moves this much to the right. */
interface Shift extends Position {
  readonly by: number
}

/**
 * The map, as JSON, of a text whose references were replaced by `urls`. A URL never adds a line, so
 * only the first field of a segment, its column in the text, can change (ECMA-426, section 9). A map in
 * another form, such as an index map, stays as it is.
 */
export function shiftMap(
  json: string,
  text: string,
  references: readonly Reference[],
  urls: readonly (string | undefined)[]
): string {
  const shifts = shiftsOf(text, references, urls)
  if (shifts.length === 0) return json
  const map = parseMap(json)
  if (!map) return json
  const lines = decode(map.mappings)
  applyShifts(lines, shifts)
  return JSON.stringify({ ...map, mappings: encode(lines) })
}

const INLINE = 'sourceMappingURL=data:application/json;'
const INLINE_DATA = /(?:charset=utf-8;)?base64,(?<data>[\w+/]+={0,2})\s*(?:\*\/\s*)?$/iy

/** Finished text, with the source map that it contains as its last comment moved as above. */
export function shiftInlineMap(
  finished: string,
  text: string,
  references: readonly Reference[],
  urls: readonly (string | undefined)[]
): string {
  INLINE_DATA.lastIndex = finished.lastIndexOf(INLINE) + INLINE.length
  const match = INLINE_DATA.lastIndex < INLINE.length ? null : INLINE_DATA.exec(finished)
  const { data } = match?.groups ?? {}
  if (!match || data === undefined) return finished
  const json = Buffer.from(data, 'base64').toString()
  const shifted = Buffer.from(shiftMap(json, text, references, urls)).toString('base64')
  const at = match.index + match[0].indexOf(data)
  return finished.slice(0, at) + shifted + finished.slice(at + data.length)
}

/** Undefined for anything but a map with mappings of its own. */
function parseMap(json: string): { mappings: string } | undefined {
  try {
    const map = JSON.parse(json) as { mappings?: unknown } | null
    return typeof map?.mappings === 'string' ? (map as { mappings: string }) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
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
