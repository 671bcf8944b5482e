// What stylesheets and scripts refer to, under fingerprints.
import { runInNewContext } from 'node:vm'
import { encode } from '@jridgewell/sourcemap-codec'
import { findReferences, replaceReferences } from '../../../lib/publishing/references/references.ts'
import { shiftInlineMap, shiftMap } from '../../../lib/publishing/rendering/source-map.ts'
import { digestIn, digestOf, growsInProportion, makeFingerprinted } from '../../support/index.ts'
import { MODES, test, until, words, type FingerprintedSite } from '../../support/index.ts'
import { lexer } from '../../support/ready.ts'

const findModuleReferences = (code: string) => lexer.find(code).references

const pathsOf = (site: FingerprintedSite, names: readonly string[]) =>
  Promise.all(names.map(name => site.path(name)))

/** What a browser loads for the first url() of a stylesheet. */
const firstUrl = (css: string) => /url\("?([^")]+)"?\)/.exec(css)?.[1] ?? ''

for (const mode of MODES) {
  test(`an edit changes only the fingerprints of the file and what shows or imports it (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'images/logo.png': 'logo',
      'images/other.png': 'other',
      'css/PAGE.CSS': '@import "theme.css";',
      'css/theme.css': 'a { background: url(logo.png) }',
      'css/plain.css': 'b { background: url(other.png) }',
      'js/store.js': 'export const one = 1',
      'js/inc.js': "import './store.js'",
      'js/app.js': "import('./inc.js')",
      'js/other.js': 'export {}',
      'js/a.js': "import './b.js'",
      'js/b.js': "import './a.js'",
      'js/outside.js': "import './a.js'"
    })
    const sheets = ['logo.png', 'theme.css', 'PAGE.CSS', 'other.png', 'plain.css']
    const names = [...sheets, ...words('store.js inc.js app.js other.js a.js b.js outside.js')]
    const paths = () => pathsOf(site, names)
    for (const [edit, renamed] of [
      [{ 'images/logo.png': 'LOGO' }, ['logo.png', 'theme.css', 'PAGE.CSS']],
      [{ 'js/store.js': 'export const one = 2' }, ['store.js', 'inc.js', 'app.js']],
      // Modules that import each other keep plain names.
      [{ 'js/a.js': "import './b.js'; edited()" }, ['a.js', 'outside.js']]
    ] as const) {
      const before = await paths()
      await site.edit(edit)
      const isRenamed = async () => (await paths()).some((path, at) => path !== before[at])
      await until(isRenamed, 'the edit is noticed')
      const after = await paths()
      const edited = names.filter((_, at) => after[at] !== before[at])
      t.deepEqual(edited, [...renamed])
      t.is((await site.ask(before[0] ?? '')).status, 200, 'the old version is still there')
    }
    const [logo, theme] = await paths()
    t.is(await site.text('theme.css'), `a { background: url(${logo}) }`)
    t.is(await site.text('PAGE.CSS'), `@import "${theme}";`)
    t.is(await site.text('app.js'), `import("${await site.path('inc.js')}")`)
  })

  test(`stylesheets that import each other get new fingerprints together (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'logo.png': 'logo',
      'a.css': '@import "b.css"; a{}',
      'b.css': '@import "c.css"; b{}',
      'c.css': '@import "a.css"; c { background: url(logo.png) }',
      'self.css': '@import "self.css"; a{}'
    })
    const names = ['a.css', 'b.css', 'c.css', 'self.css']
    const before = await pathsOf(site, names)
    for (const path of before) {
      const { text, headers, bytes } = await site.ask(path)
      t.is(digestIn(path), digestOf(bytes))
      t.regex(headers['cache-control'] ?? '', /immutable/)
      const [, imported = ''] = /@import "([^"]+)"/.exec(text) ?? []
      t.is((await site.ask(imported)).status, 200, imported)
    }
    await site.edit({ 'logo.png': 'LOGO', 'self.css': '@import "self.css"; b{}' })
    const isRenamed = async () => (await pathsOf(site, names)).every(path => !before.includes(path))
    await until(isRenamed, 'all of them have new names')
  })

  test(`a stylesheet can show images of its app and of others, encoded or not (${mode})`, async t => {
    const css = 'a { background: url(../images/seal.png) }'
    const files = {
      'stylesheets/app.css': css,
      'images/seal.png': 'web',
      'shown.css': 'a { b: url(/assets/admin/seal.png?x#y); c: url(/assets/blog/pen.png) }',
      'encoded.css': 'a { b: url("a%20(1).png?v#x") }',
      'a (1).png': 'one',
      '/apps/admin/assets/stylesheets/app.css': css,
      '/apps/admin/assets/images/seal.png': 'admin',
      '/apps/blog/assets/images/pen.png': 'pen'
    }
    const apps = { web: {}, admin: {}, blog: { fingerprint: false } }
    const site = await makeFingerprinted(t, mode, files, { apps })
    t.is(firstUrl(await site.text('app.css')), `/assets/seal-${digestOf('web')}.png`)
    const path = await site.render(assets => assets.path('app.css'), '/admin/page')
    const seal = `/assets/admin/seal-${digestOf('admin')}.png`
    t.is(firstUrl((await site.ask(path)).text), seal)
    t.is(await site.text('shown.css'), `a { b: url(${seal}?x#y); c: url(/assets/blog/pen.png) }`)
    const one = `${await site.path('a (1).png')}?v#x`
    t.is(await site.text('encoded.css'), `a { b: url("${one}") }`)
    t.is((await site.ask('/assets/blog/pen.png')).text, 'pen')
  })
}

// What is a reference in a script, and what only looks like one.

for (const [code, kind, written] of [
  ["import './a.js'", 'import', "'./a.js'"],
  ['import{a}from"./a.js"', 'import', '"./a.js"'],
  ["import a, * as b from '/assets/a.js?x#y'", 'import', "'/assets/a.js?x#y'"],
  ["export * from './a.js'", 'import', "'./a.js'"],
  ["export { a } from './a.js'", 'import', "'./a.js'"],
  ["import d from './d.json' with { type: 'json' }", 'import', "'./d.json'"],
  ["import './\\x61.js'", 'import', "'./\\x61.js'"],
  ["import confetti from 'confetti'", 'import', "'confetti'"],
  ["import '#internal?x'", 'import', "'#internal?x'"],
  ["import('./a.js')", 'dynamic-import', "'./a.js'"],
  ['import(`./a.js`)', 'dynamic-import', '`./a.js`'],
  ["import(/* later */ './a.js' /* or never */)", 'dynamic-import', "'./a.js'"],
  ["import('./a.css', { with: { type: 'css' } })", 'dynamic-import', "'./a.css'"],
  ["`${import('./a.js')}`", 'dynamic-import', "'./a.js'"],
  ["new URL('./a.png', import.meta.url)", 'new-url', "'./a.png'"],
  ['new URL( "a.png#x" ,import . meta . url , )', 'new-url', '"a.png#x"'],
  ["new Worker(new URL('./w.js', import.meta.url))", 'new-url', "'./w.js'"],
  ["new URL('./it\\'s.png', import.meta.url)", 'new-url', "'./it\\'s.png'"]
] as const) {
  test(`a reference: ${code}`, t => {
    const [found, ...others] = findModuleReferences(code)
    t.deepEqual([found?.kind, code.slice(found?.start, found?.end)], [kind, written])
    t.is(`${found?.path}${found?.suffix}`, runInNewContext(written), 'what it means')
    t.deepEqual(others, [])
  })
}

for (const code of [
  ...['"import \'./a.js\'"', "`import './a.js'`", "// import './a.js'", "/* import('./a.js') */"],
  ...["/import('.a.js')/.test(x)", "a.import('./a.js')", 'import(name)', "import('./' + name)"],
  ...['import(`./${name}.js`)', "new URL('./a.png', location.href)"],
  ...["new URL('./a.png', import.meta.url.href)", 'new URL(name, import.meta.url)'],
  ...['new URL(`./${name}.png`, import.meta.url)', "new URL('../', import.meta.url)"],
  ...["new URL('.', import.meta.url)", "new URL('', import.meta.url)"],
  "create(new Base('./a.png', import.meta.url))",
  ...["const { URL } = import.meta; f('./a.png', import.meta.url)", 'console.log(import.meta.url)'],
  ...['<!-- a classic script that imports nothing, and it\'s not closed: "', '']
]) {
  test(`not a reference: ${code}`, t => {
    t.deepEqual(findModuleReferences(code), [])
  })
}

test('a replaced specifier is a valid string, whatever it contains', t => {
  const code = "import './a.js?q=\\'\"#\\r\\n'; export {}"
  const references = findModuleReferences(code)
  const replaced = replaceReferences(code, references, ['/assets/a-1.js'])
  t.is(replaced, 'import "/assets/a-1.js?q=\'%22#%0D%0A"; export {}')
})

for (const [what, piece] of [
  ['imports', "import './a.js';"],
  ['URLs beside the module', "new URL('./a.png', import.meta.url);"],
  ['beginnings of URLs', "new URL('./a.png', import.meta.url, "],
  ['uses of import.meta', 'import.meta.url;']
] as const) {
  test(`${what} take time in proportion to their number`, t => {
    const code = (count: number) => piece.repeat(count)
    t.true(growsInProportion(1000, count => findModuleReferences(code(count))))
  })
}

// Source maps of texts in which URLs take the place of what was written.

const LONGER = '/assets/images/a-0123456789abcdef0123456789abcdef.png'

/** Segments at these columns of the first line. */
const mapping = (columns: readonly number[]) => encode([columns.map(column => [column, 0, 0, 0])])

/** A text with references, and a map with a segment at the beginning of each rule. */
function makeText(rules: readonly string[]) {
  const code = rules.join('')
  let column = 0
  const mappings = mapping(rules.map(rule => (column += rule.length) - rule.length))
  const references = findReferences('css', code)
  const urls = references.map(() => LONGER)
  const map = JSON.stringify({ version: 3, sources: ['a.css'], names: [], mappings })
  const text = { code, references }
  const written = replaceReferences(code, references, urls)
  return { text, map, urls, written, moved: () => shiftMap(map, text, urls) }
}

const asData = (map: string) =>
  `data:application/json;base64,${Buffer.from(map).toString('base64')}`

test('an inline source map is adjusted to replaced URLs, whatever the form of its comment', t => {
  const { text, map, urls, written, moved } = makeText(['a{}', 'b{background:url(a.png)}', 'c{}'])
  t.not(moved(), map)
  for (const comment of ['//# $', '//# $\n', '/*# $ */', '/*# $ */\n', '\n//@ $\r\n']) {
    const withMap = (json: string) =>
      written + comment.replace('$', `sourceMappingURL=${asData(json)}`)
    t.is(shiftInlineMap(withMap(map), text, urls), withMap(moved()), comment)
  }
})

test('what is no inline source map, or a broken one, is left unchanged', t => {
  const { text, map, urls } = makeText(['b{background:url(a.png)}'])
  for (const rest of [
    `"//# sourceMappingURL=${asData(map)}"`,
    `//# sourceMappingURL=${asData(map)}\nlast()`,
    '//# sourceMappingURL=a.js.map',
    '//# sourceMappingURL=data:application/json;base64,',
    '//# sourceMappingURL=data:application/json;base64,!!!!',
    `//# sourceMappingURL=${asData('{')}`,
    `//# sourceMappingURL=${asData('null')}`,
    `//# sourceMappingURL=${asData('{"version":3,"sections":[]}')}`
  ]) {
    t.is(shiftInlineMap(text.code + rest, text, urls), text.code + rest, rest)
  }
})

test('references in one line take time in proportion to their number', t => {
  const rule = '.icon{background:url(a.png);color:red}'
  const [few, many] = [1000, 4000].map(count => makeText(Array.from({ length: count }, () => rule)))
  t.true(growsInProportion(1, times => (times === 1 ? few : many)?.moved()))
})
