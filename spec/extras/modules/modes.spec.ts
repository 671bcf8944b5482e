// Development and production agree on modules and packages, however these are joined.
import { test } from '../../support/test.ts'
import { placed } from '../../support/fingerprinted.ts'
import { makeProject, type Files } from '../../support/site.ts'
import { modulePkg, pkg } from './package-files.ts'
import { outcomeOf, WAYS } from './page.ts'

const KIT = { packages: ['kit'] }
const APP = { 'javascripts/app.js': "export { told } from 'kit'" }

/** A package that cannot be used, and what is said of it. */
const UNUSABLE: readonly (readonly [code: string, told: string])[] = [
  ["import 'package:x'", "node_modules/kit/index.js imports 'package:x', which is not there"],
  ["import 'virtual:x'", "node_modules/kit/index.js imports 'virtual:x', which is not there"],
  ["import '/gone.js'", "node_modules/kit/index.js imports '/gone.js', which is not there"],
  ["import 'gone'", "node_modules/kit/index.js imports 'gone', which is not installed"]
]

test("what a package imports in vain is an error in all modes, with missing: 'warn' as well", async t => {
  for (const [code, told] of UNUSABLE) {
    const files = placed({ ...modulePkg('kit', `${code}\nexport const told = 1`), ...APP })
    for (const way of ['development', true] as const) {
      const root = makeProject(t, files)
      const { failed } = await outcomeOf(t, root, { ...KIT, missing: 'warn' }, way)
      t.true(failed?.replace(': imports', ' imports').includes(told), `${way}: ${failed}`)
    }
  }
})

const DATA = { a: 'json', 'b-c': [1] }
const DATA_FILES = { 'data.json': JSON.stringify(DATA), 'list.json': '[1, 2]' }
const TYPED = `import { later } from './later.tsx'
import type { Type } from './gone.ts'
enum Size { Small = 1 }
export const told: Type = [Size.Small, later]`

/** The modules of packages, and what they export as `told`. */
const KINDS: Readonly<Record<string, readonly [files: Files, told: unknown, json?: object]>> = {
  'by-default': [{ 'index.js': "import data from './data.json'\nexport const told = data" }, DATA],
  'by-name': [{ 'index.js': "export { a as told } from './data.json'" }, 'json'],
  'by-attribute': [
    { 'index.js': "import told from './list.json' with { type: 'json' }\nexport { told }" },
    [1, 2]
  ],
  later: [{ 'index.js': "export const told = (await import('./data.json')).default['b-c']" }, [1]],
  required: [
    {
      'index.js':
        "import list from './list.json'\nimport one from './one.cjs'\nexport const told = [list, one]",
      'one.cjs': "module.exports = require('./list.json').map(each => each + 1)"
    },
    [
      [1, 2],
      [2, 3]
    ]
  ],
  'as-main': [{ 'index.json': '{"told":"main"}' }, 'main', { main: 'index.json' }],
  text: [
    { 'index.js': "import told from './a.txt'\nexport { told }", 'a.txt': 'a "text"' },
    'a "text"'
  ],
  typed: [
    { 'index.mts': TYPED, 'later.tsx': 'export const later = 2 as number' },
    [1, 2],
    { exports: './index.mts' }
  ]
}

test('a package may import JSON, texts and TypeScript, however its modules are joined', async t => {
  const names = Object.keys(KINDS)
  const packages = Object.entries(KINDS).map(([name, [files, , json]]) =>
    pkg(name, { type: 'module', module: 'index.js', ...json }, { ...DATA_FILES, ...files })
  )
  const imports = names.map((name, at) => `import { told as t${at} } from '${name}'`)
  const told = `export const told = [${names.map((_, at) => `t${at}`).join(', ')}]`
  const app = { 'javascripts/app.js': [...imports, told].join('\n') }
  const root = makeProject(t, placed({ ...Object.assign({}, ...packages), ...app }))
  const expected = Object.values(KINDS).map(([, value]) => value)
  for (const way of WAYS) {
    const options = { packages: names, minify: way === true }
    const { failed, told: values } = await outcomeOf(t, root, options, way)
    t.deepEqual(values, expected, `${way}: ${failed}`)
  }
})

const MAP = { version: 3, sources: ['a.ts'], names: [], mappings: 'AAAA' }
/** Maps that no tool takes. */
const BROKEN: readonly unknown[] = [
  null,
  {},
  { ...MAP, mappings: '!!' },
  { ...MAP, mappings: 'AA' },
  { ...MAP, mappings: 'ADAA' },
  { ...MAP, mappings: 'AAAAA' },
  { ...MAP, sources: [] },
  { ...MAP, sources: 'a.ts' }
]
const inline = (json: string) =>
  `sourceMappingURL=data:application/json;base64,${Buffer.from(json).toString('base64')}`

test('a broken source map is a warning with its file, joined and minified or not', async t => {
  const maps = ['no JSON', ...BROKEN.map(each => JSON.stringify(each))]
  const sound = JSON.stringify({ ...MAP, file: 1, sourcesContent: [1] })
  const modules = [...maps, sound].map((json, at): [string, string] => [
    `javascripts/m${at}.js`,
    `export const m = ${at}\n//# ${inline(json)}`
  ])
  const imports = modules.map((_, at) => `import { m as m${at} } from './m${at}.js'`)
  const told = `export const told = [${modules.map((_, at) => `m${at}`).join(', ')}]`
  const files = placed({
    ...Object.fromEntries(modules),
    'javascripts/app.js': [...imports, told].join('\n'),
    'stylesheets/site.css': `@import './part.css';\n/*# ${inline('no JSON')} */`,
    'stylesheets/part.css': `a { color: red }\n/*# ${inline('{}')} */`
  })
  const broken = ['stylesheets/part.css', 'stylesheets/site.css']
  const expected = modules.slice(0, -1).map(([name]) => name)
  for (const [way, minify, sheets] of [
    ['development', false, []],
    [false, true, broken],
    [true, false, broken],
    [true, true, broken]
  ] as const) {
    const root = makeProject(t, files)
    const outcome = await outcomeOf(t, root, { minify }, way)
    t.deepEqual(outcome.told, Array.from(modules.keys()), `${way}: ${outcome.failed}`)
    const warned = outcome.warnings.filter(each =>
      each.includes('a source map that cannot be read')
    )
    const all = way === 'development' ? [] : [...expected, ...sheets]
    const named = warned.map(each => each.replace(/ .*/, '').replace('apps/web/assets/', ''))
    t.deepEqual(named.toSorted(), all, `${way}, minify: ${minify}`)
  }
})

/** Modules whose names differ by case alone, and an app that reads them. */
const TWINS: readonly Files[] = [
  {
    'app.js':
      "import { a } from './Lib.js'\nimport { a as b } from './lib.js'\nexport const told = [a, b]",
    'Lib.js': 'export const a = 1',
    'lib.js': 'export const a = 2'
  },
  {
    'app.js':
      "const both = [import('./Lib.js'), import('./lib.js')]\nexport const told = Promise.all(both).then(all => all.map(each => each.a))",
    'Lib.js': "export { a } from './lib/one.js'",
    'Lib/one.js': 'export const a = 3',
    'lib/one.js': 'export const a = 1',
    'lib.js': "import { a as one } from './Lib/one.js'\nexport const a = one - 1"
  },
  {
    'app.js':
      "import { a } from './Lib.js'\nimport { a as b } from './lib.js'\nexport const told = [a, b]",
    'Lib.js': 'export const a = await 1',
    'lib.js': 'export const a = await 2'
  }
]

test('modules whose names differ by case alone work however they are joined', async t => {
  for (const twins of TWINS) {
    const named = Object.entries(twins).map(([name, code]) => [`javascripts/${name}`, code])
    const root = makeProject(t, placed(Object.fromEntries(named) as Files))
    for (const way of WAYS.filter(each => each !== 'packages')) {
      const { told, failed } = await outcomeOf(t, root, {}, way)
      t.deepEqual(told, [1, 2], `${way}: ${failed}`)
    }
  }
})
