// The fields of a response: ours, and those that a middleware in front has set.
import type { ServerResponse } from 'node:http'

/** Name, value, name, value … as `res.writeHead` takes them. */
export type Fields = readonly string[]

/** The request field that selects a representation (RFC 9110 section 12.5.5). */
export const VARY: Fields = ['Vary', 'Accept-Encoding']

/** Our fields, `Vary` merged with one that was set before: `res.writeHead` would replace it. */
export function withEarlierVary(res: ServerResponse, fields: Fields): Fields {
  const earlier = res.getHeader('Vary')
  const at = earlier === undefined ? -1 : fields.indexOf('Vary')
  return at === -1 ? fields : fields.with(at + 1, mergeVary(String(earlier)))
}

function mergeVary(earlier: string): string {
  const members = earlier.toLowerCase().split(/\s*,\s*/)
  const isCovered = members.includes('*') || members.includes('accept-encoding')
  return isCovered ? earlier : `${earlier}, Accept-Encoding`
}

// RFC 9110 section 8: fields that describe content, and its validators.
const CONTENT_FIELDS = [
  ...['Content-Type', 'Content-Encoding', 'Content-Language', 'Content-Length', 'Content-Range'],
  ...['Transfer-Encoding', 'ETag', 'Last-Modified']
]

/** Removes the content fields and the reason phrase that were set for some other body. */
export function removeContentFields(res: ServerResponse): void {
  for (const name of CONTENT_FIELDS) if (res.hasHeader(name)) res.removeHeader(name)
  // HTTP/2 has no reason phrase, and Node warns about one.
  if (res.req.httpVersionMajor < 2) res.statusMessage = ''
}
