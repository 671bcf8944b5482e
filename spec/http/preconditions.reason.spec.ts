import test from 'ava'

import { evaluatePreconditions, reasonFor } from '../../lib/http/preconditions.ts'

const DATE = 'Wed, 01 Jan 2020 00:00:00 GMT'
const LATER = 'Thu, 02 Jan 2020 00:00:00 GMT'
const EARLIER = 'Tue, 31 Dec 2019 00:00:00 GMT'
const validators = { etag: '"x"', lastModified: Date.parse(DATE) }

const REASONS: readonly [string, Record<string, string>, string][] = [
  ['GET', {}, 'the request has no condition'],
  ['GET', { 'if-none-match': '"x"' }, 'If-None-Match names the ETag'],
  ['GET', { 'if-none-match': '"y"' }, 'If-None-Match does not name the ETag'],
  ['GET', { 'if-modified-since': DATE }, 'not modified since If-Modified-Since'],
  [
    'GET',
    { 'if-modified-since': LATER },
    'If-Modified-Since is invalid or differs from Last-Modified'
  ],
  ['PUT', { 'if-match': '"x"' }, 'If-Match names the ETag'],
  ['PUT', { 'if-match': '"y"' }, 'If-Match does not name the ETag'],
  ['PUT', { 'if-none-match': '*' }, 'If-None-Match names the ETag'],
  ['PUT', { 'if-unmodified-since': DATE }, 'not modified since If-Unmodified-Since'],
  ['PUT', { 'if-unmodified-since': EARLIER }, 'modified since If-Unmodified-Since'],
  ['PUT', { 'if-match': '"x"', 'if-none-match': '"x"' }, 'If-None-Match names the ETag']
]
for (const [method, headers, reason] of REASONS) {
  test(`${method} with ${JSON.stringify(headers)}: ${reason}`, t => {
    const outcome = evaluatePreconditions(method, headers, validators)
    t.is(reasonFor(method, headers, validators, outcome), reason)
  })
}
