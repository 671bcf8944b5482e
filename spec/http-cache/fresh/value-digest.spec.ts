import { Readable } from 'node:stream'
import { runInNewContext } from 'node:vm'

import test from 'ava'
import * as fc from 'fast-check'

import { digestOf } from '../../../lib/files/digest.ts'
import { digestOfValue } from '../../../lib/http-cache/fresh/value-digest.ts'

test('a digest is the start of the SHA-256 in hex', t => {
  t.is(digestOf('page'), '3660315a9af3df255d8f19ab077e4797')
  t.is(digestOf(Buffer.from('page')), digestOf('page'))
  t.is(digestOf(''), 'e3b0c44298fc1c149afbf4c8996fb924')
})

test('ETG-07 the order of keys does not matter, that of items does', t => {
  t.is(digestOfValue({ a: 1, b: { c: 2, d: 3 } }), digestOfValue({ b: { d: 3, c: 2 }, a: 1 }))
  t.not(digestOfValue([1, 2]), digestOfValue([2, 1]))
})

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
  const contents = [
    1,
    '1',
    true,
    'true',
    null,
    'null',
    [],
    {},
    [[]],
    [null],
    ['a', 'b'],
    ['a,b'],
    ['a","b'],
    { a: 1 },
    { a: '1' },
    { a: [1] },
    { 'a:1': 1 },
    new Date(0),
    0,
    '',
    1n,
    [undefined],
    new Uint8Array([7]),
    [7],
    Buffer.from('a'),
    new Uint16Array([7]),
    new DataView(new ArrayBuffer(3))
  ]
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

class Book {
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

const UNKNOWN: readonly [name: string, value: unknown, message: RegExp][] = [
  ['a function', () => 1, /a function has no content to digest/],
  ['a symbol', Symbol('a'), /a symbol has no content to digest/],
  ['a promise', Promise.resolve(1), /a Promise has no content to digest: await it/],
  ['an invalid Date', new Date(Number.NaN), /an invalid Date has no content to digest/],
  ['an ArrayBuffer', new ArrayBuffer(4), /an ArrayBuffer .* write new Uint8Array\(value\)/],
  ['a SharedArrayBuffer', new SharedArrayBuffer(4), /write new Uint8Array\(value\)/],
  ['private fields', new Book(7), /a Book .* name its relevant parts/],
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
for (const [name, value, message] of UNKNOWN) {
  test(`ETG-07 the content of ${name} is unknown: rejected, at any depth`, t => {
    t.throws(() => digestOfValue([value]), { instanceOf: TypeError, message })
    t.throws(() => digestOfValue({ a: { b: value } }), { instanceOf: TypeError, message })
    t.throws(() => digestOfValue({ toJSON: () => value }), { instanceOf: TypeError, message })
  })
}
