// Tells whether a request comes from this machine, whether it opens a page, and which codings it accepts.
import type { IncomingMessage } from 'node:http'

type Requester = Pick<IncomingMessage, 'headers' | 'url'> & {
  readonly httpVersion?: string
  readonly rawHeaders?: readonly string[]
  readonly socket: { readonly remoteAddress?: string | undefined }
}

// The fields that browsers, curl and scripts of a page send, including client hints and those of navigation by script
// (Turbo, htmx, Unpoly, Inertia). A request with any other field may have come through a proxy or tunnel, each of which
// adds its own (`CF-Connecting-IP`, `True-Client-IP`), so its address does not tell who sent it.
const DIRECT = new RegExp(
  `^(?:${[
    ':\\w+|(?:accept|access-control-request|datastar|hx|if|sec|service-worker|turbo)-[\\w-]+|accept|alt-used',
    'available-dictionary|dictionary-id|authorization|cache-control|connection|content-(?:length|type)|cookie|dnt',
    'device-memory|downlink|dpr|ect|rtt|save-data|viewport-width|width|host|http2-settings|keep-alive|last-event-id',
    'origin|pragma|priority|purpose|range|referer|te|transfer-encoding|upgrade|upgrade-insecure-requests|user-agent',
    'x-(?:(?:alpine|inertia|pjax|turbo|up)-[\\w-]+|barba|csrf-token|inertia|moz|pjax|purpose|requested-with)',
    'x-(?:sec-purpose|xsrf-token)'
  ].join('|')})$`
)

// RFC 9110 section 7.2: uri-host and port, without escapes and sub-delims, which no such name needs.
const AUTHORITY = /^([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

// RFC 6761 section 6.3: browsers resolve every name below `localhost` to this machine.
const LOOPBACK_HOST = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

const LOOPBACK_ADDRESS = /^(?:(?:::ffff:)?127(?:\.\d{1,3}){3}|::1)$/i

// Links and redirects on other sites may lead to pages that only this machine may see. The host is checked too, as a
// foreign one may resolve to 127.0.0.1 (DNS rebinding); one of `hosts`, in lower case, is trusted from any address.
export function isLocal(request: Requester, hosts: ReadonlySet<string>): boolean {
  const { headers, rawHeaders = [], url, socket, httpVersion } = request
  // No browser speaks HTTP/1.0, but nginx with a bare `proxy_pass` does, and gives no other sign of itself.
  if (httpVersion === '1.0') return false
  // A target in absolute form has a host of its own, which would win (RFC 9112 section 3.2.2).
  if (!url?.startsWith('/') || !Object.keys(headers).every(name => DIRECT.test(name))) return false
  // Node takes the first host, but a proxy in front may have checked the other.
  const isHost = (name: string, at: number) => at % 2 === 0 && /^(?:host|:authority)$/i.test(name)
  if (rawHeaders.filter(isHost).length > 1) return false
  const authority = String(headers[':authority'] ?? headers.host).toLowerCase()
  const host = AUTHORITY.exec(authority)?.[1] ?? ''
  const isLoopback = LOOPBACK_HOST.test(host) && LOOPBACK_ADDRESS.test(socket.remoteAddress ?? '')
  return (isLoopback || hosts.has(host)) && isOwnOrigin(headers, authority)
}

/** Tells whether an Origin is this machine, with any port, or one of the names, which are in lower case. */
export function isLocalOrigin(origin: string, hosts: ReadonlySet<string>): boolean {
  const [, authority = ''] = /^https?:\/\/(.*)$/.exec(origin.toLowerCase()) ?? []
  const host = AUTHORITY.exec(authority)?.[1] ?? ''
  return LOOPBACK_HOST.test(host) || hosts.has(host)
}

/** Accepts a request from a page of the same origin, and one that opens a page, but not in another site's frame. */
function isOwnOrigin(headers: IncomingMessage['headers'], authority: string): boolean {
  const { origin, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination = 'document' } = headers
  if (origin !== undefined && origin.replace(/^https?:\/\//, '') !== authority) return false
  return isOwnPage(headers) || (mode === 'navigate' && destination === 'document')
}

/** Accepts a request by a page of the same origin, or by a person who typed the URL (Fetch Metadata). */
export function isOwnPage({ 'sec-fetch-site': site }: IncomingMessage['headers']): boolean {
  return site === undefined || site === 'same-origin' || site === 'none'
}

// Fetch Metadata (W3C) section 2.1: the destinations of pages. A navigation may also have `object` or `embed`.
const DOCUMENTS = new Set(['document', 'iframe', 'frame'])

type Head = Pick<IncomingMessage, 'method' | 'headers'>

/** Tells whether a request opens a page; without Fetch Metadata, `text/html` in Accept decides. */
export function opensPage({ method, headers }: Head): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  const { 'sec-fetch-mode': mode = 'navigate', 'sec-fetch-dest': dest } = headers
  if (dest !== undefined) return mode === 'navigate' && DOCUMENTS.has(dest)
  return (headers.accept ?? '').split(',').some(range => accepts(range, 'text/html'))
}

// Tells whether a request is a navigation. Without Fetch Metadata, it is one if it accepts `text/html`, or if it
// accepts anything (curl, monitors, link previews) and the last segment of its path has no dot, or has an `@` as in a
// mail address. Node's `fetch` sends only `Sec-Fetch-Mode`, browsers send both fields.
export function isNavigation({ method, headers }: Head, path: string): boolean {
  if (opensPage({ method, headers })) return true
  if ((method !== 'GET' && method !== 'HEAD') || headers['sec-fetch-dest'] !== undefined)
    return false
  const ranges = (headers.accept ?? '').split(',')
  const end = path.endsWith('/') ? path.slice(0, -1) : path
  const name = end.slice(end.lastIndexOf('/') + 1)
  const isPage = !name.includes('.') || /@|%40/.test(name)
  return ranges.length === 1 && isPage && accepts(ranges[0] ?? '', '*/*')
}

function accepts(range: string, wanted: string): boolean {
  const [type, ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
  // RFC 9110 section 12.4.2: a weight of 0 is not acceptable.
  return type === wanted && !parameters.some(parameter => /^q=0(?:\.0*)?$/.test(parameter))
}

// RFC 9110 section 12.5.3: chooses the offer with the highest weight, among equals the smallest. Identity is chosen if
// none is acceptable, and without the header, although any coding is acceptable then.
export function chooseCoding<T extends { readonly coding: string; readonly size: number }>(
  acceptEncoding: string | undefined,
  offers: readonly T[]
): T | undefined {
  const identity = offers.find(offer => offer.coding === 'identity')
  if (acceptEncoding === undefined || offers.length < 2) return identity
  const weights = weightsIn(acceptEncoding)
  let [best, bestWeight] = [identity, 0]
  for (const offer of offers) {
    const { coding, size } = offer
    // Identity is acceptable unless it is excluded, but ranks after every named coding.
    const unnamed = coding === 'identity' ? Number.MIN_VALUE : 0
    const weight = weights.get(coding) ?? weights.get('*') ?? unnamed
    if (weight === 0 || weight < bestWeight) continue
    if (weight === bestWeight && best && size >= best.size) continue
    ;[best, bestWeight] = [offer, weight]
  }
  return best
}

const CODING = /^([!#$%&'*+\-.^_`|~\w]+)[ \t]*(?:;[ \t]*q=([01](?:\.\d{0,3})?)[ \t]*)?$/i

/** Reads the first weight of each coding, and skips invalid members. */
export function weightsIn(acceptEncoding: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const member of acceptEncoding.split(',')) {
    const [, name, weight = '1'] = CODING.exec(member.trim()) ?? []
    if (name === undefined) continue
    // Section 8.4.1.3: x-gzip is gzip.
    const coding = name.toLowerCase().replace(/^x-gzip$/, 'gzip')
    if (!weights.has(coding)) weights.set(coding, Math.min(1, Number(weight)))
  }
  return weights
}
