import test from 'ava'
import * as fc from 'fast-check'

import { digest, digestOf } from '../../lib/http-cache/digest.ts'

test('a digest is the beginning of SHA-256', t => {
  t.is(digest('page'), '3660315a9af3df255d8f19ab077e4797')
  t.is(digest(Buffer.from('page')), digest('page'))
  t.is(digest(''), 'e3b0c44298fc1c149afbf4c8996fb924')
})

test('ETG-07 the order of keys does not matter, that of items does', t => {
  t.is(digestOf({ a: 1, b: { c: 2, d: 3 } }), digestOf({ b: { d: 3, c: 2 }, a: 1 }))
  t.not(digestOf([1, 2]), digestOf([2, 1]))
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
  fc.assert(fc.property(fc.jsonValue(), value => digestOf(value) === digestOf(shuffled(value))))
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
    new Set([1, 2]),
    new Map([['a', 1]]),
    new Uint8Array([7]),
    Buffer.from('a')
  ]
  t.is(new Set(contents.map(digestOf)).size, contents.length)
})

test('what says itself as JSON is digested so, and undefined is as if it were not there', t => {
  t.is(digestOf({ toJSON: () => ({ a: 1 }) }), digestOf({ a: 1, b: undefined }))
})

test('what nobody knows the content of is refused', t => {
  for (const wrong of [() => 1, Symbol('a'), Promise.resolve(1), new Date(Number.NaN)]) {
    t.throws(() => digestOf([wrong]), { instanceOf: TypeError, message: /no content to digest/ })
  }
})
