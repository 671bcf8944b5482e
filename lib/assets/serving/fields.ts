// The fields of a response: ours, and those that a middleware in front has set.
import type { ServerResponse } from 'node:http'
import { isHttp2 } from './connection.ts'

/** Name, value, name, value … as `res.writeHead` takes them. */
export type Fields = readonly string[]

/** The request field that selects a representation (RFC 9110 section 12.5.5). */
export const VARY: Fields = ['Vary', 'Accept-Encoding']
/** Where a delta may be sent as well (RFC 9842 section 6.2). */
export const VARY_BY_DICTIONARY: Fields = ['Vary', 'Accept-Encoding, Available-Dictionary']

/** Sets our fields beside those that were set before: these stay, and `Vary` has the members of both. */
export function setFields(res: ServerResponse, fields: Fields, end = fields.length): void {
  const isBare = res.getHeaderNames().length === 0
  for (let at = 0; at < end; at += 2) {
    const [name, value] = [fields[at] as string, fields[at + 1] as string]
    const earlier = isBare ? undefined : res.getHeader(name)
    if (earlier === undefined) res.setHeader(name, value)
    else if (name.toLowerCase() === 'vary') res.setHeader(name, mergeVary(String(earlier), value))
  }
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
