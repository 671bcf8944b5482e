// Esbuild takes some properties for written at the very start of a stylesheet: margin, padding, inset
// and border-radius, which it may have put together from several. Their values it places rightly.
import { SourceMap, type SourceMapPayload } from 'node:module'
import { readVlq, writeVlq } from './vlq.ts'

/** Column in the text, then source, line and column of its origin, and perhaps a name. */
type Segment = number[]

const INLINE_MAP = /\/\*[#@]\s*sourceMappingURL=data:application\/json[^,*]*;base64,([\w+/=]+)/g

/** The map that esbuild made of a stylesheet, with such a property where its value is. */
export function repairMap(json: string, code: string): string {
  const map = JSON.parse(json) as { sources: string[]; mappings: string }
  const start = originOfStart(map.sources, code)
  if (!start) return json
  const isStart = (segment: Segment) => start.every((field, at) => segment[at + 1] === field)
  const lines = decode(map.mappings)
  lines.forEach((segments, line) =>
    segments.forEach((segment, at) => {
      const next = segments[at + 1]
      const isFirst = line === 0 && segment[0] === 0
      if (!isFirst && next && isStart(segment)) segment.splice(1, 3, ...next.slice(1, 4))
    })
  )
  return JSON.stringify({ ...map, mappings: encode(lines) })
}

/** Where the very start comes from: by the map that the stylesheet brought along, if it has one. */
function originOfStart(sources: readonly string[], code: string): Segment | undefined {
  const inline = [...code.matchAll(INLINE_MAP)].at(-1)?.[1]
  if (inline === undefined) return [0, 0, 0]
  try {
    const given = JSON.parse(Buffer.from(inline, 'base64').toString()) as SourceMapPayload
    const entry = new SourceMap(given).findEntry(0, 0)
    if (!('originalSource' in entry)) return undefined
    return [sources.indexOf(entry.originalSource), entry.originalLine, entry.originalColumn]
  } catch (error) {
    // Esbuild has warned of a map that is none, and made its own without it.
    if (error instanceof SyntaxError || error instanceof TypeError) return [0, 0, 0]
    throw error
  }
}

/** Every field but the column counts on from segment to segment, over lines. */
function decode(mappings: string): Segment[][] {
  const fields = [0, 0, 0, 0, 0]
  return mappings.split(';').map(line => {
    fields[0] = 0
    return (line === '' ? [] : line.split(',')).map(text => {
      let count = 0
      for (let at = 0; at < text.length; count++) {
        const { value, length } = readVlq(text.slice(at))
        fields[count] = (fields[count] ?? 0) + value
        at += length
      }
      return fields.slice(0, count)
    })
  })
}

function encode(lines: readonly Segment[][]): string {
  const fields = [0, 0, 0, 0, 0]
  const written = lines.map(line => {
    fields[0] = 0
    return line.map(segment =>
      segment
        .map((field, at) => {
          const text = writeVlq(field - (fields[at] ?? 0))
          fields[at] = field
          return text
        })
        .join('')
    )
  })
  return written.map(line => line.join(',')).join(';')
}
