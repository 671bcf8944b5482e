import test from 'ava'
import { assert, integer, property } from 'fast-check'
import { chooseRange } from '../../lib/http/ranges.ts'

const ETAG = '"abc"'
const DATE = 'Tue, 14 Nov 2023 22:13:20 GMT'
const AT = 1_700_000_000_000
const LATER = AT + 60_000
const FILE = { etag: ETAG, lastModified: AT }

for (const [range, size, choice] of [
  ['bytes=0-0', 10, { start: 0, end: 0 }],
  ['bytes=0-9', 10, { start: 0, end: 9 }],
  ['bytes=3-', 10, { start: 3, end: 9 }],
  ['bytes=3-99', 10, { start: 3, end: 9 }],
  ['bytes=-3', 10, { start: 7, end: 9 }],
  ['bytes=-99', 10, { start: 0, end: 9 }],
  ['bytes= 1-2 ', 10, { start: 1, end: 2 }],
  ['Bytes=1-2', 10, { start: 1, end: 2 }],
  ['bytes=10-', 10, 'unsatisfiable'],
  ['bytes=0-', 0, 'unsatisfiable'],
  ['bytes=-0', 10, 'unsatisfiable'],
  ['bytes=-1', 0, 'unsatisfiable'],
  [`bytes=${'9'.repeat(400)}-`, 10, 'unsatisfiable'],
  [`bytes=-${'9'.repeat(400)}`, 10, { start: 0, end: 9 }],
  ['bytes=2-1', 10, 'whole'],
  ['bytes=-', 10, 'whole'],
  ['bytes=', 10, 'whole'],
  ['bytes=0-1,2-3', 10, 'whole'],
  ['bytes=0x1-2', 10, 'whole'],
  ['bytes=+1-2', 10, 'whole'],
  ['bytes=--1', 10, 'whole'],
  ['bytes:1-2', 10, 'whole'],
  ['seconds=1-2', 10, 'whole'],
  ['', 10, 'whole']
] as const) {
  const shown = range.length > 40 ? `${range.slice(0, 20)}… (${range.length})` : range
  test(`Range: ${JSON.stringify(shown)} of ${size} bytes is ${JSON.stringify(choice)}`, t => {
    t.deepEqual(chooseRange('GET', { range }, FILE, size, LATER), choice)
  })
}

for (const method of ['HEAD', 'POST', 'PUT']) {
  test(`a range is ignored for ${method}`, t => {
    t.is(chooseRange(method, { range: 'bytes=0-1' }, FILE, 10, LATER), 'whole')
    t.is(chooseRange(method, { range: 'bytes=20-' }, FILE, 10, LATER), 'whole')
  })
}

for (const [ifRange, isCurrent] of [
  [ETAG, true],
  [DATE, true],
  ['Tuesday, 14-Nov-23 22:13:20 GMT', true],
  ['"x"', false],
  [`W/${ETAG}`, false],
  [`"x", ${ETAG}`, false],
  ['abc', false],
  ['*', false],
  ['', false],
  ['Tue, 14 Nov 2023 22:13:21 GMT', false],
  ['Tue, 14 Nov 2023 22:13:19 GMT', false]
] as const) {
  test(`If-Range: ${JSON.stringify(ifRange)} ${isCurrent ? 'is' : 'is not'} current`, t => {
    const headers = { range: 'bytes=0-1', 'if-range': ifRange }
    const choice = chooseRange('GET', headers, FILE, 10, LATER)
    t.deepEqual(choice, isCurrent ? { start: 0, end: 1 } : 'whole')
  })
}

test('If-Range is never current for a weak tag, for a date of this second, and for nothing', t => {
  const of = (ifRange: string, validators: object, now = LATER) =>
    chooseRange('GET', { range: 'bytes=0-1', 'if-range': ifRange }, validators, 10, now)
  t.is(of('W/"abc"', { etag: 'W/"abc"' }), 'whole')
  t.is(of(DATE, FILE, AT + 999), 'whole')
  t.deepEqual(of(DATE, FILE, AT + 1000), { start: 0, end: 1 })
  t.is(of(ETAG, {}), 'whole')
  t.is(of(DATE, { etag: ETAG }), 'whole')
})

test('a range is within the file, whatever is requested', t => {
  const numbers = integer({ min: 0, max: 50 })
  assert(
    property(numbers, numbers, numbers, (first, last, size) => {
      for (const range of [`bytes=${first}-${last}`, `bytes=${first}-`, `bytes=-${last}`]) {
        const choice = chooseRange('GET', { range }, FILE, size, LATER)
        if (typeof choice === 'string') continue
        if (!(choice.start >= 0 && choice.start <= choice.end && choice.end < size)) return false
      }
      return true
    })
  )
  t.pass()
})
