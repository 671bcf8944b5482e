import test from 'ava'

import { formatHttpDate } from '../../lib/http/dates.ts'
import { evaluatePreconditions, type Judgement } from '../../lib/http/preconditions.ts'

const MODIFIED = Date.UTC(2020, 0, 1)
const NOW = Date.UTC(2025, 0, 1)
const DAY = 86_400_000
const EARLIER = formatHttpDate(MODIFIED - DAY)
const EQUAL = formatHttpDate(MODIFIED)
const LATER = formatHttpDate(MODIFIED + DAY)
const FUTURE = formatHttpDate(NOW + DAY)

// RFC 9110 section 13.2.2 as a table; the first row that fits counts. T: the
// condition holds. F: it does not. -: there is none, or it has to be ignored.
type Outcome = Judgement['status']
type Truth = 'T' | 'F' | '-'
const TABLE: readonly [Truth | ' ', Truth | ' ', Truth | ' ', Truth | ' ', string, Outcome][] = [
  // If-Match, If-Unmodified-Since, If-None-Match, If-Modified-Since, methods, outcome
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
  tag: Tag
  dated: boolean
}
// A field's value, and whether its condition holds, known without parsing it.
type Case<Rule> = readonly [text: string | undefined, rule: Rule]
type TagRule = (current: Current) => Truth
type DateRule = (current: Current, reading: 'exact' | 'before') => Truth

const truth = (holds: boolean): Truth => (holds ? 'T' : 'F')
const absent = (): Truth => '-'
const exists = ({ tag, dated }: Current) => tag !== 'none' || dated
const isStrong: TagRule = ({ tag }) => truth(tag === 'strong')
const isOther: TagRule = ({ tag }) => truth(tag === 'none')

const IF_MATCH: readonly Case<TagRule>[] = [
  [undefined, absent],
  ['"', () => 'F'],
  ['"x"', isStrong],
  ['"y"', () => 'F'],
  ['"y", "x"', isStrong],
  ['W/"x"', () => 'F'],
  ['*', current => truth(exists(current))]
]
const IF_NONE_MATCH: readonly Case<TagRule>[] = [
  [undefined, absent],
  ['"', () => 'T'],
  ['"x"', isOther],
  ['"y"', () => 'T'],
  ['"y", "x"', isOther],
  ['W/"x"', isOther],
  ['*', current => truth(!exists(current))]
]
const onlyDated =
  (rule: DateRule): DateRule =>
  (current, reading) =>
    current.dated ? rule(current, reading) : '-'
const IF_UNMODIFIED_SINCE: readonly Case<DateRule>[] = [
  [undefined, absent],
  ['2030', absent],
  [EARLIER, onlyDated(() => 'F')],
  [EQUAL, onlyDated(() => 'T')],
  [LATER, onlyDated(() => 'T')]
]
const IF_MODIFIED_SINCE: readonly Case<DateRule>[] = [
  [undefined, absent],
  ['2030', absent],
  [EARLIER, onlyDated(() => 'T')],
  [EQUAL, onlyDated(() => 'F')],
  [LATER, onlyDated((_, reading) => truth(reading === 'exact'))],
  [FUTURE, onlyDated(() => 'T')]
]
// If-Range is about ranges only and must not change anything here.
const IF_RANGE = [undefined, '"x"', '"y"']
const METHODS = ['GET', 'HEAD', 'QUERY', 'PUT', 'POST', 'DELETE']
const CURRENT: readonly Current[] = (['strong', 'weak', 'none'] as const).flatMap(tag => [
  { tag, dated: true },
  { tag, dated: false }
])
const TAGS = { strong: '"x"', weak: 'W/"x"', none: undefined }

for (const reading of ['exact', 'before'] as const) {
  test(`PRE-06 the whole truth table, with If-Modified-Since read as "${reading}"`, t => {
    let cases = 0
    const wrong: unknown[] = []
    const check = (
      headers: Record<string, string | undefined>,
      truths: Truth[],
      current: Current
    ) => {
      const validators = {
        etag: TAGS[current.tag],
        lastModified: current.dated ? MODIFIED : undefined
      }
      for (const method of METHODS) {
        cases++
        const expected = judgeByTable(truths, method)
        const options = { ifModifiedSince: reading, now: NOW }
        const { status } = evaluatePreconditions(method, headers, validators, options)
        if (status !== expected) wrong.push({ method, headers, validators, expected, status })
      }
    }
    for (const current of CURRENT)
      for (const [ifMatch, matchRule] of IF_MATCH)
        for (const [ifUnmodified, unmodifiedRule] of IF_UNMODIFIED_SINCE)
          for (const [ifNoneMatch, noneMatchRule] of IF_NONE_MATCH)
            for (const [ifModified, modifiedRule] of IF_MODIFIED_SINCE)
              for (const ifRange of IF_RANGE) {
                const headers = {
                  'if-match': ifMatch,
                  'if-unmodified-since': ifUnmodified,
                  'if-none-match': ifNoneMatch,
                  'if-modified-since': ifModified,
                  'if-range': ifRange
                }
                const truths = [
                  matchRule(current),
                  unmodifiedRule(current, reading),
                  noneMatchRule(current),
                  modifiedRule(current, reading)
                ]
                check(headers, truths, current)
              }
    t.deepEqual(wrong.slice(0, 5), [])
    t.true(cases >= 100_000, `${cases} cases`)
  })
}

test('methods that neither select nor modify a representation have no preconditions', t => {
  for (const method of ['OPTIONS', 'TRACE', 'CONNECT']) {
    t.is(evaluatePreconditions(method, { 'if-match': '"y"' }, { etag: '"x"' }).status, undefined)
    t.is(evaluatePreconditions(method, { 'if-none-match': '*' }, { etag: '"x"' }).status, undefined)
  }
})

test('where there is no representation yet, If-Match fails and If-None-Match: * holds', t => {
  t.is(evaluatePreconditions('PUT', { 'if-match': '*' }, {}).status, 412)
  t.is(evaluatePreconditions('PUT', { 'if-none-match': '*' }, {}).status, undefined)
})

test('a Last-Modified in the future is still equal to itself', t => {
  const lastModified = NOW + DAY
  const options = { ifModifiedSince: 'before', now: NOW } as const
  const headers = { 'if-modified-since': FUTURE }
  t.is(evaluatePreconditions('GET', headers, { lastModified }, options).status, 304)
})

test('the clock is the server’s own unless one is given', t => {
  const headers = { 'if-modified-since': formatHttpDate(Date.now() + DAY) }
  const options = { ifModifiedSince: 'before' } as const
  t.is(evaluatePreconditions('GET', headers, { lastModified: MODIFIED }, options).status, undefined)
})

const validators = { etag: '"x"', lastModified: MODIFIED }

const REASONS: readonly [string, Record<string, string>, string][] = [
  ['GET', {}, 'the request has no condition'],
  ['GET', { 'if-none-match': '"x"' }, 'If-None-Match names the ETag'],
  ['GET', { 'if-none-match': '"y"' }, 'If-None-Match does not name the ETag'],
  ['GET', { 'if-modified-since': EQUAL }, 'not modified since If-Modified-Since'],
  [
    'GET',
    { 'if-modified-since': LATER },
    'If-Modified-Since is invalid or differs from Last-Modified'
  ],
  ['PUT', { 'if-match': '"x"' }, 'If-Match names the ETag'],
  ['PUT', { 'if-match': '"y"' }, 'If-Match does not name the ETag'],
  ['PUT', { 'if-none-match': '*' }, 'If-None-Match names the ETag'],
  ['PUT', { 'if-unmodified-since': EQUAL }, 'not modified since If-Unmodified-Since'],
  ['PUT', { 'if-unmodified-since': EARLIER }, 'modified since If-Unmodified-Since'],
  ['PUT', { 'if-match': '"x"', 'if-none-match': '"x"' }, 'If-None-Match names the ETag']
]
for (const [method, headers, reason] of REASONS) {
  test(`${method} with ${JSON.stringify(headers)}: ${reason}`, t => {
    t.is(evaluatePreconditions(method, headers, validators).reason, reason)
  })
}
