import test from 'ava'

import {
  FLAG_DIRECTIVES,
  SECONDS_DIRECTIVES,
  formatCacheControl,
  targetedField,
  wholeSeconds
} from '../../lib/http/cache-control.ts'

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

  for (const wrong of [-1, 1.5, Number.NaN, Infinity, '60', 2 ** 31, true]) {
    test(`CC-07 ${name} of ${JSON.stringify(wrong)} ${typeof wrong} ${String(wrong)} is rejected`, t => {
      t.throws(() => format({ [name]: wrong }), {
        instanceOf: TypeError,
        message: new RegExp(`^${name} must be whole seconds from 0 to 2147483647, got`)
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

test('CC-08 directives that go together are written', t => {
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
  for (const wrong of ['', 'C D N', 'CDN\r\n', 'CDN:']) {
    t.throws(() => targetedField(wrong), { instanceOf: TypeError, message: /target must be/ })
  }
})

test('a lifetime is limited to what the field can express', t => {
  t.is(wholeSeconds(1999), 1)
  t.is(wholeSeconds(-1), 0)
  t.is(wholeSeconds(1e15), 2 ** 31 - 1)
})
