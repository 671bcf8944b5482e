// The options of koaHttpCache, and directives as a route writes them.
import { inspect } from 'node:util'
import test from 'ava'
import { settle } from '../../lib/http-cache/settings.ts'
import { koaHttpCache } from '../../lib/index.ts'
import type { Lifetime } from '../../lib/http-cache/cache-directive.ts'
import { cacheControlField, expiryFields } from '../../lib/http-cache/directives.ts'
import { versionOf } from '../../lib/http-cache/version-of.ts'

test('nothing is written by default', t => {
  const settings = settle({})
  t.is(settings.defaults, undefined)
  t.is(settings.version({} as never), undefined)
  t.is(settings.ifModifiedSince, 'exact')
  t.false(settings.autoEtag)
  t.deepEqual(settings.groups, {})
  t.false(settings.trace)
  t.true(Object.isFrozen(settings))
})

test.serial('trace is on in development, also if NODE_ENV is not set', t => {
  const env = process.env.NODE_ENV
  t.teardown(() => {
    process.env.NODE_ENV = env
  })
  for (const [name, trace] of [
    ['development', true],
    ['production', false]
  ] as const) {
    process.env.NODE_ENV = name
    t.is(settle({}).trace, trace, name)
  }
  delete process.env.NODE_ENV
  t.true(settle({}).trace)
  t.false(settle({ trace: false }).trace)
})

const WRONG: readonly [unknown, RegExp][] = [
  [null, /^options must be an object, got null$/],
  [[], /^options must be an object, got \[\]$/],
  [{ autoETag: true }, /^unknown option 'autoETag': did you mean 'autoEtag'\?$/],
  [{ zzzzzz: 1 }, /^unknown option 'zzzzzz': known options: cacheControl, expires, version, /],
  [{ autoEtag: 'yes' }, /autoEtag must be true or false, got 'yes'/],
  [{ trace: 1 }, /trace must be true or false, got 1/],
  [{ ifModifiedSince: 'after' }, /ifModifiedSince must be 'exact' or 'before', got 'after'/],
  [{ groups: 'Surrogate-Key' }, /groups must be an object, got 'Surrogate-Key'/],
  [{ groups: { headers: 'xkey' } }, /unknown option 'groups.headers': did you mean 'header'\?/],
  [{ groups: { header: 'Surrogate Key' } }, /header must be .* CDN.*got 'Surrogate Key' \(groups/],
  [{ groups: { header: 'Cache-Groups' } }, /header must be the name of a CDN's own field/],
  [{ version: '1' }, /version must be a function of ctx, got '1'/],
  [{ expires: -1 }, /expires must be whole seconds, 0 or more, got -1/],
  [{ expires: 'soon' }, /expires must be whole seconds, or a string with a unit .*got 'soon'/],
  [{ expires: new Date(0) }, /expires must be whole seconds/],
  [{ cacheControl: 'publik' }, /did you mean 'public'/],
  [{ cacheControl: ['public', 'private'] }, /contradict each other/],
  [{ cacheControl: 'public, private' }, /contradict each other/],
  [{ cacheControl: 'public, max-aeg=60' }, /unknown directive 'max-aeg': did you mean 'max-age'/],
  [
    { cacheControl: 'public max-age=60' },
    /cacheControl must be .*'public, max-age=60'.*, got 'pub/
  ],
  [{ cacheControl: 'public, max-age' }, /max-age needs seconds/],
  [{ cacheControl: 'max-age=soon' }, /max-age must be whole seconds.*got 'soon'/],
  [{ cacheControl: 'max-age=-1' }, /max-age must be whole seconds/],
  [{ cacheControl: 'public=1' }, /public must be true or false/],
  [{ cacheControl: 'private="X' }, /cacheControl must be directives/],
  [{ cacheControl: '' }, /cacheControl must be/],
  [{ cacheControl: 'public\r\nX: y' }, /cacheControl must be/],
  [{ cacheControl: ['public, max-age=60'] }, /unknown directive 'public, max-age=60'/],
  [{ cacheControl: 'no-store', expires: 60 }, /contradict each other/]
]
for (const [options, message] of WRONG) {
  test(`${inspect(options)} is rejected at start`, t => {
    t.throws(() => koaHttpCache(options as never), { instanceOf: TypeError, message })
  })
}

for (const [text, directives] of [
  ['public, max-age=60', ['public', { maxAge: 60 }]],
  ['max-age=60', [{ maxAge: 60 }]],
  [
    'Public,Max-Age=60 , stale-while-revalidate=30',
    ['public', { maxAge: 60, 'stale-while-revalidate': 30 }]
  ],
  [
    'public, private="Set-Cookie, X-User", s-maxage="5"',
    ['public', { privateFields: ['Set-Cookie', 'X-User'], sMaxage: 5 }]
  ],
  ['no-cache=Set-Cookie', [{ noCacheFields: ['Set-Cookie'] }]],
  ['max-age=9999999999', [{ maxAge: 9999999999 }]],
  ['mustRevalidate', ['must-revalidate']]
] as const) {
  test(`FRS-06 a default may be the text of the header: ${text}`, t => {
    const [fromText, fromArray] = [text, directives].map(
      cacheControl => settle({ cacheControl, expires: 30 }).defaults
    )
    t.deepEqual(fromText?.fields(0), fromArray?.fields(0))
    t.deepEqual(fromText?.personal, fromArray?.personal)
  })
}

test('the caller’s options are not modified', t => {
  const options = Object.freeze({ cacheControl: Object.freeze(['public' as const]), expires: 60 })
  t.deepEqual(settle(options).defaults?.fields(0), [
    { name: 'Expires', value: 'Thu, 01 Jan 1970 00:01:00 GMT' },
    { name: 'Cache-Control', value: 'public, max-age=60' }
  ])
})

type Directives = Parameters<typeof cacheControlField>[0]

const NOW = Date.UTC(2020, 0, 1)
const value = (...directives: Directives) => cacheControlField(directives).value
const expiry = (lifetime: Lifetime | Date, ...directives: Directives) =>
  expiryFields(lifetime, directives, NOW).map(field => field.value)

test('CC-01 names and options are written in their order', t => {
  t.is(value('public', { maxAge: 600 }), 'public, max-age=600')
  t.is(value({ maxAge: 600 }, 'public'), 'max-age=600, public')
})

test('CC-02 names alone', t => {
  t.is(value('private', 'no-cache', 'no-store'), 'private, no-cache, no-store')
})

test('CC-03 three spellings of a name', t => {
  t.is(value('must_revalidate'), 'must-revalidate')
  t.is(value('mustRevalidate'), 'must-revalidate')
  t.is(value('must-revalidate'), 'must-revalidate')
})

test('CC-04 three spellings of an option', t => {
  for (const option of [{ max_age: 60 }, { 'max-age': 60 }, { maxAge: 60 }]) {
    t.is(value(option), 'max-age=60')
  }
  t.is(value({ sMaxage: 1 }, { stale_while_revalidate: 2 }), 's-maxage=1, stale-while-revalidate=2')
})

test('a flag may be an option; false and undefined write nothing', t => {
  t.is(
    value({ public: true, immutable: false, maxAge: undefined, noTransform: true }),
    'public, no-transform'
  )
})

test('a directive that is given twice has its last value', t => {
  t.is(value('public', { maxAge: 1 }, 'public', { max_age: 2 }), 'public, max-age=2')
})

const WRONG_DIRECTIVES: readonly [unknown, RegExp][] = [
  ['publik', /^unknown directive 'publik': did you mean 'public'\?$/],
  ['weird', /^unknown directive 'weird': known directives: public, private, no-cache, .*max-age/],
  [{ weird: 1 }, /^unknown directive 'weird': known directives: /],
  [{ maxage: 1 }, /did you mean 'max-age'\?/],
  [{ minFresh: 1 }, /^minFresh is a directive of requests, not of responses$/],
  ['only-if-cached', /^only-if-cached is a directive of requests/],
  ['max-age', /max-age needs seconds: \{ max-age: 60 \}/],
  [{ __proto__: null, constructor: 1 }, /unknown directive 'constructor'/]
]
for (const [directive, message] of WRONG_DIRECTIVES) {
  test(`CC-06 ${JSON.stringify(directive)} is rejected with the nearest name`, t => {
    t.throws(() => value('public', directive as never), { instanceOf: TypeError, message })
  })
}

for (const wrong of [-1, 1.5, Number.NaN, '60', null]) {
  test(`CC-07 ${typeof wrong} ${String(wrong)} is not a number of seconds`, t => {
    const message = /max-age must be whole seconds/
    t.throws(() => value({ maxAge: wrong as never }), { instanceOf: TypeError, message })
  })
}

test('CC-16 a lifetime may be a string with a unit', t => {
  t.is(value({ maxAge: '10m' }), 'max-age=600')
  t.is(
    value({ maxAge: '1y', s_maxage: '2 weeks', 'stale-if-error': '1 day' }),
    'max-age=31536000, s-maxage=1209600, stale-if-error=86400'
  )
})

test('FRS-07 a lifetime beyond what caches must know is the longest of them', t => {
  t.is(value({ maxAge: '100y', sMaxage: 2 ** 31 }), 'max-age=2147483647, s-maxage=2147483647')
  t.is(value({ maxAge: '999999999 years' }), 'max-age=2147483647')
  t.deepEqual(expiry('100y'), ['Mon, 19 Jan 2088 03:14:07 GMT', 'max-age=2147483647'])
  t.deepEqual(expiry(new Date(8e13)), ['Thu, 05 Feb 4505 22:13:20 GMT', 'max-age=2147483647'])
})

for (const wrong of ['soon', '10', '', 'm', '-1m', '1.5h', '1  h', '10m ', '5 constructor']) {
  test(`CC-16 ${JSON.stringify(wrong)} is rejected`, t => {
    const message = /^max-age must be whole seconds/
    t.throws(() => value({ maxAge: wrong as never }), { instanceOf: TypeError, message })
  })
}

test('CC-08 contradictions are rejected across names and options', t => {
  const message = /contradict each other/
  t.throws(() => value('public', 'private'), { instanceOf: TypeError, message })
  t.throws(() => value('no-store', { maxAge: 1 }), { instanceOf: TypeError, message })
  t.throws(() => value('private', { sMaxage: 60 }), { instanceOf: TypeError, message })
  t.is(value('no-store', { maxAge: 0 }), 'no-store, max-age=0')
  t.is(
    value('must-understand', 'no-store', { maxAge: '1h' }),
    'must-understand, no-store, max-age=3600'
  )
})

test('CC-10 field names of no-cache and private', t => {
  t.is(value({ privateFields: ['Set-Cookie'] }), 'private="Set-Cookie"')
  t.is(value({ 'no-cache-fields': ['A', 'B'] }), 'no-cache="A, B"')
  t.throws(() => value({ privateFields: 'Set-Cookie' as never }), {
    message: /list of field names/
  })
})

test('CC-11 a target sets the targeted field', t => {
  const field = cacheControlField([{ target: 'CDN', maxAge: 60 }])
  t.deepEqual(field, { name: 'CDN-Cache-Control', value: 'max-age=60' })
})

test('FRS-07 a targeted field is a structured dictionary', t => {
  t.deepEqual(cacheControlField([{ extension: { 'X-Up': 5, ext: '5x' }, target: 'CDN' }]), {
    name: 'CDN-Cache-Control',
    value: 'x-up=5, ext="5x"'
  })
  t.is(value({ extension: { 'X-Up': 5, ext: '5x' } }), 'X-Up=5, ext=5x')
})

test('FRS-07 Surrogate-Control is a target', t => {
  t.deepEqual(cacheControlField([{ target: 'Surrogate-Control', maxAge: '1h' }]), {
    name: 'Surrogate-Control',
    value: 'max-age=3600'
  })
})

test('an extension is a directive that is not in the RFCs', t => {
  t.is(value({ extension: { 'x-a': true, 'x-b': 7, 'x-c': 'edge' } }), 'x-a, x-b=7, x-c=edge')
  t.throws(() => value({ extension: { 'Max-Age': 7 } }), {
    message: /Max-Age is a standard directive/
  })
  t.throws(() => value({ extension: { 'x y': true } }), { message: /"x y" is not a token/ })
  t.throws(() => value({ extension: { 'x-a': {} as never } }), { message: /x-a must be a string/ })
  t.throws(() => value({ extension: 7 as never }), { message: /extension must be an object/ })
})

test('S45 CR, LF, a comma and non-ASCII characters are rejected', t => {
  for (const wrong of ['a\r\nX: y', 'a\n', 'a,b', 'ä']) {
    t.throws(() => value({ extension: { x: wrong } }), { instanceOf: TypeError })
    t.throws(() => value({ extension: { [wrong]: true } }), { instanceOf: TypeError })
    t.throws(() => value({ privateFields: [wrong] }), { instanceOf: TypeError })
    t.throws(() => value('public', { target: wrong }), { instanceOf: TypeError })
  }
})

test('anything but a name or an object is rejected', t => {
  for (const wrong of [7, null, ['public'], undefined]) {
    t.throws(() => value(wrong as never), { instanceOf: TypeError, message: /a name or an object/ })
  }
  t.throws(() => value({ public: 1 as never }), { message: /public must be true or false, got 1/ })
  t.throws(() => value('public', { cookies: true as never }), {
    message: /cookies must be 'shared'/
  })
  t.is(value('public', { cookies: 'shared' }), 'public')
  t.throws(() => value(), { message: /at least one directive/ })
})

test('EXP-01 a lifetime in seconds', t => {
  t.deepEqual(expiry(900, 'public', 'no-cache'), [
    'Wed, 01 Jan 2020 00:15:00 GMT',
    'public, no-cache, max-age=900'
  ])
})

test('EXP-01 CC-16 a lifetime as a string with a unit', t => {
  t.deepEqual(expiry('15m', 'public'), ['Wed, 01 Jan 2020 00:15:00 GMT', 'public, max-age=900'])
  t.deepEqual(expiry('1 year'), ['Thu, 31 Dec 2020 00:00:00 GMT', 'max-age=31536000'])
})

test('EXP-02 a max-age of the directives is kept, once', t => {
  t.deepEqual(expiry(60, 'public', { maxAge: 300 }), [
    'Wed, 01 Jan 2020 00:01:00 GMT',
    'public, max-age=300'
  ])
})

test('EXP-03 a lifetime that ends at a Date', t => {
  t.deepEqual(expiry(new Date(NOW + 90_700)), ['Wed, 01 Jan 2020 00:01:30 GMT', 'max-age=90'])
  t.deepEqual(expiry(new Date(0)), ['Thu, 01 Jan 1970 00:00:00 GMT', 'max-age=0'])
})

for (const wrong of [-5, 1.5, Number.NaN, '60', new Date(Number.NaN), undefined]) {
  test(`EXP-04 ${typeof wrong} ${String(wrong)} is not a lifetime`, t => {
    t.throws(() => expiry(wrong as never), {
      instanceOf: TypeError,
      message: /the lifetime must be/
    })
  })
}

test('expires rejects a target, and contradictions', t => {
  t.throws(() => expiry(60, { target: 'CDN' }), {
    instanceOf: TypeError,
    message: /does not accept `target`/
  })
  t.throws(() => expiry(60, 'no-store'), {
    instanceOf: TypeError,
    message: /contradict each other/
  })
})

test.serial('versionOf is not for each request: the number of versions is bounded', t => {
  const env = process.env.NODE_ENV
  t.teardown(() => {
    process.env.NODE_ENV = env
  })
  process.env.NODE_ENV = 'development'
  for (let made = 0; made < 1000; made++) versionOf('package.json')
  t.throws(() => versionOf('package.json'), { message: /call it once, where koaHttpCache/ })
})
