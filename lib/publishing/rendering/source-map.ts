// Moves the columns of a source map when parts of its text change length.
import { basename } from 'node:path'
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec'
import { pathFrom } from '../../runtime/files/paths.ts'
import { inlineMap } from '../compilers/compiler.ts'
import {
  positionsOf,
  writtenReference,
  type Position,
  type Referring,
  type Urls
} from '../references/references.ts'

/** From this position on, a line moves right by `by`; segments that begin before it, after `from`, are dropped. */
interface Shift extends Position {
  readonly from: number
  readonly by: number
}

// Adjusts the map, as JSON, of a text whose references were replaced. A URL never adds a line, so only the column in
// the text can change (ECMA-426, section 9). A map in another form, such as an index map, stays unchanged.
export function shiftMap(json: string, text: Referring, urls: Urls): string {
  const shifts = shiftsOf(text, urls)
  const map = shifts.length > 0 ? parseMap(json) : undefined
  if (!map) return json
  return JSON.stringify({ ...map, mappings: encode(shifted(decode(map.mappings), shifts)) })
}

const INLINE_MAP =
  /\n?\/[/*][#@] sourceMappingURL=data:application\/json;(?:charset=utf-8;)?base64,([\w+/]+={0,2})\s*(?:\*\/\s*)?$/

export function shiftInlineMap(finished: string, text: Referring, urls: Urls): string {
  return finished.replace(INLINE_MAP, (comment, data: string) => {
    const map = shiftMap(Buffer.from(data, 'base64').toString(), text, urls)
    return comment.replace(data, Buffer.from(map).toString('base64'))
  })
}

/** Takes the source map, as JSON, from the end of a text; null for an unreadable one, with which tools would fail. */
export function takeInlineMap(code: string) {
  const found = INLINE_MAP.exec(code)
  if (!found) return { code, map: undefined }
  const map = usableMap(Buffer.from(found[1] ?? '', 'base64').toString())
  return { code: code.slice(0, found.index), map }
}

export const brokenMap = (file: string, root: string) =>
  `${pathFrom(root, file)} has a source map that cannot be read, and is published without it`

/** Returns a map without members of wrong types; null for one whose mappings lead nowhere (ECMA-426, section 9). */
function usableMap(json: string): string | null {
  const { mappings, names = [], sources, sourcesContent } = parseMap(json) ?? {}
  if (mappings === undefined || !areTexts(sources) || !areTexts(names)) return null
  const lines = decode(mappings)
  const bounds = [Infinity, sources.length, Infinity, Infinity, names.length]
  const isSound = lines.every(segments =>
    segments.every(each => each.every((field, at) => field >= 0 && field < (bounds[at] ?? 0)))
  )
  if (!isSound || encode(lines) !== mappings) return null
  const content = areTexts(sourcesContent) && { sourcesContent }
  return JSON.stringify({ version: 3, names, sources, mappings, ...content })
}

const areTexts = (list: unknown): list is readonly (string | null)[] =>
  Array.isArray(list) && list.every(each => each === null || typeof each === 'string')

/** Counts the characters of a text that come from each source of its map; none for a map in another form. */
export function lengthsBySource(json: string, text: string): (readonly [string, number])[] {
  const map = parseMap(json)
  const lines = text.split('\n')
  const lengths = new Map<string, number>()
  for (const [line, segments] of (map ? decode(map.mappings) : []).entries()) {
    for (const [at, [start, source]] of segments.entries()) {
      const name = map?.sources?.[source ?? -1]
      const end = segments[at + 1]?.[0] ?? lines[line]?.length ?? start
      if (name != null) lengths.set(name, (lengths.get(name) ?? 0) + Math.max(0, end - start))
    }
  }
  return [...lengths]
}

interface ParsedMap {
  readonly mappings: string
  readonly names?: unknown
  readonly sources?: readonly (string | null)[]
  readonly sourcesContent?: unknown
}

/** Returns undefined for anything but a map with mappings of its own. */
function parseMap(json: string) {
  try {
    const map = JSON.parse(json) as ParsedMap | null
    return typeof map?.mappings === 'string' ? map : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const lastLine = (text: string) => text.length - 1 - text.lastIndexOf('\n')

function shiftsOf({ code, references }: Referring, urls: Urls): Shift[] {
  const ends = references.map(({ end }) => end)
  return positionsOf(code, ends).flatMap((end, at) => {
    const [url, reference] = [urls[at], references[at]]
    if (url === undefined || !reference) return []
    const length = lastLine(code.slice(reference.start, reference.end))
    const by = lastLine(writtenReference(reference, url)) - length
    return { ...end, from: end.column - length, by }
  })
}

function shifted(lines: readonly SourceMapSegment[][], shifts: readonly Shift[]) {
  let next = 0
  return lines.map((segments, line) => {
    const kept = new Array<SourceMapSegment>()
    let moved = 0
    for (const segment of segments) {
      for (let shift = shifts[next]; shift; shift = shifts[++next]) {
        if (shift.line > line || (shift.line === line && shift.column > segment[0])) break
        if (shift.line === line) moved += shift.by
      }
      const shift = shifts[next]
      if (shift?.line !== line || shift.from >= segment[0]) kept.push(segment)
      segment[0] += moved
    }
    return kept
  })
}

/** Returns a text with a map to itself that has the place of each word. */
export function withOwnMap(code: string, file: string): string {
  const words = (line: string) => Array.from(line.matchAll(/[\w$]+|\S/g), ({ index }) => index)
  const lines = code
    .split('\n')
    .map((line, at) => words(line).map((column): SourceMapSegment => [column, 0, at, column]))
  const sources = { sources: [basename(file)], sourcesContent: [code], names: [] }
  const json = JSON.stringify({ version: 3, ...sources, mappings: encode(lines) })
  return code + inlineMap(json)
}
