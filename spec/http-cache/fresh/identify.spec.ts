import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'

import test from 'ava'

import { identify } from '../../../lib/http-cache/fresh/identify.ts'

const DATE = new Date('2020-01-01T00:00:00.789Z')
const SECONDS = Date.UTC(2020, 0, 1)
const validators = (given: unknown) => identify(given as never, undefined)

test('last_modified is understood as lastModified', t => {
  t.deepEqual(validators({ last_modified: DATE }), { etag: undefined, lastModified: SECONDS })
  t.deepEqual(validators({ last_modified: new Date(0), lastModified: DATE, etag: 'x' }), {
    etag: '"x"',
    lastModified: SECONDS
  })
})

test('a validator that is null is not set, as in a database row', t => {
  t.deepEqual(validators({ etag: 'x', lastModified: null }), {
    etag: '"x"',
    lastModified: undefined
  })
  t.is(validators({ lastModified: null, last_modified: DATE }).lastModified, SECONDS)
  t.is(validators({ etag: null, lastModified: DATE }).etag, undefined)
})

test('FRS-03 a number is an ETag', t => {
  t.is(validators(7).etag, '"7"')
  t.is(validators(7n).etag, '"7"')
  t.deepEqual(validators({ etag: 0, weak: true }), { etag: 'W/"0"', lastModified: undefined })
  for (const wrong of [Number.NaN, -Infinity, true, Symbol('x')]) {
    t.throws(() => validators({ etag: wrong }), { instanceOf: TypeError, message: /^etag must be/ })
  }
})

for (const [given, time] of [
  [SECONDS + 789, SECONDS],
  [0, 0],
  [DATE.toISOString(), SECONDS],
  ['2020-01-01', SECONDS],
  ['2020-01-01T00:00Z', SECONDS],
  ['2020-01-01T02:00:00+02:00', SECONDS],
  ['2020-01-01T00:00:00.123456', SECONDS],
  ['2020-01-01 00:00:00', SECONDS],
  ['2019-12-31 22:30:00.5-0130', SECONDS],
  ['2020-01-01 02:00:00+02', SECONDS]
] as const) {
  test(`FRS-03 a lastModified may be ${JSON.stringify(given)}`, t => {
    for (const name of ['lastModified', 'last_modified']) {
      t.deepEqual(validators({ [name]: given }), { etag: undefined, lastModified: time })
    }
  })
}

test('FRS-03 a time without an offset is UTC wherever the server is', t => {
  const zone = process.env.TZ
  t.teardown(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })
  process.env.TZ = 'Asia/Kolkata'
  t.not(new Date(2020, 0, 1).getTime(), SECONDS)
  t.is(validators({ lastModified: '2020-01-01T00:00:00' }).lastModified, SECONDS)
})

for (const unknown of [
  { lastModified: null },
  { last_modified: null },
  { etag: null },
  { etag: null, lastModified: null, weak: true },
  { etag: undefined, lastModified: null }
]) {
  test(`FRS-03 ${inspect(unknown)} sets nothing, with a version either`, t => {
    const nothing = { etag: undefined, lastModified: undefined }
    t.deepEqual(identify(unknown, undefined), nothing)
    t.deepEqual(identify(unknown, 'v1'), nothing)
  })
}

for (const wrong of [
  '',
  false,
  Number.NaN,
  1e18,
  'soon',
  '2020',
  '2020-13-01',
  '2020-01-01T25:00Z',
  '2020-01-01T00:00:00 GMT',
  'Wed, 01 Jan 2020 00:00:00 GMT',
  [SECONDS]
]) {
  test(`a lastModified of ${inspect(wrong)} is rejected, beside an etag as well`, t => {
    const message =
      /^(lastModified must be a valid Date, milliseconds or an ISO 8601 string, got |an HTTP date)/
    t.throws(() => validators({ etag: 'x', lastModified: wrong }), {
      instanceOf: TypeError,
      message
    })
  })
}

test('a Date of another realm is a Date', t => {
  const date: unknown = runInNewContext('new Date(1577836800789)')
  t.is(validators(date).lastModified, SECONDS)
  t.is(validators({ lastModified: date }).lastModified, SECONDS)
})

test('an instance of a class may have the validators, also as accessors', t => {
  class State {
    get etag() {
      return 'x'
    }
  }
  class Fields {
    readonly lastModified = DATE
  }
  t.is(validators(new State()).etag, '"x"')
  t.is(validators(new Fields()).lastModified, SECONDS)
})

class Book {
  id = 1
  title = 'A book'
  updatedAt = DATE
}
class Article extends Book {
  etag = 'column'
}
class Nothing {
  readonly #id = 1
  get id() {
    return this.#id
  }
}

for (const [name, model, message] of [
  [
    'a model',
    new Book(),
    /^ctx\.fresh got a Book: name what identifies .*lastModified: book\.updatedAt/
  ],
  ['a model with a column etag', new Article(), /^ctx\.fresh got an Article: name/],
  ['an object of a class', new Nothing(), /^ctx\.fresh got a Nothing: name/],
  ['a Map', new Map([['etag', 'x']]), /^ctx\.fresh got a Map: name/],
  [
    'a row',
    { id: 1, title: 'A book', updatedAt: DATE },
    /^unknown key 'id': name .*lastModified: book\.updatedAt/
  ],
  [
    'a typing error',
    { lastmodified: DATE },
    /^unknown key 'lastmodified': did you mean 'lastModified'\?$/
  ],
  ['nothing', {}, /must be an etag, a lastModified, or null, got \{\}/],
  ['undefined', undefined, /must be an ETag, a Date or \{ etag, lastModified \}, got undefined/],
  [
    'FRS-03 a column that does not exist',
    { etag: undefined, lastModified: undefined },
    /must be an etag, a lastModified, or null, got \{ etag: undefined, lastModified: undefined \}/
  ],
  ['weak alone', { weak: true }, /must be an etag, a lastModified, or null/],
  ['a list', ['x'], /must be an ETag, a Date or \{ etag, lastModified \}/]
] as const) {
  test(`ctx.fresh of ${name} is rejected with advice`, t => {
    t.throws(() => validators(model), { instanceOf: TypeError, message })
  })
}
