import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { validatorsOf } from '../../../lib/http-cache/fresh/validators.ts'
import { Readable } from 'node:stream'
import * as fc from 'fast-check'
import { digestOfValue } from '../../../lib/http-cache/fresh/value-digest.ts'

const DATE = new Date('2020-01-01T00:00:00.789Z')
const SECONDS = Date.UTC(2020, 0, 1)
const validators = (given: unknown) => validatorsOf(given as never, undefined)

for (const [claim, given, etag, lastModified] of [
  ['last_modified is understood', { last_modified: DATE }, undefined, SECONDS],
  ['lastModified wins', { last_modified: 0, lastModified: DATE, etag: 'x' }, '"x"', SECONDS],
  ['a date that is null is not set', { etag: 'x', lastModified: null }, '"x"', undefined],
  ['null is no spelling', { lastModified: null, last_modified: DATE }, undefined, SECONDS],
  ['an ETag that is null is not set', { etag: null, lastModified: DATE }, undefined, SECONDS],
  ['FRS-03 a number is an ETag', 7, '"7"', undefined],
  ['FRS-03 a bigint is an ETag', 7n, '"7"', undefined],
  ['FRS-03 zero is an ETag', { etag: 0, weak: true }, 'W/"0"', undefined],
  [
    'a Date of another realm is one',
    runInNewContext('new Date(1577836800789)'),
    undefined,
    SECONDS
  ],
  ['FRS-03 a lastModified of null sets nothing', { lastModified: null }, undefined, undefined],
  ['FRS-03 a last_modified of null sets nothing', { last_modified: null }, undefined, undefined],
  ['FRS-03 an etag of null sets nothing', { etag: null, weak: true }, undefined, undefined],
  [
    'FRS-03 a missing column beside null',
    { etag: undefined, lastModified: null },
    undefined,
    undefined
  ]
] as const) {
  test(claim, t => {
    t.deepEqual(validators(given), { etag, lastModified })
    const isUnknown = (etag ?? lastModified) === undefined
    t.is(validatorsOf(given as never, 'v1').etag === undefined, isUnknown, 'with a version')
  })
}

test('FRS-03 an ETag that identifies nothing is rejected', t => {
  for (const wrong of [Number.NaN, -Infinity, true, Symbol('x')]) {
    t.throws(() => validators({ etag: wrong }), { instanceOf: TypeError, message: /^etag must be/ })
  }
})

test('FRS-03 a lastModified may be milliseconds, or what databases write', t => {
  const times = ['2020-01-01', '2020-01-01T00:00Z', '2020-01-01T02:00:00+02:00']
  times.push('2020-01-01T00:00:00.123456', '2020-01-01 00:00:00', '2019-12-31 22:30:00.5-0130')
  for (const given of [...times, '2020-01-01 02:00:00+02', DATE.toISOString(), SECONDS + 789]) {
    for (const name of ['lastModified', 'last_modified']) {
      t.deepEqual(validators({ [name]: given }), { etag: undefined, lastModified: SECONDS })
    }
  }
  t.is(validators({ lastModified: 0 }).lastModified, 0)
})

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

test('a lastModified that is no time is rejected, beside an etag as well', t => {
  const times = ['', 'soon', '2020', '2020-13-01', '2020-01-01T25:00Z', '2020-01-01T00:00:00 GMT']
  const message =
    /^(lastModified must be a valid Date, milliseconds or an ISO 8601 string, got |an HTTP date)/
  for (const wrong of [...times, DATE.toUTCString(), false, Number.NaN, 1e18, [SECONDS]]) {
    const given = { etag: 'x', lastModified: wrong }
    t.throws(() => validators(given), { instanceOf: TypeError, message }, inspect(wrong))
  }
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

test('ETG-07 the same content has the same digest, whatever the order of its keys', t => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([k, v]) => [k, shuffled(v)])
    )
  }
  fc.assert(
    fc.property(fc.jsonValue(), value => digestOfValue(value) === digestOfValue(shuffled(value)))
  )
  t.pass()
})

test('different contents have different digests', t => {
  const texts = ['1', 'true', 'null', '', ['a', 'b'], ['a,b'], ['a","b'], { a: '1' }]
  const others = [1, 0, 1n, true, null, [], {}, [[]], [null], [undefined], [7], new Date(0)]
  const objects = [{ a: 1 }, { a: [1] }, { 'a:1': 1 }]
  const bytes = [new Uint8Array([7]), Buffer.from('a'), new Uint16Array([7])]
  const contents = [...texts, ...others, ...objects, ...bytes, new DataView(new ArrayBuffer(3))]
  t.is(new Set(contents.map(digestOfValue)).size, contents.length)
})

test('toJSON is used, and undefined is like a missing key', t => {
  t.is(digestOfValue({ toJSON: () => ({ a: 1 }) }), digestOfValue({ a: 1, b: undefined }))
})

test('ETG-07 bytes are digested as they are, whatever the view', t => {
  const buffer = new Uint8Array([0, 1, 2, 3, 4]).buffer
  t.is(digestOfValue(new Uint8Array(buffer, 1, 3)), digestOfValue(Buffer.from([1, 2, 3])))
  t.is(digestOfValue(new DataView(buffer, 1, 3)), digestOfValue(Buffer.from([1, 2, 3])))
  t.not(digestOfValue(new Uint8Array(buffer, 1, 3)), digestOfValue(new Uint8Array(buffer)))
})

test('ETG-07 values of another realm are digested like those of this one', t => {
  const content = () => ({ a: [1, new Date(7), new Uint8Array([1])], b: null })
  const other: unknown = runInNewContext(`(${String(content)})()`)
  t.is(digestOfValue(other), digestOfValue(content()))
  t.is(digestOfValue(Object.assign(Object.create(null), content())), digestOfValue(content()))
})

test('ETG-07 one part may be in two places', t => {
  const part = { a: 1 }
  t.is(digestOfValue([part, part]), digestOfValue([{ a: 1 }, { a: 1 }]))
})

class Volume {
  readonly #revision: number
  constructor(revision: number) {
    this.#revision = revision
  }
  get revision() {
    return this.#revision
  }
}
class Row {
  readonly id = 1
}
const itself: Record<string, unknown> = {}
itself.itself = itself

const UNDIGESTED: readonly [name: string, value: unknown, message: RegExp][] = [
  ['a function', () => 1, /a function has no content to digest/],
  ['a symbol', Symbol('a'), /a symbol has no content to digest/],
  ['a promise', Promise.resolve(1), /a Promise has no content to digest: await it/],
  ['an invalid Date', new Date(Number.NaN), /an invalid Date has no content to digest/],
  ['an ArrayBuffer', new ArrayBuffer(4), /an ArrayBuffer .* write new Uint8Array\(value\)/],
  ['a SharedArrayBuffer', new SharedArrayBuffer(4), /write new Uint8Array\(value\)/],
  ['private fields', new Volume(7), /a Volume .* name its relevant parts/],
  ['a class without them', new Row(), /a Row has no content to digest/],
  ['a RegExp', /a/, /a RegExp has no content to digest/],
  ['a Blob', new Blob(['a']), /a Blob has no content to digest/],
  ['a boxed number', Object(7), /a Number has no content to digest: write value\.valueOf\(\)/],
  ['an Error', new Error('a'), /an Error has no content to digest/],
  ['a Map', new Map([['a', 1]]), /a Map has no content to digest: write \[\.\.\.value\]/],
  ['a Set', new Set([1]), /a Set has no content to digest: write \[\.\.\.value\]/],
  ['a Map of another realm', runInNewContext('new Map()'), /write \[\.\.\.value\]/],
  ['a class of another realm', runInNewContext('new (class A {})()'), /an A has no content/],
  ['a WeakMap', new WeakMap(), /a WeakMap has no content to digest/],
  ['a generator', [1].values(), /no content to digest/],
  ['a stream', Readable.from([]), /a Readable has no content to digest/],
  ['URLSearchParams', new URLSearchParams('a=1'), /a URLSearchParams has no content to digest/],
  ['a hidden prototype', Object.create(Object.create(null, { a: { value: 1 } })), /no content/],
  ['symbols as keys', { [Symbol('a')]: 1 }, /symbol keys/],
  ['a cycle', itself, /contains itself/]
]
for (const [name, value, message] of UNDIGESTED) {
  test(`ETG-07 the content of ${name} is unknown: rejected, at any depth`, t => {
    t.throws(() => digestOfValue([value]), { instanceOf: TypeError, message })
    t.throws(() => digestOfValue({ a: { b: value } }), { instanceOf: TypeError, message })
    t.throws(() => digestOfValue({ toJSON: () => value }), { instanceOf: TypeError, message })
  })
}
