// What is said in fields: Cache-Control, groups, and the characters of any field.
import { validateHeaderName, validateHeaderValue } from 'node:http'
import test from 'ava'
import * as fc from 'fast-check'
import {
  FLAG_DIRECTIVES,
  formatCacheControl,
  privateCacheControl,
  SECONDS_DIRECTIVES,
  targetedField,
  wholeSeconds,
  formatGroups,
  formatKeys
} from '../../lib/http/cache-control.ts'
import { isFieldValue, TOKEN } from '../../lib/http/fields.ts'
import { cases } from '../support/soak.ts'
import { anyText } from '../support/texts.ts'

const format = (directives: Parameters<typeof Object.entries>[0]) =>
  formatCacheControl(new Map(Object.entries(directives)) as never)

for (const name of FLAG_DIRECTIVES) {
  test(`CC-05 ${name} has no value`, t => {
    t.is(format({ [name]: true }), name)
  })
}

for (const name of SECONDS_DIRECTIVES) {
  test(`CC-05 ${name} has seconds`, t => {
    t.is(format({ [name]: 60 }), `${name}=60`)
    t.is(format({ [name]: 2 ** 31 - 1 }), `${name}=2147483647`)
  })

  test(`FRS-07 ${name} with more seconds than caches must support is limited to that maximum`, t => {
    t.is(format({ [name]: 2 ** 31 }), `${name}=2147483647`)
    t.is(format({ [name]: Number.MAX_SAFE_INTEGER }), `${name}=2147483647`)
  })

  for (const wrong of [-1, 1.5, Number.NaN, Infinity, '60', true]) {
    test(`CC-07 ${name} of ${JSON.stringify(wrong)} ${typeof wrong} ${String(wrong)} is rejected`, t => {
      t.throws(() => format({ [name]: wrong }), {
        instanceOf: TypeError,
        message: new RegExp(`^${name} must be whole seconds, 0 or more, got`)
      })
    })
  }
}

const CONTRADICTIONS = [
  { public: true, private: true },
  { 'no-store': true, 'max-age': 1 },
  { 'no-store': true, 's-maxage': 1 },
  { 'no-store': true, 'stale-if-error': 1 },
  { 'no-store': true, immutable: true },
  { private: true, 's-maxage': 0 }
]

for (const directives of CONTRADICTIONS) {
  const names = Object.keys(directives).join(' and ')
  test(`CC-08 ${names} contradict each other`, t => {
    t.throws(() => format(directives), { instanceOf: TypeError, message: /contradict each other/ })
  })
}

test('CC-08 directives that do not contradict each other are written', t => {
  t.is(format({ 'no-store': true, 'max-age': 0 }), 'no-store, max-age=0')
  t.is(format({ private: true, 'no-store': true }), 'private, no-store')
  t.is(
    format({ 'must-understand': true, 'no-store': true, 'max-age': 3600 }),
    'must-understand, no-store, max-age=3600'
  )
  t.is(
    format({ 'no-store': true, immutable: true, 'must-understand': true }),
    'no-store, immutable, must-understand'
  )
  t.is(format({ public: true, private: ['Set-Cookie'] }), 'public, private="Set-Cookie"')
})

test('CC-10 field names are a quoted list', t => {
  t.is(format({ 'no-cache': ['Set-Cookie', 'X-Y'] }), 'no-cache="Set-Cookie, X-Y"')
  for (const wrong of [[], ['a b'], ['a"'], ['a\r\nb'], ['']]) {
    t.throws(() => format({ private: wrong }), { instanceOf: TypeError, message: /field names/ })
  }
})

test('S45 a string that a field cannot contain is rejected', t => {
  t.is(
    format({ 'x-a': 'plain', 'x-b': 'two words', 'x-c': 7 }),
    'x-a=plain, x-b="two words", x-c=7'
  )
  for (const wrong of ['a\r\nX: y', 'a,b', 'a"b', 'ä', 'a\\', '\0']) {
    t.throws(() => format({ 'x-a': wrong }), {
      instanceOf: TypeError,
      message: /x-a must be ASCII/
    })
  }
})

test('an empty map is rejected', t => {
  t.throws(() => format({}), { instanceOf: TypeError, message: /at least one directive/ })
})

test('CC-11 a target is a token', t => {
  t.is(targetedField('CDN'), 'CDN-Cache-Control')
  t.is(targetedField('Control'), 'Control-Cache-Control')
  for (const wrong of ['', 'C D N', 'CDN\r\n', 'CDN:']) {
    t.throws(() => targetedField(wrong), { instanceOf: TypeError, message: /target must be/ })
  }
})

test('a lifetime is limited to what the field can express', t => {
  t.is(wholeSeconds(1999), 1)
  t.is(wholeSeconds(-1), 0)
  t.is(wholeSeconds(1e15), 2 ** 31 - 1)
})

test('FRS-07 a target that ends in -Control is the name of a field', t => {
  for (const name of ['Surrogate-Control', 'surrogate-control', 'CDN-Cache-Control']) {
    t.is(targetedField(name), name)
  }
})

// RFC 8941 appendix B as far as a directive can go: a key, and its value, an integer, a decimal, a token or a
// string without escapes.
const KEY = String.raw`[a-z*][a-z0-9_.*-]*`
const ITEM = String.raw`-?\d{1,15}|-?\d{1,12}\.\d{1,3}|[A-Za-z*][!#$%&'*+.^_\x60|~:/\w-]*|"[ !#-[\]-~]*"`
const DICTIONARY = new RegExp(`^${KEY}(=(${ITEM}))?(, ${KEY}(=(${ITEM}))?)*$`)

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
  test(`FRS-07 in a targeted field ${JSON.stringify(extension)} is ${expected}`, t => {
    const directives = { 'max-age': 2 ** 40, private: ['Set-Cookie', 'X-Y'], ...extension }
    const value = formatCacheControl(new Map(Object.entries(directives)) as never, 'dictionary')
    t.is(value, `max-age=2147483647, private="Set-Cookie, X-Y", ${expected}`)
    t.regex(value, DICTIONARY)
  })
}

test('FRS-07 a key that a dictionary cannot have is rejected only in a targeted field', t => {
  for (const key of ['5x', '!x', "x'y", '-x']) {
    const directives = new Map([[key, true]]) as never
    t.is(formatCacheControl(directives), key)
    t.throws(() => formatCacheControl(directives, 'dictionary'), {
      instanceOf: TypeError,
      message: /cannot be in a targeted field/
    })
  }
})

for (const [value, expected] of [
  ['public, max-age=60', 'private, max-age=60'],
  ['max-age=60, public', 'private, max-age=60'],
  ['PUBLIC,s-maxage=5 , max-age=60,proxy-revalidate', 'private, max-age=60'],
  ['max-age=60', 'private, max-age=60'],
  ['s-maxage=60', 'private'],
  ['no-cache', 'private, no-cache'],
  ['no-store', 'no-store'],
  ['public, no-cache', 'private, no-cache'],
  ['private, max-age=60', 'private, max-age=60'],
  ['private="Set-Cookie, public", max-age=60', 'private, max-age=60'],
  ['no-cache="A, public", max-age=60', 'private, no-cache="A, public", max-age=60'],
  ['ext="a\\", public", public', 'private, ext="a\\", public"']
] as const) {
  test(`for one visitor, ${value} is ${expected}`, t => {
    t.is(privateCacheControl(value), expected)
  })
}

test('GRP-01 groups are a list of strings, as RFC 9651 writes it', t => {
  t.is(formatGroups(['book-7', 'books']), '"book-7", "books"')
  t.is(formatGroups(['a, "b" \\']), '"a, \\"b\\" \\\\"')
})

test('GRP-01 every accepted group reads back unchanged', t => {
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

for (const wrong of ['', 'a\nb', 'a\0', '\x7f', 'bücher', '書', 'a'.repeat(33), 7, undefined]) {
  test(`GRP-03 the group ${JSON.stringify(wrong)} is rejected`, t => {
    t.throws(() => formatGroups(['books', wrong as string]), {
      instanceOf: TypeError,
      message: /^a cache group must be 1 to 32 printable ASCII characters, got /
    })
  })
}

test('GRP-03 a response may have 32 groups and no more', t => {
  const groups = Array.from({ length: 33 }, (_, at) => String(at))
  t.is(formatGroups(groups.slice(1)).split(', ').length, 32)
  t.throws(() => formatGroups(groups), {
    instanceOf: TypeError,
    message: 'a response may have 32 cache groups, which every cache supports, got 33'
  })
})

test('GRP-04 tags are separated by commas, keys by spaces', t => {
  for (const header of ['Surrogate-Key', 'xkey']) {
    t.is(formatKeys(header, ['book-7', 'books']), 'book-7 books')
  }
  for (const header of ['Cache-Tag', 'Edge-Cache-Tag', 'x-cache-tags']) {
    t.is(formatKeys(header, ['book-7', 'books']), 'book-7,books')
  }
})

for (const wrong of ['my books', 'a,b', ' ']) {
  test(`GRP-04 the group ${JSON.stringify(wrong)} cannot be a key`, t => {
    t.throws(() => formatKeys('Cache-Tag', ['books', wrong]), {
      instanceOf: TypeError,
      message: `a cache group must be without blanks and commas, which separate Cache-Tag, got '${wrong}'`
    })
  })
}

function accepts(validate: () => void): boolean {
  try {
    validate()
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

test('a name or a value is accepted exactly where Node accepts it', t => {
  const text = anyText(4)
  const characters = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code))
  const same = (given: string) =>
    TOKEN.test(given) === accepts(() => validateHeaderName(given)) &&
    isFieldValue(given) === accepts(() => validateHeaderValue('X-A', given))
  t.deepEqual(
    ['', ...characters].filter(character => !same(character)),
    []
  )
  t.notThrows(() => fc.assert(fc.property(text, same), { numRuns: cases(300, 2000) }))
  for (const value of [1, null, undefined, ['a'], {}]) t.false(isFieldValue(value))
})
