// Moves the columns of a source map, when parts of the text that it was made for get longer or shorter.
import { writtenReference, type Reference } from './references.ts'

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
  let [line, lineStart] = [0, 0]
  references.forEach((reference, at) => {
    const url = urls[at]
    if (url === undefined) return
    const { start, end } = reference
    for (let next = text.indexOf('\n', lineStart); next !== -1 && next < start;) {
      ;[line, lineStart] = [line + 1, next + 1]
      next = text.indexOf('\n', lineStart)
    }
    const by = writtenReference(reference, url).length - (end - start)
    shifts.set(line, [...(shifts.get(line) ?? []), { column: end - lineStart, by }])
  })
  return shifts
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

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Five bits in each digit, the lowest first, and the sign in the lowest of them. */
function readVlq(text: string): { value: number; length: number } {
  let [bits, length, digit] = [0, 0, 0]
  do {
    digit = DIGITS.indexOf(text[length] ?? 'A')
    bits += (digit & 31) * 32 ** length++
  } while (digit >= 32)
  const value = Math.floor(bits / 2)
  return { value: bits % 2 === 1 ? -value : value, length }
}

function writeVlq(value: number): string {
  let bits = Math.abs(value) * 2 + (value < 0 ? 1 : 0)
  let text = ''
  do {
    const rest = Math.floor(bits / 32)
    text += DIGITS[(bits % 32) + (rest > 0 ? 32 : 0)]
    bits = rest
  } while (bits > 0)
  return text
}
