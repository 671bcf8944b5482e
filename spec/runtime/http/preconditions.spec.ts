// Conditional requests: preconditions, entity tags, ranges and dates.
import type { IncomingHttpHeaders } from 'node:http'
import { formatHttpDate, parseHttpDate, etagMatches } from '../../../lib/runtime/http/validators.ts'
import { formatEtag } from '../../../lib/runtime/http/validators.ts'
import {
  type ConditionalHeaders,
  evaluatePreconditions,
  type Evaluation,
  chooseRange
} from '../../../lib/runtime/http/preconditions.ts'
import { chooseCoding, isLocal, isNavigation } from '../../../lib/runtime/http/requests.ts'
import { growsInProportion, test, within, words } from '../../support/index.ts'

const MODIFIED = Date.UTC(2020, 0, 1)
const CLOCK = Date.UTC(2025, 0, 1)
const DAY = 86_400_000
const EARLIER = formatHttpDate(MODIFIED - DAY)
const EQUAL = formatHttpDate(MODIFIED)
const DAY_LATER = formatHttpDate(MODIFIED + DAY)
const FUTURE = formatHttpDate(CLOCK + DAY)

// RFC 9110 section 13.2.2 as a table; the first row that fits counts. T: the
// condition holds. F: it does not. -: there is none, or it has to be ignored.
type Outcome = Evaluation['status']
type Truth = 'T' | 'F' | '-'
const TABLE: readonly [Truth | ' ', Truth | ' ', Truth | ' ', Truth | ' ', string, Outcome][] = [
  // If-Match, If-Unmodified-Since, If-None-Match, If-Modified-Since, methods, outcome
  [' ', ' ', ' ', ' ', 'OPTIONS TRACE CONNECT', undefined],
  ['F', ' ', ' ', ' ', 'any', 412],
  ['-', 'F', ' ', ' ', 'any', 412],
  [' ', ' ', 'F', ' ', 'GET HEAD QUERY', 304],
  [' ', ' ', 'F', ' ', 'PUT POST DELETE', 412],
  [' ', ' ', '-', 'F', 'GET HEAD QUERY', 304],
  [' ', ' ', ' ', ' ', 'any', undefined]
]

function judgeByTable(truths: readonly Truth[], method: string): Outcome | undefined {
  return TABLE.find(
    ([ifMatch, ifUnmodifiedSince, ifNoneMatch, ifModifiedSince, methods]) =>
      [ifMatch, ifUnmodifiedSince, ifNoneMatch, ifModifiedSince].every(
        (cell, column) => cell === ' ' || cell === truths[column]
      ) &&
      (methods === 'any' || methods.split(' ').includes(method))
  )?.[5]
}

type Tag = 'strong' | 'weak' | 'none'
interface Current {
  readonly tag: Tag
  readonly dated: boolean
  readonly reading: 'exact' | 'before'
}
// A field's value, and whether its condition holds, known without parsing it.
type Rule = (current: Current) => Truth
type Case = readonly [text: string | undefined, rule: Rule]

const truth = (holds: boolean): Truth => (holds ? 'T' : 'F')
const absent = (): Truth => '-'
const exists = ({ tag, dated }: Current) => tag !== 'none' || dated
const isStrong: Rule = ({ tag }) => truth(tag === 'strong')
const isOther: Rule = ({ tag }) => truth(tag === 'none')

const IF_MATCH: readonly Case[] = [
  [undefined, absent],
  ['"', () => 'F'],
  ['"x"', isStrong],
  ['"y"', () => 'F'],
  ['"y", "x"', isStrong],
  ['W/"x"', () => 'F'],
  ['*', current => truth(exists(current))]
]
const IF_NONE_MATCH: readonly Case[] = [
  [undefined, absent],
  ['"', () => 'T'],
  ['"x"', isOther],
  ['"y"', () => 'T'],
  ['"y", "x"', isOther],
  ['W/"x"', isOther],
  ['*', current => truth(!exists(current))]
]
const onlyDated =
  (rule: Rule): Rule =>
  current =>
    current.dated ? rule(current) : '-'
const IF_UNMODIFIED_SINCE: readonly Case[] = [
  [undefined, absent],
  ['2030', absent],
  [EARLIER, onlyDated(() => 'F')],
  [EQUAL, onlyDated(() => 'T')],
  [DAY_LATER, onlyDated(() => 'T')]
]
const IF_MODIFIED_SINCE: readonly Case[] = [
  [undefined, absent],
  ['2030', absent],
  [EARLIER, onlyDated(() => 'T')],
  [EQUAL, onlyDated(() => 'F')],
  [DAY_LATER, onlyDated(({ reading }) => truth(reading === 'exact'))],
  [FUTURE, onlyDated(() => 'T')]
]
const METHODS = words('GET HEAD QUERY PUT POST DELETE OPTIONS TRACE CONNECT')
const CURRENT: readonly Current[] = (['strong', 'weak', 'none'] as const).flatMap(tag =>
  [true, false].flatMap(dated =>
    (['exact', 'before'] as const).map(reading => ({ tag, dated, reading }))
  )
)
const TAGS = { strong: '"x"', weak: 'W/"x"', none: undefined }

test('every combination of preconditions, validators and methods has the right status (RFC 9110)', t => {
  const wrong: unknown[] = []
  let cases = 0
  const check = (headers: ConditionalHeaders, truths: Truth[], current: Current) => {
    const etag = TAGS[current.tag]
    const validators = { etag, lastModified: current.dated ? MODIFIED : undefined }
    for (const method of METHODS) {
      cases++
      const expected = judgeByTable(truths, method)
      const options = { ifModifiedSince: current.reading, now: CLOCK }
      const { status } = evaluatePreconditions(method, headers, validators, options)
      if (status !== expected) wrong.push({ method, headers, validators, expected, status })
    }
  }
  for (const current of CURRENT)
    for (const [ifMatch, matchRule] of IF_MATCH)
      for (const [ifUnmodified, unmodifiedRule] of IF_UNMODIFIED_SINCE)
        for (const [ifNoneMatch, noneMatchRule] of IF_NONE_MATCH)
          for (const [ifModified, modifiedRule] of IF_MODIFIED_SINCE) {
            const headers = {
              'if-match': ifMatch,
              'if-unmodified-since': ifUnmodified,
              'if-none-match': ifNoneMatch,
              'if-modified-since': ifModified
            }
            const rules = [matchRule, unmodifiedRule, noneMatchRule, modifiedRule]
            const truths = rules.map(rule => rule(current))
            check(headers, truths, current)
          }
  t.deepEqual(wrong.slice(0, 5), [])
  t.true(cases >= 100_000, `${cases} cases`)
})

test('the reason of a 412 says that a weak ETag in If-Match matches nothing', t => {
  const reasonFor = (match: string, etag: string) =>
    evaluatePreconditions('PUT', { 'if-match': match }, { etag }).reason
  const weak = 'If-Match names a weak ETag, which matches nothing'
  // nginx has compressed the page, and a route has given the page a weak ETag.
  for (const etag of ['"x"', 'W/"x"']) t.is(reasonFor('W/"x"', etag), weak)
  t.is(reasonFor('"y", W/"x"', '"x"'), weak)
  t.is(reasonFor('"W/x"', '"x"'), 'If-Match does not name the ETag')
  t.is(reasonFor('W/"x", "x"', '"x"'), 'If-Match names the ETag')
})

const weakly = (list: string, etag = '"x"') => etagMatches(list, { etag }, 'weak')

test('an identifier becomes a valid ETag, quoted once, or is rejected', t => {
  for (const [opaque, weak, expected] of [
    ['a,b', false, '"a,b"'],
    ['identifier', true, 'W/"identifier"'],
    ['"x"', false, '"x"'],
    ['W/"x"', true, 'W/"x"'],
    ['"x"', true, 'W/"x"'],
    ['""', false, '""']
  ] as const) {
    t.is(formatEtag(opaque, weak), expected)
  }
  for (const wrong of ['', 'a"b', '"', 'a b', 'a\r\nX: y', '\0', 'ä', '"ä"', '\x7f', '"a\n"'])
    t.throws(() => formatEtag(wrong), { instanceOf: TypeError, message: /ETag must be/ }, wrong)
})

test('If-None-Match is read with lists, W/, *, tags without quotes, and commas inside of quotes', t => {
  for (const list of ['"x"', 'W/"x"', '*', '"a","x" ,"b"', 'W/"a", W/"x"', 'x', 'a, x']) {
    t.true(weakly(list), list)
    t.true(weakly(list, 'W/"x"'), list)
  }
  t.true(weakly('W/x'))
  t.true(weakly('"a,b", "c"', '"a,b"'))
  t.false(weakly('"a,b"', '"a"'))
  const none = ['', ' ', ',', '"', '"y"', '"X"', 'w/"x"', '"x', '"x"y', '"y" "x"', '"y", *']
  for (const list of none) t.false(weakly(list), list)
  t.false(etagMatches('"x"', {}, 'weak'))
  t.false(etagMatches('*', {}, 'weak'))
})

const ETAG = '"abc"'
const DATE = 'Tue, 14 Nov 2023 22:13:20 GMT'
const AT = 1_700_000_000_000
const FILE = { etag: ETAG, lastModified: AT }

test('If-Range leads to the whole file for a weak ETag, a date of this second, or no validator', t => {
  const of = (ifRange: string, validators: object, now = AT + 60_000) =>
    chooseRange('GET', { range: 'bytes=0-1', 'if-range': ifRange }, validators, 10, now)
  t.is(of('W/"abc"', { etag: 'W/"abc"' }), 'whole')
  t.is(of(DATE, FILE, AT + 999), 'whole')
  t.deepEqual(of(DATE, FILE, AT + 1000), { start: 0, end: 1 })
  t.is(of(ETAG, {}), 'whole')
  t.is(of(DATE, { etag: ETAG }), 'whole')
})

const NOV_1994 = Date.UTC(1994, 10, 6, 8, 49, 37)
const NOW = Date.UTC(2026, 0, 15)

test('HTTP dates are written as IMF-fixdate, for the years 0000 to 9999 only', t => {
  t.is(formatHttpDate(0), 'Thu, 01 Jan 1970 00:00:00 GMT')
  t.is(formatHttpDate(NOV_1994 + 999), 'Sun, 06 Nov 1994 08:49:37 GMT')
  for (const wrong of [Number.NaN, Infinity, Date.UTC(10_000, 0), Date.parse('-000001-01-01')])
    t.throws(() => formatHttpDate(wrong), { instanceOf: TypeError, message: /years 0000 to 9999/ })
})

test('dates in all three HTTP formats are parsed as GMT, whatever the server’s time zone', t => {
  const dates = ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT']
  for (const date of [...dates, 'Sun Nov  6 08:49:37 1994'])
    for (const zone of ['UTC', 'America/New_York', 'Asia/Kolkata']) {
      const parsed = within(zone, () => parseHttpDate(date, NOW), 'TZ')
      t.is(parsed, NOV_1994, `${date} ${zone}`)
    }
})

function yearOf(digits: string, now: number): number | undefined {
  const date = parseHttpDate(`Friday, 01-Jan-${digits} 00:00:00 GMT`, now)
  return date === undefined ? undefined : new Date(date).getUTCFullYear()
}

test('a two-digit year is at most fifty years ahead, to the second', t => {
  for (const year of [2026, 2076, 1977, 1999]) t.is(yearOf(String(year).slice(2), NOW), year)
  t.is(yearOf('05', Date.UTC(2099, 0)), 2105)
  t.is(parseHttpDate('Wednesday, 15-Jan-76 00:00:00 GMT', NOW), Date.UTC(2076, 0, 15))
  t.is(parseHttpDate('Thursday, 15-Jan-76 00:00:01 GMT', NOW), Date.UTC(1976, 0, 15, 0, 0, 1))
})

const UNREADABLE = [
  'Wed, 29 Feb 2017 00:00:00 GMT',
  'Sat, 31 Apr 2016 00:00:00 GMT',
  ...['', ' ', '2030', '0', 'yesterday', '1994-11-06T08:49:37Z'],
  'Sun, 06 Nov 1994 08:49:37',
  'Sun, 06 Nov 1994 08:49:37 UTC',
  'Sun, 06 Nov 1994 08:49:37 +0000',
  'Sun, 06 Nov 1994 24:00:00 GMT',
  'Sun, 06 Nov 1994 08:60:00 GMT',
  'Sun, 6 Nov 1994 08:49:37 GMT',
  'sun, 06 nov 1994 08:49:37 gmt',
  'Sun, 06 Nov 1994 08:49:37 GMT; length=3',
  ' Sun, 06 Nov 1994 08:49:37 GMT',
  'Sun Nov 6 08:49:37 1994',
  'Sun, 00 Nov 1994 08:49:37 GMT'
]

test('only valid HTTP dates are parsed, among them leap days and leap seconds', t => {
  t.is(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT'), Date.UTC(2017, 0))
  t.is(parseHttpDate('Mon, 29 Feb 2016 00:00:00 GMT'), Date.UTC(2016, 1, 29))
  for (const text of UNREADABLE) t.is(parseHttpDate(text, NOW), undefined, text)
})

// What a request says of itself: whether it is local, opens a page, offers a dictionary.

const NONE: ReadonlySet<string> = new Set()

function from(
  remoteAddress: string | undefined,
  headers: IncomingHttpHeaders,
  { url = '/', hosts = NONE } = {}
): boolean {
  return isLocal({ url, headers, socket: { remoteAddress } }, hosts)
}

test('a request from a loopback address to a loopback name is local', t => {
  for (const address of words('127.0.0.1 127.8.9.10 ::1 ::FFFF:127.0.0.1'))
    for (const host of words('LOCALHOST:3000 shop.localhost 127.0.0.1:80 [::1]:3'))
      t.true(from(address, { host }), `${address} ${host}`)
  t.true(from('::1', { ':authority': 'localhost:3000' }), 'HTTP/2')
})

test('a request from another address, or to another name (DNS rebinding), is not local', t => {
  for (const address of [undefined, '', ...words('10.0.0.1 ::ffff:10.0.0.1 ::2 1127.0.0.1')])
    t.false(from(address, { host: 'localhost' }), String(address))
  const foreign = words(`evil.example 127.0.0.1.evil.example localhost.evil.example xlocalhost
    localhost: localhost:x localhost:1:2 a@localhost localhost/
    . localhost. 127.1 [::1 ::1 [::1]x 2130706433`)
  for (const host of [...foreign, '', 'localhost, a', undefined])
    t.false(from('127.0.0.1', host === undefined ? {} : { host }), host)
  t.false(from('127.0.0.1', { ':authority': 'evil.example', host: 'localhost' }), 'HTTP/2')
  t.false(from('127.0.0.1', { host: 'localhost' }, { url: 'http://evil.example/' }))
})

test('a request that a proxy may have forwarded, such as one in HTTP/1.0, is not local', t => {
  const hosts = new Set(['box'])
  for (const name of words(`forwarded via x-forwarded-for x-forwarded-host x-forwarded-proto x-forwarded-port x-real-ip
    x-original-host x-original-url cf-connecting-ip cf-ray cdn-loop true-client-ip fly-client-ip x-envoy-external-address
    x-anything proxy-connection`)) {
    t.false(from('127.0.0.1', { host: 'localhost', [name]: '' }), name)
    t.false(from('127.0.0.1', { host: 'box', [name]: '127.0.0.1' }, { hosts }), name)
  }
  const request = { url: '/', headers: { host: 'localhost' }, socket: { remoteAddress: '::1' } }
  for (const httpVersion of ['1.0', '1.1', '2.0'])
    t.is(isLocal({ ...request, httpVersion }, NONE), httpVersion !== '1.0')
})

test('a request from another origin is local only if a link opens a page', t => {
  const host = 'localhost:3000'
  for (const origin of ['http://localhost:3000', 'https://localhost:3000'])
    t.true(from('::1', { host, origin }), origin)
  for (const origin of ['null', '', 'http://localhost', 'http://localhost:30001', 'http://evil'])
    t.false(from('::1', { host, origin }), origin)
  for (const [isLink, site, mode, dest] of [
    [true, 'cross-site', 'navigate'],
    [true, 'same-site', 'navigate'],
    [true, 'cross-site', 'navigate', 'document'],
    [true, 'same-origin', 'cors'],
    [true, 'none'],
    [false, 'cross-site', 'no-cors'],
    [false, 'same-site', 'no-cors'],
    ...['iframe', 'frame', 'object', 'embed'].map(
      dest => [false, 'cross-site', 'navigate', dest] as const
    )
  ] as const) {
    const fetched = { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest }
    t.is(from('::1', { host, ...fetched }), isLink, JSON.stringify(fetched))
  }
})

test('a host that is listed is trusted from any address', t => {
  const hosts = new Set(['box.local', '192.168.1.5', '[fd00::1]'])
  for (const host of words('box.local BOX.local:3000 192.168.1.5:80 [fd00::1]:80'))
    t.true(from('192.168.1.9', { host }, { hosts }), host)
  const foreign = { host: 'box.local', origin: 'http://a.example' }
  for (const headers of [{ host: 'localhost' }, { host: 'other.local' }, foreign])
    t.false(from('192.168.1.9', headers, { hosts }))
})

const CHROMIUM =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

test('a navigation is recognized by method, path, Sec-Fetch headers and Accept', t => {
  const mode = 'sec-fetch-mode'
  const dest = 'sec-fetch-dest'
  for (const [isExpected, headers] of [
    [true, { [mode]: 'navigate', [dest]: 'document', accept: '*/*' }],
    [true, { [mode]: 'navigate', [dest]: 'iframe' }],
    [true, { [dest]: 'document' }],
    [false, { [mode]: 'cors', [dest]: 'empty', accept: 'text/html' }],
    [false, { [mode]: 'no-cors', [dest]: 'image', accept: CHROMIUM }],
    [true, { [mode]: 'cors', accept: 'text/html' }],
    ['without a dot', { [mode]: 'cors', accept: '*/*' }],
    [false, { [mode]: 'cors', accept: 'application/json' }],
    [false, { [mode]: 'navigate', [dest]: 'object' }],
    [false, { [dest]: 'empty', accept: CHROMIUM }],
    [true, { accept: CHROMIUM }],
    [true, { accept: 'a/b , Text/HTML ;q=0.1' }],
    [true, { accept: 'text/html;level=1' }],
    [true, { accept: 'text/html;q=0.001' }],
    ['without a dot', { accept: '*/*' }],
    ['without a dot', { accept: ' */* ; q=0.8' }],
    [false, { accept: 'application/json, */*' }],
    [false, { accept: '*/*;q=0' }],
    [false, {}],
    [false, { accept: '' }],
    [false, { accept: 'text/*' }],
    [false, { accept: '*/*, text/html ; Q=0.000' }],
    [false, { accept: 'text/html;level=1;q=0' }],
    [false, { accept: 'text/htmlx, xtext/html' }]
  ] as const) {
    const shown = JSON.stringify(headers)
    const navigates = (path: string, method?: string) => isNavigation({ method, headers }, path)
    for (const path of ['/', '/orders/7', '/v1.2/users', '/@a@b.c', '/a%40b.c/', '/v1.2/x/'])
      t.is(navigates(path, 'GET'), isExpected !== false, shown)
    for (const path of ['/docs/v1.2', '/docs/v1.2/', '/.'])
      t.is(navigates(path, 'HEAD'), isExpected === true, shown)
    for (const method of ['POST', 'OPTIONS', undefined]) t.false(navigates('/', method), method)
  }
})

const OFFERS = ['identity', 'br', 'gzip'].map((coding, at) => ({ coding, size: 300 - at }))

/** What reads a field, and the pieces that are repeated in it, some with what comes behind them. */
const READERS: Readonly<Record<string, readonly [(text: string) => unknown, ...string[]]>> = {
  'If-None-Match': [
    text => etagMatches(text, { etag: '"other"' }, 'weak'),
    ...['"x",', 'W/"', ' ', '"', ',', 'W/', '"x" ', 'x,', '\t,']
  ],
  Range: [
    text => chooseRange('GET', { range: `bytes=${text}`, 'if-range': ETAG }, FILE, 1000),
    ...['0-0,…0-0', '0-,…0-', '1…-', ' …0-0', ' …x', ',', '-']
  ],
  Accept: [
    text => isNavigation({ method: 'GET', headers: { accept: `text/html${text}x` } }, '/'),
    ...['text/html;q=0,', ' ', ';', ',', 'text/html;', 'q=0;']
  ],
  'Accept-Encoding': [
    text => chooseCoding(text, OFFERS),
    ...['gzip;q=0.1,', ',', ' ', ';', 'q=', 'gzip;;', '\t,']
  ]
}

for (const [field, [read, ...pieces]] of Object.entries(READERS)) {
  test(`reading 16 KiB of ${field} takes time in proportion to its length`, t => {
    for (const [piece = '', end = ''] of pieces.map(each => each.split('…'))) {
      const readSome = (bytes: number) => read(piece.repeat(bytes / piece.length) + end)
      t.true(growsInProportion(16_384, readSome), `${piece}…${end}`)
    }
  })
}
