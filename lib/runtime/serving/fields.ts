// The fields of a response: ours, and those that an option or middleware in front has set.
import type { ServerResponse } from 'node:http'
import {
  forbidStoring,
  isCacheControl,
  isLifetime,
  privateCacheControl
} from '../http/cache-control.ts'
import { isHttp2 } from './stream.ts'

export type Fields = readonly (readonly [name: string, value: string])[]

/** A status and its fields, made once for many requests. */
export interface PreparedResponse {
  readonly status: number
  /** Content-Length is among them, except for a 304. */
  readonly fields: Fields
  /** The names, in lower case, of fields that replace those set in front. */
  readonly said: ReadonlySet<string>
  /** An exit remembers here what it needs to send the response again. */
  remembered: unknown
}

export function prepareResponse(status: number, fields: Fields, said = NONE): PreparedResponse {
  return { status, fields, said, remembered: undefined }
}

const NONE: ReadonlySet<string> = new Set()

/** Returns the names of fields that replace those set in front, whose Cache-Control stays, as a guard relies on it. */
export function namesSaid(fields: Fields): ReadonlySet<string> {
  if (fields.length === 0) return NONE
  const names = fields.map(([name]) => name.toLowerCase())
  return new Set(names.filter(name => name !== 'set-cookie' && !isCacheControl(name)))
}

/** Sets our fields: those in `said`, from an option or a route, replace earlier ones, and `Vary` is merged. */
export function setFields(res: ServerResponse, { status, fields, said }: PreparedResponse): void {
  // A cache would give a failure with a lifetime to all requests, not only to this one (RFC 9111 section 3).
  const isFailure = status === 412 || status === 416
  if (isFailure && res.getHeaderNames().some(isLifetime)) forbidStoring(res)
  for (const [name, value] of fields) {
    const [earlier, key] = [res.getHeader(name), name.toLowerCase()]
    if (earlier !== undefined && key === 'vary') {
      res.setHeader(name, mergeVary(String(earlier), value))
    } else if (earlier === undefined || said.has(key)) res.setHeader(name, value)
  }
}

export const privateFields = (fields: Fields): Fields =>
  fields.map(([name, value]) => [name, isCacheControl(name) ? privateCacheControl(value) : value])

function mergeVary(earlier: string, value: string): string {
  const known = new Set(earlier.toLowerCase().split(/\s*,\s*/))
  if (known.has('*')) return earlier
  const added = value.split(/\s*,\s*/).filter(member => !known.has(member.toLowerCase()))
  return [earlier, ...added].join(', ')
}

// RFC 9110 sections 8 and 14.3, RFC 9530. Content-Location stays: middleware that rewrites a URL means the file by it.
const CONTENT_FIELD =
  /^(?:content-(?:type|encoding|language|length|range|digest)|repr-digest|accept-ranges|transfer-encoding|etag|last-modified)$/

/** Removes the content fields and the reason phrase that were set for some other body. */
export function removeContentFields(res: ServerResponse): void {
  for (const name of res.getHeaderNames()) if (CONTENT_FIELD.test(name)) res.removeHeader(name)
  // HTTP/2 has no reason phrase, and Node warns about one.
  if (!isHttp2(res)) res.statusMessage = ''
}

/** Returns our fields that have a value; others replace those of the same name, and `Vary` has the members of both. */
export function withMore(
  ours: readonly (readonly [name: string, value: string | undefined])[],
  more: Fields
): Fields {
  const own = ours.filter((each): each is [string, string] => each[1] !== undefined)
  if (more.length === 0) return own
  const byName = new Map<string, readonly [string, string]>()
  for (const [name, value] of [...own, ...more]) {
    const key = name.toLowerCase()
    const earlier = byName.get(key)
    const merged = key === 'vary' && earlier ? mergeVary(earlier[1], value) : value
    byName.set(key, [earlier?.[0] ?? name, merged])
  }
  return [...byName.values()]
}
