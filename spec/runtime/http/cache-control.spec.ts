// What is said in fields: Cache-Control, groups, and the characters of any field.
import { validateHeaderName, validateHeaderValue } from 'node:http'
import * as fc from 'fast-check'
import {
  FLAG_DIRECTIVES,
  formatCacheControl,
  personalCacheControl,
  privateCacheControl,
  SECONDS_DIRECTIVES,
  targetedField,
  formatGroups,
  formatKeys
} from '../../../lib/runtime/http/cache-control.ts'
import { isFieldValue, TOKEN } from '../../../lib/runtime/http/fields.ts'
import { cases, test } from '../../support/index.ts'
import { anyText } from '../../support/any-text.ts'

const format = (directives: Parameters<typeof Object.entries>[0]) =>
  formatCacheControl(new Map(Object.entries(directives)) as never)

test('every directive is written, with seconds where it has some', t => {
  for (const name of FLAG_DIRECTIVES) t.is(format({ [name]: true }), name)
  for (const name of SECONDS_DIRECTIVES) t.is(format({ [name]: 60 }), `${name}=60`)
})

test('of all directives but no-store, a personal response that is revalidated keeps no-transform', t => {
  const flags = FLAG_DIRECTIVES.filter(name => name !== 'no-store')
  const all = [...flags, ...SECONDS_DIRECTIVES.map(name => `${name}=60`)].join(', ')
  t.is(personalCacheControl(all), 'private, no-cache, no-transform')
})

test('only combinations of directives that contradict each other are rejected', t => {
  for (const directives of [
    { public: true, private: true },
    { 'no-store': true, 'max-age': 1 },
    { 'no-store': true, 's-maxage': 1 },
    { 'no-store': true, 'stale-if-error': 1 },
    { 'no-store': true, immutable: true },
    { private: true, 's-maxage': 0 }
  ]) {
    t.throws(() => format(directives), { instanceOf: TypeError, message: /contradict each other/ })
  }
  for (const [directives, expected] of [
    [{ 'no-store': true, 'max-age': 0 }, 'no-store, max-age=0'],
    [{ private: true, 'no-store': true }, 'private, no-store'],
    [
      { 'no-store': true, immutable: true, 'must-understand': true },
      'no-store, immutable, must-understand'
    ],
    [{ public: true, private: ['Set-Cookie'] }, 'public, private="Set-Cookie"']
  ] as const) {
    t.is(format(directives), expected)
  }
})

test('field names and extensions that Cache-Control cannot contain are rejected', t => {
  t.is(format({ 'x-b': 'two words', 'x-c': 7 }), 'x-b="two words", x-c=7')
  for (const wrong of [[], ['a b'], ['a"'], ['a\r\nb'], ['']])
    t.throws(() => format({ private: wrong }), { instanceOf: TypeError, message: /field names/ })
  for (const wrong of ['a\r\nX: y', 'a,b', 'a"b', 'ä', 'a\\', '\0']) {
    const message = /x-a must be ASCII/
    t.throws(() => format({ 'x-a': wrong }), { instanceOf: TypeError, message })
  }
})

test('a target is put before -Cache-Control, unless it names a field that ends in -Control', t => {
  t.is(targetedField('CDN'), 'CDN-Cache-Control')
  t.is(targetedField('Control'), 'Control-Cache-Control')
  for (const name of ['Surrogate-Control', 'surrogate-control', 'CDN-Cache-Control'])
    t.is(targetedField(name), name)
  for (const wrong of ['', 'C D N', 'CDN\r\n', 'CDN:'])
    t.throws(() => targetedField(wrong), { instanceOf: TypeError, message: /target must be/ })
})

// RFC 8941 appendix B as far as a directive can go: a key, and its value, an integer, a decimal, a token or a
// string without escapes.
const KEY = String.raw`[a-z*][a-z0-9_.*-]*`
const ITEM = String.raw`-?\d{1,15}|-?\d{1,12}\.\d{1,3}|[A-Za-z*][!#$%&'*+.^_\x60|~:/\w-]*|"[ !#-[\]-~]*"`
const DICTIONARY = new RegExp(`^${KEY}(=(${ITEM}))?(, ${KEY}(=(${ITEM}))?)*$`)

test('a targeted field is a valid Dictionary of RFC 8941, whatever extension is given', t => {
  const targeted = (directives: object) =>
    formatCacheControl(new Map(Object.entries(directives)) as never, 'dictionary')
  for (const [extension, expected] of [
    [{ 'X-Up': 5 }, 'x-up=5'],
    [{ ext: '5x' }, 'ext="5x"'],
    [{ ext: '-' }, 'ext="-"'],
    [{ ext: 'edge' }, 'ext=edge'],
    [{ ext: '' }, 'ext=""'],
    [{ ext: 'two words' }, 'ext="two words"'],
    [{ ext: 1.25 }, 'ext=1.25'],
    [{ ext: 1.2345 }, 'ext="1.2345"'],
    [{ ext: 1e21 }, 'ext="1e+21"'],
    [{ ext: 1e15 }, 'ext="1000000000000000"'],
    [{ ext: -3 }, 'ext=-3'],
    [{ EXT: true }, 'ext'],
    [{ '*x_1.2-*': true }, '*x_1.2-*']
  ] as const) {
    const value = targeted({ private: ['Set-Cookie', 'X-Y'], ...extension })
    t.is(value, `private="Set-Cookie, X-Y", ${expected}`)
    t.regex(value, DICTIONARY)
  }
  for (const key of ['5x', '!x', "x'y", '-x']) {
    t.is(format({ [key]: true }), key)
    const message = /cannot be in a targeted field/
    t.throws(() => targeted({ [key]: true }), { instanceOf: TypeError, message })
  }
})

test('a response to one visitor is private, without directives for shared caches', t => {
  for (const [value, expected] of [
    ['public, max-age=60', 'private, max-age=60'],
    ['PUBLIC,s-maxage=5 , max-age=60,proxy-revalidate', 'private, max-age=60'],
    ['s-maxage=60', 'private'],
    ['no-store', 'no-store'],
    ['private, max-age=60', 'private, max-age=60'],
    ['private="Set-Cookie, public", max-age=60', 'private, max-age=60'],
    ['no-cache="A, public", max-age=60', 'private, no-cache="A, public", max-age=60'],
    ['ext="a\\", public", public', 'private, ext="a\\", public"']
  ] as const) {
    t.is(privateCacheControl(value), expected)
  }
})

test('every cache group can be read from its header unchanged', t => {
  const group = fc.stringMatching(/^[ -~]{1,32}$/)
  fc.assert(
    fc.property(fc.array(group, { minLength: 1, maxLength: 32 }), groups => {
      const members = formatGroups(groups).match(/"(?:[^"\\]|\\["\\])*"/g) ?? []
      t.is(members.join(', '), formatGroups(groups))
      t.deepEqual(
        members.map(member => member.slice(1, -1).replaceAll(/\\(.)/g, '$1')),
        groups
      )
    })
  )
})

test('a response may have 32 groups of 32 printable characters, and no more', t => {
  for (const wrong of ['', 'a\nb', 'a\0', '\x7f', 'bücher', '書', 'a'.repeat(33), 7, undefined]) {
    const message = /^a cache group must be 1 to 32 printable ASCII characters, got /
    const write = () => formatGroups(['books', wrong as string])
    t.throws(write, { instanceOf: TypeError, message })
  }
  const groups = Array.from({ length: 33 }, (_, at) => String(at))
  t.is(formatGroups(groups.slice(1)).split(', ').length, 32)
  const message = 'a response may have 32 cache groups, which every cache supports, got 33'
  t.throws(() => formatGroups(groups), { instanceOf: TypeError, message })
})

test('no group may contain what separates tags or keys in a header: a comma or a blank', t => {
  for (const [header, expected] of [
    ['Surrogate-Key', 'book-7 books'],
    ['xkey', 'book-7 books'],
    ['Cache-Tag', 'book-7,books'],
    ['x-cache-tags', 'book-7,books']
  ] as const) {
    t.is(formatKeys(header, ['book-7', 'books']), expected)
  }
  for (const wrong of ['my books', 'a,b', ' ']) {
    const message = `a cache group must be without blanks and commas, which separate Cache-Tag, got '${wrong}'`
    const write = () => formatKeys('Cache-Tag', ['books', wrong])
    t.throws(write, { instanceOf: TypeError, message })
  }
})

function accepts(validate: () => void): boolean {
  try {
    validate()
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

test('the name or value of a header is accepted exactly if Node accepts it', t => {
  const text = anyText(4)
  const characters = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code))
  const same = (given: string) =>
    TOKEN.test(given) === accepts(() => validateHeaderName(given)) &&
    isFieldValue(given) === accepts(() => validateHeaderValue('X-A', given))
  for (const character of ['', ...characters]) t.true(same(character), character)
  t.notThrows(() => fc.assert(fc.property(text, same), { numRuns: cases(300, 2000) }))
  for (const value of [1, null, undefined, ['a'], {}]) t.false(isFieldValue(value))
})
