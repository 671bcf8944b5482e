// Links that are announced in the `Link` header, and ahead of the response in a 103 (RFC 8297).
import type { IncomingMessage, ServerResponse } from 'node:http'

interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

/**
 * Adds values to the `Link` header that it does not contain yet, unless the header has been sent.
 * @param sendsHints whether a 103 is sent ahead of the response
 */
export function announceLinks(
  { req, res }: Exchange,
  links: readonly string[],
  sendsHints: boolean
): void {
  if (res.headersSent) return
  const present = new Set([res.getHeader('Link') ?? []].flat().map(String))
  const added = [...new Set(links)].filter(link => !present.has(link))
  if (added.length === 0) return
  res.appendHeader('Link', added)
  if (!sendsHints || !acceptsHints(req)) return
  const link = added.filter(isSendable)
  if (link.length > 0) res.writeEarlyHints({ link })
}

/**
 * Only a browser that opens a page makes use of hints, and some clients mistake any 1xx for the final
 * response (RFC 8297 section 3). HTTP/1.0 has no 1xx (RFC 9110 section 15.2).
 */
function acceptsHints({ method, headers, httpVersion }: IncomingMessage): boolean {
  return method === 'GET' && httpVersion !== '1.0' && headers['sec-fetch-mode'] === 'navigate'
}

// Node rejects spaces in a quoted value, such as two integrity hashes or a media query.
// A parameter's name ends at the first `=`, which keeps matching linear.
const SENDABLE = /^<[^>]*>(?:\s*;\s*[^=;"\s]+(?:=(?:"[^;"\s]*"|[^;"\s]*))?)*$/

/** Whether Node accepts the value of a `Link` header in a 103. */
export function isSendable(link: string): boolean {
  return SENDABLE.test(link)
}
