import { Readable } from 'node:stream'
import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import { cacheControlFields, expiryFields } from '../../../lib/runtime/http-cache/directives.ts'
import { type Lifetime } from '../../../lib/runtime/http-cache/directives.ts'
import { digestOfValue, validatorsOf } from '../../../lib/runtime/http-cache/fresh.ts'
import { settle } from '../../../lib/runtime/http-cache/settings.ts'
import { versionOf } from '../../../lib/runtime/http-cache/version-of.ts'
import { koaHttpCache } from '../../../lib/index.ts'
import { inDevelopment, test, within } from '../../support/index.ts'

const DATE = new Date('2020-01-01T00:00:00.789Z')
const SECONDS = Date.UTC(2020, 0, 1)
const validators = (given: unknown) => validatorsOf(given as never, undefined)

test('ctx.fresh takes values as databases return them, also null', t => {
  const dateOfAnotherRealm: unknown = runInNewContext('new Date(1577836800789)')
  for (const [given, etag, lastModified] of [
    [{ last_modified: DATE }, undefined, SECONDS],
    [{ last_modified: 0, lastModified: DATE, etag: 'x' }, '"x"', SECONDS],
    [{ lastModified: null, last_modified: DATE }, undefined, SECONDS],
    [{ etag: null, lastModified: DATE }, undefined, SECONDS],
    [dateOfAnotherRealm, undefined, SECONDS],
    [7, '"7"', undefined],
    [7n, '"7"', undefined],
    [{ etag: 0, weak: true }, 'W/"0"', undefined],
    [{ last_modified: null }, undefined, undefined],
    [{ etag: null, weak: true }, undefined, undefined],
    [{ etag: undefined, lastModified: null }, undefined, undefined]
  ] as const) {
    t.deepEqual(validators(given), { etag, lastModified })
    const isUnknown = (etag ?? lastModified) === undefined
    t.is(validatorsOf(given as never, 'v1').etag === undefined, isUnknown, 'with a version')
  }
})

test('a lastModified may be milliseconds or a timestamp of a database, by default in UTC', t => {
  const inKolkata = <T>(make: () => T) => within('Asia/Kolkata', make, 'TZ')
  t.not(
    inKolkata(() => new Date(2020, 0, 1).getTime()),
    SECONDS
  )
  const read = (given: unknown) => inKolkata(() => validators(given))
  const times = ['2020-01-01', '2020-01-01T00:00Z', '2020-01-01T02:00:00+02:00']
  times.push('2020-01-01T00:00:00.123456', '2020-01-01 00:00:00', '2019-12-31 22:30:00.5-0130')
  for (const given of [...times, '2020-01-01 02:00:00+02', DATE.toISOString(), SECONDS + 789]) {
    for (const name of ['lastModified', 'last_modified'])
      t.deepEqual(read({ [name]: given }), { etag: undefined, lastModified: SECONDS })
    // A day alone, and a number, may be a revision.
    const isInstant = /:/.test(String(given))
    const [etag, lastModified] = isInstant ? [undefined, SECONDS] : [`"${given}"`, undefined]
    t.deepEqual(read(given), { etag, lastModified })
  }
  t.throws(() => validators('2020-01-01T25:00Z'), { message: /^lastModified must be a valid Date/ })
  t.is(validators({ lastModified: 1e11 }).lastModified, 1e11)
})

test('with a version, a Date becomes an ETag only once no later edit can have the same Date', t => {
  const thisSecond = () => Math.floor(Date.now() / 1000) * 1000
  const etagOf = (time: number) => validatorsOf(new Date(time), '1').etag
  let [second, etag]: [number, string | undefined] = [0, '']
  do {
    second = thisSecond()
    etag = etagOf(second)
  } while (second !== thisSecond())
  t.is(etag, undefined)
  t.regex(etagOf(second - 1000) ?? '', new RegExp(`^"${second - 1000}-[0-9a-f]{16}"$`))
  t.regex(etagOf(second + 1) ?? '', new RegExp(`^"${second + 1}-[0-9a-f]{16}"$`))
})

test('a lastModified that is not a time, or is one in seconds, is rejected', t => {
  const times = ['', 'soon', '2020', '2020-13-01', '2020-01-01T25:00Z', '2020-01-01T00:00:00 GMT']
  const message =
    /^(lastModified must be a valid Date, milliseconds or an ISO 8601 string, got |an HTTP date)/
  for (const wrong of [...times, DATE.toUTCString(), false, Number.NaN, 1e18, [SECONDS]]) {
    const given = { etag: 'x', lastModified: wrong }
    t.throws(() => validators(given), { instanceOf: TypeError, message }, inspect(wrong))
  }
  for (const given of [1_714_557_600, 0, -1, 1e11 - 1]) {
    const message = `lastModified must be in milliseconds, got ${given}, which looks like seconds: write seconds * 1000, or give a Date`
    t.throws(() => validators({ lastModified: given }), { instanceOf: TypeError, message })
  }
})

class Book {
  id = 1
  updatedAt = DATE
}
class Article extends Book {
  etag = 'column'
}
test('ctx.fresh takes nothing but validators, also from an instance of a class', t => {
  const State = class {
    readonly lastModified = DATE
    get etag() {
      return 'x'
    }
  }
  t.deepEqual(validators(new State()), { etag: '"x"', lastModified: SECONDS })
  for (const [model, message] of [
    [new Book(), /^ctx\.fresh got a Book: name what identifies .*lastModified: book\.updatedAt/],
    [new Article(), /^ctx\.fresh got an Article: name/],
    [new Map([['etag', 'x']]), /^ctx\.fresh got a Map: name/],
    [{ id: 1, updatedAt: DATE }, /^unknown key 'id': name .*lastModified: book\.updatedAt/],
    [{ lastmodified: DATE }, /^unknown key 'lastmodified': did you mean 'lastModified'\?$/],
    [{}, /must be an etag, a lastModified, or null, got \{\}/],
    ...[Number.NaN, -Infinity, true, Symbol('x')].map(etag => [{ etag }, /^etag must be/] as const),
    [undefined, /must be an ETag, a Date or \{ etag, lastModified \}, got undefined/],
    [{ etag: undefined, lastModified: undefined }, /must be an etag, a lastModified, or null/],
    [{ weak: true }, /must be an etag, a lastModified, or null/],
    [['x'], /must be an ETag, a Date or \{ etag, lastModified \}/]
  ] as const) {
    t.throws(() => validators(model), { instanceOf: TypeError, message })
  }
})

test('different contents have different digests', t => {
  const texts = ['1', 'true', 'null', '', ['a', 'b'], ['a,b'], ['a","b'], { a: '1' }]
  const others = [1, 0, 1n, true, null, [], {}, [[]], [null], [undefined], [7], new Date(0)]
  const objects = [{ a: 1 }, { a: [1] }, { 'a:1': 1 }]
  const bytes = [new Uint8Array([7]), Buffer.from('a'), new Uint16Array([7])]
  const contents = [...texts, ...others, ...objects, ...bytes, new DataView(new ArrayBuffer(3))]
  t.is(new Set(contents.map(digestOfValue)).size, contents.length)
})

test('what has the same content has the same digest', t => {
  const buffer = new Uint8Array([0, 1, 2, 3, 4]).buffer
  const content = () => ({ a: [1, new Date(7), new Uint8Array([1])], b: null })
  const part = { a: 1 }
  for (const [one, other] of [
    [
      { a: 1, b: { c: 2, d: [3] } },
      { b: { d: [3], c: 2 }, a: 1 }
    ],
    [{ toJSON: () => ({ a: 1 }) }, { a: 1, b: undefined }],
    [new Uint8Array(buffer, 1, 3), Buffer.from([1, 2, 3])],
    [new DataView(buffer, 1, 3), Buffer.from([1, 2, 3])],
    [runInNewContext(`(${String(content)})()`), content()],
    [Object.assign(Object.create(null), content()), content()],
    [Array.from({ length: 2 }, () => part), [{ a: 1 }, { a: 1 }]]
  ]) {
    t.is(digestOfValue(one), digestOfValue(other))
  }
})

test('what has no content to digest is rejected, at any depth', t => {
  const itself: Record<string, unknown> = {}
  itself.itself = itself
  class Row {
    readonly id = 1
  }
  for (const [value, name] of [
    [() => 1, 'a function'],
    [Symbol('a'), 'a symbol'],
    [Promise.resolve(1), 'a Promise'],
    [new Date(Number.NaN), 'an invalid Date'],
    [new ArrayBuffer(4), 'an ArrayBuffer'],
    [new Row(), 'a Row'],
    [/a/, 'a RegExp'],
    [Object(7), 'a Number'],
    [new Error('a'), 'an Error'],
    [new Map([['a', 1]]), 'a Map'],
    [runInNewContext('new Map()'), 'a Map'],
    [runInNewContext('new (class A {})()'), 'an A'],
    [Readable.from([]), 'a Readable'],
    [new URLSearchParams('a=1'), 'a URLSearchParams'],
    [Object.create(Object.create(null, { a: { value: 1 } })), 'an object'],
    [{ [Symbol('a')]: 1 }, 'an object with symbol keys'],
    [itself, 'an object that contains itself']
  ] as const) {
    const advice = 'await it, or name its relevant parts, as in { etag: [book.id, book.updatedAt] }'
    const message = `${name} has no content to digest: ${advice}`
    for (const given of [[value], { a: { b: value } }, { toJSON: () => value }])
      t.throws(() => digestOfValue(given), { instanceOf: TypeError, message })
  }
})

// The options of koaHttpCache, and directives as a route writes them.

test('trace is on in development, also if NODE_ENV is not set', t => {
  const traced = (env?: string) => within(env, () => settle({}).trace)
  t.deepEqual([traced('development'), traced('production'), traced()], [true, false, true])
  t.false(within(undefined, () => settle({ trace: false }).trace))
})

const WRONG: readonly [unknown, RegExp][] = [
  [null, /^options must be an object, got null$/],
  [[], /^options must be an object, got \[\]$/],
  [{ autoETag: true }, /^unknown option 'autoETag': did you mean 'autoEtag'\?$/],
  [{ zzzzzz: 1 }, /^unknown option 'zzzzzz': known options: cacheControl, expires, credentials, /],
  [{ autoEtag: 'yes' }, /autoEtag must be true or false, got 'yes'/],
  [{ trace: 1 }, /trace must be true or false, got 1/],
  [{ ifModifiedSince: 'after' }, /ifModifiedSince must be 'exact' or 'before', got 'after'/],
  [{ credentials: 'X-API-Key' }, /credentials must be a list of request headers.*got 'X-API-Key'/],
  [{ credentials: ['X API'] }, /credentials must be a list of request headers/],
  [{ groups: 'Surrogate-Key' }, /groups must be an object, got 'Surrogate-Key'/],
  [{ groups: { headers: 'xkey' } }, /unknown option 'groups.headers': did you mean 'header'\?/],
  [{ groups: { header: 'Surrogate Key' } }, /header must be .* CDN.*got 'Surrogate Key' \(groups/],
  [{ groups: { header: 'Cache-Groups' } }, /header must be the name of a CDN's own field/],
  [{ version: '1' }, /version must be a function of ctx, got '1'/],
  [{ expires: -1 }, /expires must be whole seconds, 0 or more, got -1/],
  [{ expires: 'soon' }, /expires must be whole seconds, or a string with a unit .*got 'soon'/],
  [{ cacheControl: 'public, maxAge=60' }, /did you mean 'max-age'/],
  [{ cacheControl: 'public, private' }, /contradict each other/],
  [
    { cacheControl: 'public max-age=6' },
    /cacheControl must be .*'public, max-age=3600'.*, got 'pub/
  ],
  [{ cacheControl: 'public, max-age' }, /max-age needs seconds/],
  [{ cacheControl: 'max-age=soon' }, /max-age must be whole seconds.*got 'soon'/],
  [{ cacheControl: 'public=1' }, /public must be true or false/],
  [{ cacheControl: 'private="X' }, /cacheControl must be directives/],
  [{ cacheControl: '' }, /cacheControl must be/],
  [{ cacheControl: null }, /cacheControl must be directives, .*, got null/],
  [{ cacheControl: 5 }, /cacheControl must be directives, .*, got 5/],
  [{ cacheControl: 'public\r\nX: y' }, /cacheControl must be/],
  [{ cacheControl: ['public, max-age=60'] }, /unknown directive 'public, max-age=60'/],
  [{ cacheControl: 'no-store', expires: 60 }, /contradict each other/]
]
for (const [options, message] of WRONG) {
  test(`${inspect(options)} is rejected at start`, t => {
    t.throws(() => koaHttpCache(options as never), { instanceOf: TypeError, message })
  })
}

test('a default may be the text of the header', t => {
  for (const [text, directives] of [
    ['public, max-age=60', ['public', { maxAge: 60 }]],
    ['max-age=60', [{ maxAge: 60 }]],
    ['Public,Max-Age=60 , stale-if-error=30', ['public', { maxAge: 60, 'stale-if-error': 30 }]],
    ['private="A, X-User", s-maxage="5"', [{ privateFields: ['A', 'X-User'], sMaxage: 5 }]],
    ['no-cache=Set-Cookie', [{ noCacheFields: ['Set-Cookie'] }]],
    ['max-age=9999999999', [{ maxAge: 9999999999 }]],
    ['mustRevalidate', ['must-revalidate']]
  ] as const) {
    const given = [text, directives].map(each => settle({ cacheControl: each, expires: 30 }))
    const [fromText, fromArray] = given.map(({ defaults }) => defaults)
    t.deepEqual(fromText?.at(0), fromArray?.at(0), text)
    t.deepEqual(fromText?.personal, fromArray?.personal, text)
  }
})

type Directives = Parameters<typeof cacheControlFields>[0]

const NOW = Date.UTC(2020, 0, 1)
const value = (...directives: Directives) => cacheControlFields(directives).fields[0]?.value

test('Cache-Control has directives as HTTP spells them, however they are spelled in code', t => {
  for (const [expected, ...directives] of [
    ['public, max-age=600', 'public', { maxAge: 600 }],
    ['private, no-cache, no-store', 'private', 'no-cache', 'no-store'],
    ...(['must_revalidate', 'mustRevalidate', 'must-revalidate'] as const).map(
      name => ['must-revalidate', name] as const
    ),
    ['max-age=60', { max_age: 60 }],
    ['max-age=60', { 'max-age': 60 }],
    ['s-maxage=1, stale-while-revalidate=2', { sMaxage: 1 }, { staleWhileRevalidate: 2 }],
    // A flag may be an option; false and undefined write nothing.
    [
      'public, no-transform',
      { public: true, immutable: false, maxAge: undefined, noTransform: true }
    ],
    // The last value counts.
    ['public, max-age=2', 'public', { maxAge: 1 }, 'public', { max_age: 2 }],
    ['max-age=600', { maxAge: '10m' }],
    ['max-age=31536000, s-maxage=1209600', { maxAge: '1y', s_maxage: '2 weeks' }],
    ['stale-if-error=86400', { 'stale-if-error': '1 day' }],
    // The longest lifetime that caches must know.
    ['max-age=2147483647, s-maxage=2147483647', { maxAge: '999999999 years', sMaxage: 2 ** 31 }],
    ['must-understand, no-store, max-age=3600', 'must-understand', 'no-store', { maxAge: '1h' }],
    ['private="Set-Cookie"', { privateFields: ['Set-Cookie'] }],
    ['no-cache="A, B"', { 'no-cache-fields': ['A', 'B'] }],
    ['x-a, x-b=7, ext=5x', { extension: { 'x-a': true, 'x-b': 7, ext: '5x' } }],
    ['public', 'public', { cookies: 'shared' }]
  ] as const) {
    t.is(value(...(directives as unknown as Directives)), expected)
  }
})

const IN_SECONDS = /^max-age must be whole seconds/
const CONTRADICTION = /contradict each other/
const NAMELESS = /a name or an object/
const WRONG_LIFETIMES = [
  ...[-1, 1.5, Number.NaN, '60', null],
  ...['soon', '10', '', 'm', '-1m', '1.5h', '1  h', '10m ', '5 constructor']
]
const WRONG_DIRECTIVES: readonly [given: unknown, message: RegExp][] = [
  ['publik', /^unknown directive 'publik': did you mean 'public'\?$/],
  ['weird', /^unknown directive 'weird': known directives: public, private, no-cache, .*max-age/],
  [{ weird: 1 }, /^unknown directive 'weird': known directives: /],
  [{ maxage: 1 }, /^unknown directive 'maxage': did you mean 'maxAge'\?$/],
  [{ smaxage: '1d' }, /did you mean 'sMaxage'\?/],
  ['must_revalidat', /did you mean 'must-revalidate'\?/],
  [{ minFresh: 1 }, /^unknown directive 'minFresh': known directives: /],
  ['max-age', /max-age needs seconds: \{ maxAge: 60 \}/],
  [{ __proto__: null, constructor: 1 }, /unknown directive 'constructor'/],
  ...WRONG_LIFETIMES.map(maxAge => [{ maxAge }, IN_SECONDS] as [unknown, RegExp]),
  ['private', CONTRADICTION],
  [{ noStore: true, maxAge: 1 }, CONTRADICTION],
  [{ privateFields: 'Set-Cookie' }, /list of field names/],
  [{ extension: { 'Max-Age': 7 } }, /Max-Age is a standard directive/],
  [{ extension: { 'x y': true } }, /"x y" cannot be in Cache-Control/],
  [{ extension: { 'x-a': {} } }, /x-a must be a string/],
  [{ extension: 7 }, /extension must be an object/],
  ...[7, null, ['public'], undefined].map(each => [each, NAMELESS] as [unknown, RegExp]),
  [{ public: 1 }, /public must be true or false, got 1/],
  [{ cookies: true }, /cookies must be 'shared'/]
]
test('ctx.cacheControl rejects wrong directives and calls without any', t => {
  for (const [directive, message] of WRONG_DIRECTIVES) {
    const write = () => value('public', directive as never)
    t.throws(write, { instanceOf: TypeError, message }, inspect(directive))
  }
  t.throws(() => value(), { message: /at least one directive/ })
})

test('the lifetime of ctx.expires may be seconds, a duration or the date of its end', t => {
  for (const [lifetime, directives, expires, cacheControl] of [
    [900, ['public', 'no-cache'], 'Wed, 01 Jan 2020 00:15:00', 'public, no-cache, max-age=900'],
    ['15m', ['public'], 'Wed, 01 Jan 2020 00:15:00', 'public, max-age=900'],
    [60, [{ maxAge: 300 }], 'Wed, 01 Jan 2020 00:01:00', 'max-age=300'],
    [new Date(NOW + 90_700), [], 'Wed, 01 Jan 2020 00:01:30', 'max-age=90'],
    // One that is over, and those beyond what caches must support.
    [new Date(0), [], 'Thu, 01 Jan 1970 00:00:00', 'max-age=0'],
    ['1 year', [], 'Thu, 31 Dec 2020 00:00:00', 'max-age=31536000'],
    ['100y', [], 'Mon, 19 Jan 2088 03:14:07', 'max-age=2147483647'],
    [new Date(8e13), [], 'Thu, 05 Feb 4505 22:13:20', 'max-age=2147483647']
  ] as const) {
    const values = expiryFields(lifetime, directives, NOW).fields.map(field => field.value)
    t.deepEqual(values, [`${expires} GMT`, cacheControl])
  }
})

test('ctx.expires rejects wrong lifetimes, a target and contradictions', t => {
  for (const [message, ...[lifetime, ...directives]] of [
    ...[-5, 1.5, Number.NaN, '60', new Date(Number.NaN), undefined].map(
      wrong => [/the lifetime must be/, wrong] as const
    ),
    [/does not accept `target`/, 60, { target: 'CDN' }],
    [CONTRADICTION, 60, 'no-store']
  ] as const) {
    const write = () => expiryFields(lifetime as Lifetime, directives, NOW)
    t.throws(write, { instanceOf: TypeError, message })
  }
})

test('calling versionOf again and again, as for each request, is an error', t => {
  const make = () => inDevelopment(() => versionOf('package.json'))
  for (let made = 0; made < 1000; made++) make()
  t.throws(make, { message: /call it once, where koaHttpCache/ })
})
