import { array, assert, constantFrom, property } from 'fast-check'
import { findReferences, type Reference } from '../../../lib/publishing/references/references.ts'
import { replaceReferences } from '../../../lib/publishing/references/references.ts'
import { cases, growsInProportion, makeProject, makeSite, placed } from '../../support/index.ts'
import { readPublic, run, targetOf, test, warningsAbout } from '../../support/index.ts'
import { lexer } from '../../support/ready.ts'

/** The text with the URL of its path in the place of each reference. */
function replaced(
  text: string,
  type: 'css' | 'js',
  urlOf: (path: string) => string | undefined = path => `/${path}`
): string {
  const references = findReferences(type, text)
  const urls = references.map(({ path }) => urlOf(path))
  return replaceReferences(text, references, urls)
}

/** `^` is where the path of a reference begins; what has none is left alone. */
const TEXTS = {
  css: [
    'a { b: url(^x.png) }',
    'a{b:url(\n  ^x.png\n)}',
    'a{b:url("^x.png")}',
    'a{b:URL(^../i/x.png)}',
    'a{b:url(^x.eot?#iefix), url(^sprite.svg#id), url(^x.png?v=1&w=2#y)}',
    '@import "^x.css";',
    '@import url(^x.css);',
    '@import url("^x.css") layer(base) print;',
    '@import "^x.css" layer(a.b) supports(display: grid) screen;',
    '@IMPORT/**/"^x.css";',
    '@charset "utf-8";@import "^x.css";',
    'a{b:image-set("^a.png" 1x, url(^b.png) 2x)}',
    'a{b:-webkit-image-set("^a.png" 1x, "^b.png" type("image/png") 2x)}',
    '@font-face{src:local("X"),url(^x.woff2) format("woff2")}',
    'a{mask:url(^m.svg) /* url(no.svg) */, url(^n.svg)}',
    'a{--x:url(^x.png)}',
    'a{b:c}/*# sourceMappingURL=^a.css.map */',
    'a{b:c}\n/*@ sourceMappingURL=^a.css.map*/',
    'a{b:"("}c{d:url(^x.png)}',
    'a{b:\\66oo(1)}@import "^x.css";',
    '.a\\:url\\(b{c:url(^x.png)}',
    'a{b:url(data:image/png;base64,AAAA)}',
    'a{b:url("data:image/svg+xml,<svg fill=\'url(#a)\'>")}',
    'a{b:url(https://x.example/y.png), url(//x.example/y.png), url(about:blank)}',
    'a{b:url(#fragment), url(), url(""), url(?v=1)}',
    '/* url(x.png) @import "x.css" */',
    '/* unclosed url(x.png)',
    'a{content:"url(x.png)" \'@import "x.css"\' "\\"url(x.png)"}',
    'a{b:my-url(x.png) curl(x.png)}',
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
  ],
  js: [
    'a()\n//# sourceMappingURL=^a.js.map\n',
    '//@ sourceMappingURL=^a.js.map',
    'a()\r\n//# sourceMappingURL=^a.js.map\r\n',
    '//# sourceMappingURL=data:application/json,{}',
    '//# sourceMappingURL=https://x.example/a.js.map',
    'let a = "//# sourceMappingURL=a.js.map"',
    'import "./b.js"; fetch("url(x.png)")',
    '/*# sourceMappingURL=a.js.map */'
  ]
} as const

for (const type of ['css', 'js'] as const) {
  for (const marked of TEXTS[type]) {
    test(`in ${type}: ${JSON.stringify(marked)}`, t => {
      const text = marked.replaceAll('^', '')
      t.is(findReferences(type, text).length, marked.split('^').length - 1)
      t.is(replaced(text, type), marked.replaceAll('^', '/'))
    })
  }
}

for (const [written, becomes] of [
  ["url( 'x.png' )", 'url( "/x.png" )'],
  ['url(x\\ y.png)', 'url("/x y.png")'],
  ['url("x\\"y.png")', 'url("/x%22y.png")'],
  ['url("\\78.png")', 'url("/x.png")'],
  ['url("x\\\ny.png")', 'url("/xy.png")'],
  ['url(x\\29 y.png)', 'url("/x)y.png")']
] as const) {
  test(`in CSS, with quotes or escapes: ${written}`, t => {
    t.is(replaced(`a{b:${written}}`, 'css'), `a{b:${becomes}}`)
  })
}

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
      const find = (count: number) => findReferences(type, textOf(count))
      t.true(growsInProportion(2000, find), type)
    }
  })
}

test('a missing reference is one warning with its place in the source file', async t => {
  const files = {
    'css/plain.css': '/* é */\n\na {\n  b: url("placed.png");\n  c: url(placed.png) url(data:x)\n}',
    'css/sheet.css.scss': '@use "part";\n$dir: "placed";\na { b: url(#{$dir}/computed.png) }',
    'css/_part.scss': '// not placed.png2\na {\n  b: url(images/placed.png);\n}',
    'css/sheet2.css.less': '@w: 1px;\na { b: url(less-placed.png) }',
    'js/placed.js': '//# sourceMappingURL=placed.js.map'
  }
  const site = await makeSite(t, files, { missing: 'warn' })
  for (const name of ['plain.css', 'sheet.css', 'sheet2.css', 'placed.js', 'plain.css']) {
    await site.ask(`/assets/${name}`)
    site.write('css/plain.css', `${site.read('css/plain.css')} `)
  }
  const warning = (path: string) =>
    `koa-fresh-assets: apps/web/assets/css/${path}, which was not found`
  t.deepEqual(warningsAbout('placed').toSorted(), [
    warning('_part.scss:3:10 refers to images/placed.png'),
    warning('plain.css:4:10 refers to placed.png'),
    warning('sheet.css.scss refers to placed/computed.png'),
    warning('sheet2.css.less:2:12 refers to less-placed.png')
  ])
})

test('a reference from a moved stylesheet to a file left in public gets advice what to write', async t => {
  const css = '@import "stayed.css";\na { b: url(../images/stayed.png) url(/images/stayed.png) }'
  const stayed = { '/public/css/stayed.css': '', '/public/images/stayed.png': '' }
  const files = { 'css/moved.css': css, ...stayed }
  const site = await makeSite(t, files, { base: '/shop', missing: 'warn' })
  await site.ask('/assets/moved.css')
  const warning = (place: string, path: string, at: string) =>
    `koa-fresh-assets: apps/web/assets/css/moved.css:${place} refers to ${path}, which was not found: public${at} is not ` +
    `an asset: write '/shop${at}', or move it to the sources`
  t.deepEqual(warningsAbout('moved.css'), [
    warning('1:9', 'stayed.css', '/css/stayed.css'),
    warning('2:12', '../images/stayed.png', '/images/stayed.png')
  ])
})

test('references in stylesheets that are not UTF-8 are rewritten without harm to other text', async t => {
  const css = '/* \u00e9 */ a { background: url(../images/logo.svg) }'
  const files = {
    'css/little.css': Buffer.from(`\ufeff${css}`, 'utf16le'),
    'css/big.css': Buffer.from(`\ufeff${css}`, 'utf16le').swap16(),
    'css/latin.css': Buffer.from(css, 'latin1')
  }
  const root = makeProject(t, placed({ ...files, 'images/logo.svg': '<svg/>' }))
  await run({ root })
  const site = await makeSite(t, {}, { root, env: 'development' })
  for (const name of ['little.css', 'big.css', 'latin.css']) {
    const sent = (await site.ask(`/assets/${name}`)).bytes
    const built = readPublic(root, targetOf(root, `/assets/${name}`))
    const encoding = name === 'latin.css' ? 'latin1' : 'utf8'
    const expected = (url: string) => css.replace('../images/logo.svg', url)
    t.is(sent.toString(encoding), expected('/assets/logo.svg'), name)
    t.is(built.toString(encoding), expected(targetOf(root, '/assets/logo.svg')), name)
  }
})

// Pieces that are hard on a tokenizer, in any order.
const pieces = constantFrom(
  ...['url(', ')', '(', '"', "'", '/*', '*/', '\\', '\\"', '\n', ' ', ';', '{', '}', '@import'],
  ...['x.png', 'a', '#', '?', ',', 'image-set(', 'data:', '//', 'é', '🎈', ':', '1x', 'layer(b)']
)
const texts = array(pieces, { maxLength: 40 }).map(parts => parts.join(''))

test('references that are not replaced leave the text as it was', t => {
  const isKept = (text: string) =>
    (['css', 'js'] as const).every(type => replaced(text, type, () => undefined) === text)
  assert(property(texts, isKept), { numRuns: cases(300, 3000) })
  t.pass()
})

const modulePieces = constantFrom(
  ...["import './a.js';", "import a, { b } from './a.js';", 'export * from "/b.mjs"', '\n', ' '],
  ...["import('./c.js?x')", 'import(`./c.js`)', 'import(name)', 'import.meta.url', 'x()', '`${'],
  ...["new URL('d.png', import.meta.url)", "new URL('d.png', ", '// ', '/*', '*/', '`', "'", '"'],
  ...['/', '}', ')', '(', 'é', '🎈', 'of /x/g', '\\'],
  // In a script a semicolon or a line break follows the attributes.
  `export * from "/b.mjs" with { type: 'json' };`
)

/** What stands around the references, with spaces for their attributes, which no script has. */
function between(code: string, references: readonly Reference[]): string {
  const starts = [...references.map(({ start }) => start), code.length]
  const after = [{ end: 0, attributesEnd: 0 }, ...references]
  const parts = after.map(({ end, attributesEnd = end }, at) => {
    const attributes = code.slice(end, attributesEnd).replace(/\S/g, ' ')
    return attributes + code.slice(attributesEnd, starts[at])
  })
  return parts.join('\0')
}

test('rewriting the references of a module changes nothing else in it', async t => {
  const find = (code: string) => lexer.find(code).references
  t.is(find("import './a.js'\nexport * from \"/b.mjs\"\nimport('./c.js?x')").length, 3)
  assert(
    property(array(modulePieces, { maxLength: 20 }), pieces => {
      const code = pieces.join('')
      const references = find(code)
      const urls = references.map((_, at) => `/assets/${at}-0123.js`)
      const replaced = replaceReferences(code, references, urls)
      const again = find(replaced)
      return (
        again.every(({ path }, at) => path === urls[at]) &&
        again.length === references.length &&
        between(replaced, again) === between(code, references)
      )
    }),
    { numRuns: cases(1000, 20_000) }
  )
})
