import test from 'ava'
import { growsInProportion } from '../../support/cost.ts'
import { findReferences, replaceReferences } from '../../../lib/assets/rendering/references.ts'

/** The text with every reference replaced by `/<its path>`. */
function replaced(text: string, type: 'css' | 'js' = 'css'): string {
  const references = findReferences(type, text)
  return replaceReferences(
    text,
    references,
    references.map(({ path }) => `/${path}`)
  )
}

const FOUND: ReadonlyArray<readonly [written: string, becomes: string]> = [
  ['a { b: url(x.png) }', 'a { b: url(/x.png) }'],
  ['a{b:url( x.png )}', 'a{b:url( /x.png )}'],
  ['a{b:url(\n  x.png\n)}', 'a{b:url(\n  /x.png\n)}'],
  ['a{b:url("x.png")}', 'a{b:url("/x.png")}'],
  ["a{b:url( 'x.png' )}", 'a{b:url( "/x.png" )}'],
  ['a{b:URL(x.png)}', 'a{b:URL(/x.png)}'],
  ['a{b:url(../i/x.png)}', 'a{b:url(/../i/x.png)}'],
  ['a{b:url(x.eot?#iefix)}', 'a{b:url(/x.eot?#iefix)}'],
  ['a{b:url(sprite.svg#id)}', 'a{b:url(/sprite.svg#id)}'],
  ['a{b:url(x.png?v=1&w=2#y)}', 'a{b:url(/x.png?v=1&w=2#y)}'],
  ['a{b:url(a.png), url(b.png)}', 'a{b:url(/a.png), url(/b.png)}'],
  ['a{b:url(x\\ y.png)}', 'a{b:url("/x y.png")}'],
  ['a{b:url("x\\"y.png")}', 'a{b:url("/x%22y.png")}'],
  ['a{b:url("\\78.png")}', 'a{b:url("/x.png")}'],
  ['a{b:url("\\78 y.png")}', 'a{b:url("/xy.png")}'],
  ['a{b:url("x\\\ny.png")}', 'a{b:url("/xy.png")}'],
  ['a{b:url(x\\29 y.png)}', 'a{b:url("/x)y.png")}'],
  ['@import "x.css";', '@import "/x.css";'],
  ["@import 'x.css';", '@import "/x.css";'],
  ['@import url(x.css);', '@import url(/x.css);'],
  ['@import url("x.css") layer(base) print;', '@import url("/x.css") layer(base) print;'],
  [
    '@import "x.css" layer(a.b) supports(display: grid) screen;',
    '@import "/x.css" layer(a.b) supports(display: grid) screen;'
  ],
  ['@IMPORT/**/"x.css";', '@IMPORT/**/"/x.css";'],
  ['@charset "utf-8";@import "x.css";', '@charset "utf-8";@import "/x.css";'],
  ['a{b:image-set("a.png" 1x, url(b.png) 2x)}', 'a{b:image-set("/a.png" 1x, url(/b.png) 2x)}'],
  [
    'a{b:-webkit-image-set("a.png" 1x, "b.png" type("image/png") 2x)}',
    'a{b:-webkit-image-set("/a.png" 1x, "/b.png" type("image/png") 2x)}'
  ],
  [
    '@font-face{src:local("X"),url(x.woff2) format("woff2")}',
    '@font-face{src:local("X"),url(/x.woff2) format("woff2")}'
  ],
  [
    'a{mask:url(m.svg) /* url(no.svg) */, url(n.svg)}',
    'a{mask:url(/m.svg) /* url(no.svg) */, url(/n.svg)}'
  ],
  ['a{--x:url(x.png)}', 'a{--x:url(/x.png)}'],
  ['a{b:c}/*# sourceMappingURL=a.css.map */', 'a{b:c}/*# sourceMappingURL=/a.css.map */'],
  ['a{b:c}\n/*@ sourceMappingURL=a.css.map*/', 'a{b:c}\n/*@ sourceMappingURL=/a.css.map*/'],
  ['a{b:"("}c{d:url(x.png)}', 'a{b:"("}c{d:url(/x.png)}'],
  ['a{b:\\66oo(1)}@import "x.css";', 'a{b:\\66oo(1)}@import "/x.css";'],
  ['.a\\:url\\(b{c:url(x.png)}', '.a\\:url\\(b{c:url(/x.png)}']
]

for (const [written, becomes] of FOUND) {
  test(`in CSS: ${JSON.stringify(written)}`, t => {
    t.is(replaced(written), becomes)
  })
}

for (const text of [
  'a{b:url(data:image/png;base64,AAAA)}',
  'a{b:url("data:image/svg+xml,<svg fill=\'url(#a)\'>")}',
  'a{b:url(https://x.example/y.png)}',
  'a{b:url(//x.example/y.png)}',
  'a{b:url(about:blank)}',
  'a{b:url(#fragment)}',
  'a{b:url()}',
  'a{b:url("")}',
  'a{b:url(?v=1)}',
  '/* url(x.png) @import "x.css" */',
  '/* unclosed url(x.png)',
  'a{content:"url(x.png)"}',
  'a{content:\'@import "x.css"\'}',
  'a{content:"\\"url(x.png)"}',
  'a{b:my-url(x.png)}',
  'a{b:curl(x.png)}',
  'a{b:url(x y.png)}',
  'a{b:url(x"y.png)}',
  'a{b:format("woff2") local("X") attr("x")}',
  '@media "x.css" { }',
  '@namespace "http://www.w3.org/2000/svg";',
  '@import;"x.css"',
  '//# sourceMappingURL=a.css.map',
  'a[href="x.css"]{}',
  'a{b:url(x.png',
  ''
]) {
  test(`left alone in CSS: ${JSON.stringify(text)}`, t => {
    t.is(replaced(text), text)
    t.deepEqual(findReferences('css', text), [])
  })
}

for (const [written, becomes] of [
  ['a()\n//# sourceMappingURL=a.js.map\n', 'a()\n//# sourceMappingURL=/a.js.map\n'],
  ['//@ sourceMappingURL=a.js.map', '//@ sourceMappingURL=/a.js.map'],
  ['a()\r\n//# sourceMappingURL=a.js.map\r\n', 'a()\r\n//# sourceMappingURL=/a.js.map\r\n'],
  ['//# sourceMappingURL=data:application/json,{}', undefined],
  ['//# sourceMappingURL=https://x.example/a.js.map', undefined],
  ['let a = "//# sourceMappingURL=a.js.map"', undefined],
  ['import "./b.js"; fetch("url(x.png)")', undefined],
  ['/*# sourceMappingURL=a.js.map */', undefined]
] as const) {
  test(`in a script: ${JSON.stringify(written)} ${becomes ? 'is rewritten' : 'is left alone'}`, t => {
    t.is(replaced(written, 'js'), becomes ?? written)
  })
}

test('a reference has its path without query and fragment, which are kept', t => {
  const [reference] = findReferences('css', 'a{b:url(i/x.svg?v=1#y)}')
  t.like(reference, { path: 'i/x.svg', suffix: '?v=1#y', kind: 'url', start: 8, end: 21 })
})

test('a URL that is not valid without quotes is quoted', t => {
  const text = 'a{b:url(x.png)}'
  const [reference] = findReferences('css', text)
  for (const [url, written] of [
    ['/a(1).png', '"/a(1).png"'],
    ['/a b.png', '"/a b.png"'],
    ["/it's.png", '"/it\'s.png"'],
    ['/a"b\\c.png', '"/a%22b%5Cc.png"']
  ] as const) {
    t.is(replaceReferences(text, reference ? [reference] : [], [url]), `a{b:url(${written})}`)
  }
})

for (const [what, piece, before = '', after = ''] of [
  ['one word', 'a'],
  ['opened brackets', 'a('],
  ['unclosed strings', '"\n'],
  ['unclosed url(', 'url('],
  ['blanks after url(', ' ', 'url('],
  ['opened comments', '/*'],
  ['backslashes', '\\'],
  ['escapes in an unclosed url(', '\\aaaaaa', 'url(', ' x'],
  ['short escapes in an unclosed url(', '\\a ', 'url(', ' x'],
  ['at signs', '@a']
] as const) {
  test(`${what} take time in proportion to their number`, t => {
    const textOf = (count: number) => before + piece.repeat(count) + after
    for (const type of ['css', 'js'] as const) {
      t.true(
        growsInProportion(2000, count => findReferences(type, textOf(count))),
        type
      )
    }
  })
}
