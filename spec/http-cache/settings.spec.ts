import { inspect } from 'node:util'

import test from 'ava'

import { settle } from '../../lib/http-cache/settings.ts'
import { koaHttpCache } from '../../lib/index.ts'

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
