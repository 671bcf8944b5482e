import test from 'ava'
import * as fc from 'fast-check'

import { formatGroups, formatKeys } from '../../lib/http/cache-groups.ts'

test('GRP-01 groups are a list of strings, as RFC 9651 writes it', t => {
  t.is(formatGroups(['book-7', 'books']), '"book-7", "books"')
  t.is(formatGroups(['a, "b" \\']), '"a, \\"b\\" \\\\"')
})

test('GRP-01 every group that is accepted is read back as it was', t => {
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

test('GRP-04 tags are separated by commas, keys by blanks', t => {
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
