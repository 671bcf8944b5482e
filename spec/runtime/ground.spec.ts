import { nearest, nearestPath } from '../../lib/runtime/check-options.ts'
import { printable, printableLines } from '../../lib/runtime/errors.ts'
import { cases, costsAtMost, digestOf, test } from '../support/index.ts'

test('messages escape control and direction characters, but text in any language stays readable', t => {
  t.is(printable('\u001b[31mred\u001b[0m'), '\\u001b[31mred\\u001b[0m')
  t.is(printable('a\r\n\tb\u007f\u009b2J\u0000'), 'a\\u000d\\u000a\\u0009b\\u007f\\u009b2J\\u0000')
  t.is(printableLines('a\n\tb\u001b\r'), 'a\n\tb\\u001b\\u000d', 'but for lines and tabs')
  for (const mark of '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029')
    t.is(printable(`a${mark}`), `a\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
  for (const text of ['Übersicht 😀.svg', 'שלום', 'a\u0301', '日本語', 'a\u00a0b', '👩\u200d🚀'])
    t.is(printable(text), text)
})

const NAMES_IN_A_TREE = cases(4000, 20_000)
const NAMES = ['fingerprint', 'root', 'env', 'serve', 'public']

test('for a mistyped name the nearest known name is suggested, whatever the case of its letters', t => {
  for (const [word, known, expected] of [
    ['fingerprints', NAMES, 'fingerprint'],
    ['serv', NAMES, 'serve'],
    ['sorve', NAMES, 'serve'],
    ['pubilc', NAMES, 'public'],
    ['hatl', ['halt'], 'halt'],
    ['hat2', ['halt'], undefined],
    ['FINGERprint', NAMES, 'fingerprint'],
    ['weird', NAMES, undefined],
    ['', NAMES, undefined],
    ['band', ['bond', 'bands', 'band'], 'band'],
    ['bxnd', ['bond', 'band'], 'bond']
  ] as const) {
    t.is(nearest(word, known), expected, word)
  }
})

test('for an unknown path the same file name in other folders is suggested before a similar name', t => {
  const paths = ['menu.cs', 'admin/menu.css', 'a/b/app.css', 'b/app.css', 'x.svg', 'icons/x.svg']
  t.is(nearestPath('menu.css', paths), 'admin/menu.css')
  t.is(nearestPath('stylesheets/admin/menu.css', paths), 'admin/menu.css')
  t.is(nearestPath('a/b/app.css', ['app.css', 'b/app.css']), 'b/app.css')
  t.is(nearestPath('images/icons/x.svg', paths), 'icons/x.svg')
  t.is(nearestPath('enu.css', paths), 'menu.cs', 'a tail begins at a segment')
  t.is(nearestPath('nowhere.png', paths), undefined)
})

for (const [what, nameOf] of Object.entries({
  'alike but for a number': (at: number) => `widgets/card-${at}/index-${at}.css`,
  'alike to their ends': (at: number) => `vendor/components/dist/file-${1e7 + at}.css`,
  'of random letters': (at: number) => `${digestOf(String(at)).repeat(2).slice(0, 40)}.css`
})) {
  test(`a search of ${NAMES_IN_A_TREE} names ${what} takes at most six times as long as hashing them`, t => {
    const names = Array.from({ length: NAMES_IN_A_TREE }, (_, at) => nameOf(at))
    const digesting = () => names.map(name => digestOf(name))
    for (const word of ['vendor/components/dist/file-abcdefgh.css', 'widgets/nothing/of-all.css']) {
      t.is(nearest(word, names), undefined)
      const finding = () => nearest(word, names)
      t.true(costsAtMost(6, finding, digesting), word)
    }
  })
}
