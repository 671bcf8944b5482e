// What is asked of an old layer and of ours, what differs, and who is right about it.
import type { Answer, Question } from '../../support/ask.ts'

type Ask = (path: string, question?: Question) => Promise<Answer>

/** Each may contain the tag or the date of the response to a plain GET of the script. */
const REQUESTS = `
GET /app-1a2b3c4d.js
HEAD /app-1a2b3c4d.js
POST /app-1a2b3c4d.js
PUT /app-1a2b3c4d.js
DELETE /app-1a2b3c4d.js
OPTIONS /app-1a2b3c4d.js
GET /app-1a2b3c4d.js if-none-match: <etag>
GET /app-1a2b3c4d.js if-none-match: W/<etag>
GET /app-1a2b3c4d.js if-none-match: "a", <etag>, "b"
GET /app-1a2b3c4d.js if-none-match: *
GET /app-1a2b3c4d.js if-none-match: "other"
HEAD /app-1a2b3c4d.js if-none-match: <etag>
GET /app-1a2b3c4d.js if-modified-since: <date>
GET /app-1a2b3c4d.js if-modified-since: Fri, 01 Jan 1971 00:00:00 GMT
GET /app-1a2b3c4d.js if-modified-since: yesterday
GET /app-1a2b3c4d.js if-none-match: "other"; if-modified-since: <date>
GET /app-1a2b3c4d.js if-match: <etag>
GET /app-1a2b3c4d.js if-match: "other"
GET /app-1a2b3c4d.js if-unmodified-since: <date>
GET /app-1a2b3c4d.js if-unmodified-since: Fri, 01 Jan 1971 00:00:00 GMT
GET /app-1a2b3c4d.js cache-control: no-cache
GET /app-1a2b3c4d.js range: bytes=0-9
GET /app-1a2b3c4d.js range: bytes=100-
GET /app-1a2b3c4d.js range: bytes=-10
GET /app-1a2b3c4d.js range: bytes=0-
GET /app-1a2b3c4d.js range: bytes=0-99999999
GET /app-1a2b3c4d.js range: bytes=99999999-
GET /app-1a2b3c4d.js range: bytes=0-1,4-5
GET /app-1a2b3c4d.js range: bytes=a-b
GET /app-1a2b3c4d.js range: pages=1-2
GET /app-1a2b3c4d.js range: bytes=0-9; if-range: <etag>
GET /app-1a2b3c4d.js range: bytes=0-9; if-range: "other"
GET /app-1a2b3c4d.js range: bytes=0-9; if-range: <date>
GET /app-1a2b3c4d.js range: bytes=0-9; if-none-match: <etag>
GET /app-1a2b3c4d.js range: bytes=0-9; accept-encoding: gzip
HEAD /app-1a2b3c4d.js range: bytes=0-9
GET /app-1a2b3c4d.js accept-encoding: gzip
GET /app-1a2b3c4d.js accept-encoding: br
GET /app-1a2b3c4d.js accept-encoding: gzip, deflate, br
GET /app-1a2b3c4d.js accept-encoding: gzip;q=0
GET /app-1a2b3c4d.js accept-encoding: gzip, identity;q=0
HEAD /app-1a2b3c4d.js accept-encoding: gzip
GET /app-1a2b3c4d.js cookie: session=x; authorization: Bearer x
GET /app-1a2b3c4d.js?v=1&v=2
GET /app-1a2b3c4d.js/
GET //app-1a2b3c4d.js
GET /./app-1a2b3c4d.js
GET /docs/../app-1a2b3c4d.js
GET /docs/%2e%2e/app-1a2b3c4d.js
GET /../package.json
GET /..%2fpackage.json
GET /app-1a2b3c4d.%6as
GET /app-1a2b3c4d.js%
GET /app-1a2b3c4d.js%ff
GET /app-1a2b3c4d.js%00.png
GET /docs%5cindex.html
GET /APP-1a2b3c4d.js
GET /.env
GET /logo.png accept-encoding: gzip, deflate, br
GET /docs
GET /docs/
GET /missing.js
HEAD /missing.js
POST /missing.js
GET /missing.js accept: text/html; sec-fetch-mode: navigate; sec-fetch-dest: document
GET /orders/7 accept: text/html; sec-fetch-mode: navigate; sec-fetch-dest: document
GET /orders/7 accept: */*; sec-fetch-mode: cors; sec-fetch-dest: empty
GET /orders/7 accept: application/json`

type Verdict = readonly [
  /** `either`: both follow the RFCs, and neither serves anybody better. */
  right: 'ours' | 'theirs' | 'either',
  difference: RegExp,
  why: string,
  /** The requests that it is about, if not all. */
  requests?: RegExp
]

const DOTS = 'RFC 3986 section 5.2.4: clients remove dot segments before they send a path'
const LETTER =
  'RFC 3986 section 6.2.2.2: %6a is j. Refused on purpose: a guard that compares paths would be bypassed'
const SHELL = 'the page of an application is no script, and no data for a fetch()'
const RELATIVE = 'relative links of the page resolve against the path with a slash'

/** The first that fits a difference. Where a status differs, all else follows from that. */
export const VERDICTS: readonly Verdict[] = [
  ['theirs', /^status: 200 -> 404/, LETTER, /%6as/],
  ['either', /^status: 200 -> 404/, DOTS, /\/\.{1,2}\/app|%2e/],
  ['ours', /^status: (?:200|404) -> 405/, 'RFC 9110 section 15.5.6', /^(?:POST|PUT|DELETE)/],
  ['ours', /^status: (?:200|404) -> 204/, 'RFC 9110 section 9.3.7', /^OPTIONS/],
  ['ours', /^status: 200 -> 304/, 'RFC 9110 sections 13.1.2 and 13.1.3', /if-(?:none|modified)/],
  ['ours', /^status: 200 -> 412/, 'RFC 9110 sections 13.1.1 and 13.1.4', /if-(?:match|unmod)/],
  ['ours', /^status: 200 -> 206/, 'RFC 9110 section 14.2: downloads continue', / range: /],
  ['ours', /^status: 206 -> 200/, 'RFC 9110 section 13.1.5', /if-range: "other"/],
  ['ours', /^status: 206 -> 200/, 'RFC 9110 section 14.2: it is for GET', /^HEAD/],
  ['either', /^status: 206 -> 200/, 'RFC 9110 section 14.2: only the first was sent', /0-1,4-5/],
  ['ours', /^status: 206 -> 200/, 'RFC 9110 section 14.2: another unit is ignored', /a-b|pages/],
  ['ours', /^(?:body of 206|content-range)/, 'RFC 9110 section 14.1.2: its end', /bytes=-10/],
  ['either', /^status: 200 -> 416/, 'RFC 9110 section 14.2: a server may ignore Range'],
  ['ours', /^status: 200 -> 301/, RELATIVE, /\/docs$/],
  ['ours', /^status: 200 -> 404/, SHELL],
  ['ours', /^status: 404 -> 200/, 'a page of the router can be reloaded', /navigate/],
  ['ours', /^status: 200 -> 400/, 'RFC 9110 section 15.5.1: the path is no text', /%(?:ff|00.*)?$/],
  ['either', /^status: 40[03] -> 404/, 'either refuses; our 404 is no-store'],
  ['either', /^body of 40[04]/, 'the text of an error'],
  ['ours', /^etag/, 'RFC 9110 section 8.8.3: it revalidates, and a weak one suits no range'],
  ['ours', /^last-modified/, 'RFC 9110 section 8.8.2'],
  ['ours', /^x-content-type-options/, 'a file is not run as a script unless it is one'],
  ['ours', /^accept-ranges/, 'RFC 9110 section 14.3: for a file, and for nothing else'],
  ['ours', /^use-as-dictionary/, 'RFC 9842: the next version is sent as a difference'],
  ['ours', /^vary: none/, 'RFC 9110 section 12.5.5'],
  ['ours', /^(?:content-encoding: none|body of 200)/, 'RFC 9110 section 12.5.3: fewer bytes'],
  ['either', /^content-type/, 'no body, or a type without a charset'],
  ['ours', /^cache-control: none -> no-store/, 'RFC 9111 section 4.2.2: a CDN may store a 404'],
  ['ours', /^cache-control: .*immutable -> (?:no-cache|public, max-age=0)/, 'it may change'],
  ['either', /^cache-control/, 'other words for the same, or on a 304 as well']
]

/** How a message is framed is Node's affair. */
const IGNORED = new Set(['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'])

/** Tags and dates differ from server to server. */
const KINDS: Readonly<Record<string, (value: string) => string>> = {
  etag: value => (value.startsWith('W/') ? 'weak' : 'strong'),
  'last-modified': () => 'a date'
}

/** @returns what differs in the responses of two sites, `status: 200 -> 304`, with the request */
export async function differencesBetween(theirs: Ask, ours: Ask) {
  const found: { difference: string; request: string }[] = []
  const [old, own] = await Promise.all([theirs, ours].map(answersOf))
  for (const [at, request] of REQUESTS.trim().split('\n').entries()) {
    const both = [old?.[at], own?.[at]] as [Answer, Answer]
    for (const difference of differencesOf(...both)) found.push({ difference, request })
  }
  return found
}

async function answersOf(ask: Ask): Promise<readonly Answer[]> {
  const { headers: script } = await ask('/app-1a2b3c4d.js')
  const answers: Answer[] = []
  for (const request of REQUESTS.trim().split('\n')) {
    const [, method = '', path = '', fields = ''] = /^(\S+) (\S+) ?(.*)$/.exec(request) ?? []
    const filled = fields
      .replace('<etag>', script.etag ?? '"none"')
      .replace('<date>', script['last-modified'] ?? '')
      .replace('W/W/', 'W/')
    const found = filled.matchAll(/([\w-]+): ((?:[^;]|;q)+)/g)
    const headers = Object.fromEntries(
      Array.from(found, ([, name = '', value = '']) => [name, value])
    )
    answers.push(await ask(path, { method, headers }))
  }
  return answers
}

function differencesOf(before: Answer, after: Answer): string[] {
  if (before.status !== after.status) return [`status: ${before.status} -> ${after.status}`]
  const valueOf = ({ headers }: Answer, name: string) => {
    const value = headers[name]
    return value === undefined ? 'none' : (KINDS[name]?.(String(value)) ?? String(value))
  }
  const names = new Set([...Object.keys(before.headers), ...Object.keys(after.headers)])
  const fields = [...names]
    .filter(name => !IGNORED.has(name) && valueOf(before, name) !== valueOf(after, name))
    .map(name => `${name}: ${valueOf(before, name)} -> ${valueOf(after, name)}`)
  return before.bytes.equals(after.bytes) ? fields : [`body of ${after.status}`, ...fields]
}
