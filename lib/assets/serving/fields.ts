// The fields of a response: ours, and those that a middleware in front has set.
import type { ServerResponse } from 'node:http'
import { privateCacheControl } from '../../http/cache-control.ts'
import { isHttp2 } from './connection.ts'
import type { HeaderValues } from '../settings/values-by-path.ts'

/** Name, value, name, value … as `res.writeHead` takes them. */
export type Fields = readonly string[]

/** The request field that selects a representation (RFC 9110 section 12.5.5). */
export const VARY: Fields = ['Vary', 'Accept-Encoding']
/** Where a delta may be sent as well (RFC 9842 section 6.2). */
export const VARY_BY_DICTIONARY: Fields = ['Vary', 'Accept-Encoding, Available-Dictionary']

// RFC 9111 section 5.2 and RFC 9213: a guard in front relies on those that it has set.
const CACHE_CONTROL = /(?:^|-)(?:cache|surrogate)-control$/i

/** Fields of a response. */
interface Given {
  readonly fields: Fields
  /** The names, in lower case, of those that an option or a route has said; the others are defaults. */
  readonly said: ReadonlySet<string>
}

/** The names of fields that replace what was set in front. */
export function namesSaid(fields: Fields): ReadonlySet<string> {
  const names = fields.filter((_, at) => at % 2 === 0).map(name => name.toLowerCase())
  return new Set(names.filter(name => name !== 'set-cookie' && !CACHE_CONTROL.test(name)))
}

/**
 * Sets our fields beside those that were set before: what an option said replaces them, a default does not,
 * and `Vary` has the members of both.
 */
export function setFields(res: ServerResponse, { fields, said }: Given): void {
  const isBare = res.getHeaderNames().length === 0
  for (let at = 0; at < fields.length; at += 2) {
    const [name, value] = [fields[at] as string, fields[at + 1] as string]
    const earlier = isBare ? undefined : res.getHeader(name)
    const key = name.toLowerCase()
    if (earlier !== undefined && key === 'vary')
      res.setHeader(name, mergeVary(String(earlier), value))
    else if (earlier === undefined || said.has(key)) res.setHeader(name, value)
  }
}

/** The same for one visitor: no shared cache may store it. */
export function privateFields(fields: Fields): Fields {
  return fields.map((text, at) =>
    at % 2 === 1 && CACHE_CONTROL.test(fields[at - 1] as string) ? privateCacheControl(text) : text
  )
}

/** Leaves out what would let a cache store a response that has no content, and its type. */
export function withoutContent(fields: Fields): Fields {
  return fields.filter((_, at) => {
    const name = fields[at - (at % 2)] as string
    return !CACHE_CONTROL.test(name) && !/^(?:expires|content-type)$/i.test(name)
  })
}

export function mergeVary(earlier: string, value: string): string {
  const known = new Set(earlier.toLowerCase().split(/\s*,\s*/))
  if (known.has('*')) return earlier
  const added = value.split(/\s*,\s*/).filter(member => !known.has(member.toLowerCase()))
  return [earlier, ...added].join(', ')
}

// RFC 9110 sections 8 and 14.3, and RFC 9530: fields that describe the content that is sent, and its
// validators. Content-Location stays: who rewrites a URL in front means the file.
const CONTENT_FIELDS = new Set([
  ...['content-type', 'content-encoding', 'content-language', 'content-length', 'content-range'],
  ...[
    'content-digest',
    'repr-digest',
    'accept-ranges',
    'transfer-encoding',
    'etag',
    'last-modified'
  ]
])

/** Removes the content fields and the reason phrase that were set for some other body. */
export function removeContentFields(res: ServerResponse): void {
  for (const name of res.getHeaderNames()) if (CONTENT_FIELDS.has(name)) res.removeHeader(name)
  // HTTP/2 has no reason phrase, and Node warns about one.
  if (!isHttp2(res)) res.statusMessage = ''
}

/** Those that the application adds to the responses of files. */
export function fieldsFrom(values: HeaderValues | undefined): Fields {
  return values ? Object.entries(values).flat() : NONE
}

const NONE: Fields = []

/** Fields with others in place of those of the same name; `Vary` has the members of both. */
export function withMore(fields: Fields, more: Fields): Fields {
  if (more.length === 0) return fields
  const byName = new Map<string, readonly [name: string, value: string]>()
  for (const [name, value] of pairs([...fields, ...more])) {
    const key = name.toLowerCase()
    const earlier = byName.get(key)
    const merged = key === 'vary' && earlier ? mergeVary(earlier[1], value) : value
    byName.set(key, [earlier?.[0] ?? name, merged])
  }
  return [...byName.values()].flat()
}

/** The last value of a field. */
export function valueOf(fields: Fields, name: string): string | undefined {
  if (fields.length === 0) return undefined
  return pairs(fields).findLast(([each]) => each.toLowerCase() === name.toLowerCase())?.[1]
}

export function without(fields: Fields, name: string): Fields {
  if (fields.length === 0) return fields
  return pairs(fields)
    .filter(([each]) => each.toLowerCase() !== name.toLowerCase())
    .flat()
}

function pairs(fields: Fields): [name: string, value: string][] {
  return fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : []))
}
