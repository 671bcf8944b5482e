// What is a reference in a script, and what only looks like one.
import test from 'ava'
import { loadModuleLexer } from '../../../lib/assets/rendering/module-references.ts'
import { replaceReferences } from '../../../lib/assets/rendering/references.ts'
import { growsInProportion } from '../../support/cost.ts'

const findModuleReferences = await loadModuleLexer()

/** Each reference as it stands in the code, with its path and suffix. */
function found(code: string) {
  const references = findModuleReferences(code)
  return references.map(({ start, end, kind, path, suffix }) => [
    kind,
    code.slice(start, end),
    path + suffix
  ])
}

for (const [code, kind, written, specifier] of [
  ["import './a.js'", 'import', "'./a.js'", './a.js'],
  ['import{a}from"./a.js"', 'import', '"./a.js"', './a.js'],
  ["import a, * as b from '/assets/a.js?x#y'", 'import', "'/assets/a.js?x#y'", '/assets/a.js?x#y'],
  ["export * from './a.js'", 'import', "'./a.js'", './a.js'],
  ["export { a } from './a.js'", 'import', "'./a.js'", './a.js'],
  ["import d from './d.json' with { type: 'json' }", 'import', "'./d.json'", './d.json'],
  ["import './\\x61.js'", 'import', "'./\\x61.js'", './a.js'],
  ["import confetti from 'confetti'", 'import', "'confetti'", 'confetti'],
  ["import '#internal?x'", 'import', "'#internal?x'", '#internal?x'],
  ["import('./a.js')", 'dynamic-import', "'./a.js'", './a.js'],
  ['import(`./a.js`)', 'dynamic-import', '`./a.js`', './a.js'],
  ["import(/* later */ './a.js' /* or never */)", 'dynamic-import', "'./a.js'", './a.js'],
  ["import('./a.css', { with: { type: 'css' } })", 'dynamic-import', "'./a.css'", './a.css'],
  ["`${import('./a.js')}`", 'dynamic-import', "'./a.js'", './a.js'],
  ["new URL('./a.png', import.meta.url)", 'new-url', "'./a.png'", './a.png'],
  ['new URL( "a.png#x" ,import . meta . url , )', 'new-url', '"a.png#x"', 'a.png#x'],
  ["new Worker(new URL('./w.js', import.meta.url))", 'new-url', "'./w.js'", './w.js'],
  ["new URL('./it\\'s.png', import.meta.url)", 'new-url', "'./it\\'s.png'", "./it's.png"]
] as const) {
  test(`JSM-01 a reference: ${code}`, t => {
    t.deepEqual(found(code), [[kind, written, specifier]])
  })
}

for (const code of [
  '"import \'./a.js\'"',
  "`import './a.js'`",
  "// import './a.js'",
  "/* import('./a.js') */",
  "/import('.a.js')/.test(x)",
  "a.import('./a.js')",
  'import(name)',
  "import('./' + name)",
  'import(`./${name}.js`)',
  "new URL('./a.png', location.href)",
  "new URL('./a.png', import.meta.url.href)",
  'new URL(name, import.meta.url)',
  'new URL(`./${name}.png`, import.meta.url)',
  "new URL('../', import.meta.url)",
  "new URL('.', import.meta.url)",
  "new URL('', import.meta.url)",
  "create(new Base('./a.png', import.meta.url))",
  "const { URL } = import.meta; f('./a.png', import.meta.url)",
  'console.log(import.meta.url)',
  '<!-- a classic script that imports nothing, and it\'s not closed: "',
  ''
]) {
  test(`JSM-01 not a reference: ${code}`, t => {
    t.deepEqual(found(code), [])
  })
}

test('JSM-01 a specifier over several lines stays as it is, as source maps are shifted within lines', t => {
  t.deepEqual(found("import './a\\\n.js'; import(`./b\n.js`)"), [])
})

test('JSM-01 what replaces a specifier is a string, whatever is in it', t => {
  const code = "import './a.js?q=\\'\"#\\r\\n'; export {}"
  const references = findModuleReferences(code)
  t.is(
    replaceReferences(code, references, ['/assets/a-1.js']),
    'import "/assets/a-1.js?q=\'%22#%0D%0A"; export {}'
  )
})

for (const [what, piece] of [
  ['imports', "import './a.js';"],
  ['URLs beside the module', "new URL('./a.png', import.meta.url);"],
  ['beginnings of URLs', "new URL('./a.png', import.meta.url, "],
  ['uses of import.meta', 'import.meta.url;']
] as const) {
  test(`S61 ${what} take time in proportion to their number`, t => {
    const code = (count: number) => piece.repeat(count)
    t.true(growsInProportion(2000, count => findModuleReferences(code(count))))
  })
}
