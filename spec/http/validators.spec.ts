import test from 'ava'
import * as fc from 'fast-check'

import { etagMatches, formatEtag } from '../../lib/http/validators.ts'
import { growsInProportion } from '../support/cost.ts'

const weakly = (list: string, etag = '"x"') => etagMatches(list, etag, 'weak')
const strongly = (list: string, etag = '"x"') => etagMatches(list, etag, 'strong')

test('an identifier is quoted', t => {
  t.is(formatEtag('identifier'), '"identifier"')
  t.is(formatEtag('identifier', true), 'W/"identifier"')
  t.is(formatEtag('a,b'), '"a,b"')
})

test('ETG-05 a tag is not quoted twice', t => {
  t.is(formatEtag('"x"'), '"x"')
  t.is(formatEtag('W/"x"'), 'W/"x"')
  t.is(formatEtag('W/"x"', true), 'W/"x"')
  t.is(formatEtag('"x"', true), 'W/"x"')
  t.is(formatEtag('""'), '""')
})

for (const wrong of [
  '',
  'a"b',
  '"a"b"',
  '"',
  'a b',
  'a\r\nX: y',
  '\0',
  'ä',
  '"ä"',
  '\x7f',
  '"a\n"'
]) {
  test(`ETG-06 ${JSON.stringify(wrong)} is rejected`, t => {
    t.throws(() => formatEtag(wrong), { instanceOf: TypeError, message: /ETag must be/ })
  })
}

test('ETG-04 a list, W/, *, a tag without quotes, a comma inside of quotes', t => {
  for (const list of [
    '"x"',
    'W/"x"',
    '*',
    '"a", "x"',
    '"a","x" ,"b"',
    'W/"a", W/"x"',
    'x',
    'a, x'
  ]) {
    t.true(weakly(list), list)
    t.true(weakly(list, 'W/"x"'), list)
  }
  t.true(weakly('W/x'))
  t.true(weakly('"a,b", "c"', '"a,b"'))
  t.false(weakly('"a,b"', '"a"'))
  t.false(weakly('"a,x,b"'))
})

test('ETG-04 lists that contain another tag, or none', t => {
  const others = [
    '',
    ' ',
    ',',
    '"',
    '"y"',
    '"X"',
    'w/"x"',
    '"x',
    'x"',
    '"x"y',
    '"y" "x"',
    '"y", *',
    '""'
  ]
  for (const list of others) t.false(weakly(list), list)
  t.false(etagMatches('"x"', undefined, 'weak'))
  t.false(etagMatches('*', undefined, 'weak'))
})

test('a strong comparison needs two strong tags', t => {
  t.true(strongly('"a", "x"'))
  t.true(strongly('*'))
  t.true(strongly('*', 'W/"x"'))
  t.false(strongly('W/"x"'))
  t.false(strongly('"x"', 'W/"x"'))
  t.false(strongly('W/"x"', 'W/"x"'))
  t.true(strongly('W/"x", "x"'))
})

test('a list of quoted tags matches exactly its members', t => {
  const opaque = fc.stringMatching(/^[!#-~]{0,12}$/)
  fc.assert(
    fc.property(fc.array(opaque, { maxLength: 6 }), opaque, (tags, wanted) => {
      const list = tags.map(tag => `"${tag}"`).join(', ')
      return etagMatches(list, `"${wanted}"`, 'strong') === tags.includes(wanted)
    })
  )
  t.pass()
})

const HOSTILE = ['"x",', 'W/"', ' ', '"', ',', 'W/', '"x" ', 'x,', '\t,']

for (const unit of HOSTILE) {
  test(`S28 16 KiB of ${JSON.stringify(unit)} take time in proportion to their length`, t => {
    const listOf = (bytes: number) => unit.repeat(bytes / unit.length)
    t.false(etagMatches(listOf(16_384), '"other"', 'weak'))
    t.true(growsInProportion(16_384, bytes => etagMatches(listOf(bytes), '"other"', 'weak')))
  })
}
