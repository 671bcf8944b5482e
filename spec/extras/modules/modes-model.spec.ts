// Random projects, with a package in the layouts of package managers: what works in one mode does in all, and the same. Then source maps that no tool takes.
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { cases, makeProject, placed, test, writeFiles, type Files } from '../../support/index.ts'
import { outcomeOf } from './page.ts'

const DATA = { a: 'json', 'b-c': [1] }

const JSX = `/** @jsxRuntime classic @jsx String */
export const mark = <p>it's {1} and don't</p>`
/** What stands in front of a reference to a file beside a module, by the extension of that. */
const SYNTAX = {
  js: '',
  mjs: '',
  ts: 'type A = string',
  mts: 'type A = string',
  jsx: JSX,
  tsx: JSX
}
const BESIDE = Object.entries(SYNTAX).map(([name, code]) => [
  `beside.${name}`,
  `${code}
const { pathname } = new URL('./${name}.svg', import.meta.url)
export const told = pathname.replace(/.*\\/|[-.].*/g, '')`
])

const OWN_FILES: Files = {
  ...Object.fromEntries(BESIDE),
  ...Object.fromEntries(Object.keys(SYNTAX).map(name => [`${name}.svg`, `<svg id="${name}"/>`])),
  'data.json': JSON.stringify(DATA),
  'list.json': '[1, 2]',
  'a.txt': 'a "text"',
  'typed.mts': `import { later } from './later.tsx'
import type { Type } from './gone.ts'
enum Size { Small = 1 }
export const told: Type = Size.Small + later`,
  'later.tsx': 'export const later = 2 as number',
  'node.js': "import 'node:process'\nexport const told = 'node'",
  'browser.js': "export const told = 'browser'",
  'one.cjs': "module.exports = require('./list.json')",
  'asks.cjs': "exports.told = require('kit/two').told",
  'two.cjs': "exports.told = 'required'",
  'two.js': "export const told = 'imported'",
  'Lib.js': "export const told = 'Lib'",
  'lib.js': "export const told = 'lib'",
  'mapped.js':
    "export const told = 'mapped'\n//# sourceMappingURL=data:application/json;base64,AAAA"
}

/** By what is imported: the code, in which `NAME` becomes a variable, and its value; without one the import leads nowhere. */
const IMPORTS: Readonly<Record<string, readonly [code: string, told?: unknown]>> = {
  json: ["import NAME from './data.json'", DATA],
  'a name of JSON': ["import { a as NAME } from './data.json'", 'json'],
  'an array': ["import NAME from './list.json' with { type: 'json' }", [1, 2]],
  'an array later': [
    "const NAME = (await import('./list.json', { with: { type: 'json' } })).default",
    [1, 2]
  ],
  'JSON later': ["const NAME = (await import('./data.json')).a", 'json'],
  'required JSON': ["import NAME from './one.cjs'", [1, 2]],
  text: ["import NAME from './a.txt'", 'a "text"'],
  TypeScript: ["import { told as NAME } from './typed.mts'", 3],
  Lib: ["import { told as NAME } from './Lib.js'", 'Lib'],
  lib: ["import { told as NAME } from './lib.js'", 'lib'],
  'a broken map': ["import { told as NAME } from './mapped.js'", 'mapped'],
  itself: ["import { told as NAME } from 'kit/own.js'", 'own'],
  'what is for import': ["import { told as NAME } from 'kit/two'", 'imported'],
  'what is for require': ["import { told as NAME } from './asks.cjs'", 'required'],
  'what is for browsers': ["import { told as NAME } from './node.js'", 'browser'],
  ...Object.fromEntries(
    Object.keys(SYNTAX).map(name => [
      `a file beside .${name}`,
      [`import { told as NAME } from './beside.${name}'`, name]
    ])
  ),
  'no extension': ["import { told as NAME } from './own'", 'own'],
  'another package': ["import { told as NAME } from 'part'", 'part'],
  'none later': ["const NAME = await import('gone').catch(() => 0)", 0],
  'no package': ["import NAME from 'gone'"],
  'no file': ["import NAME from './gone.js'"],
  'no path': ["import NAME from '/gone.js'"],
  'a scheme': ["import NAME from 'virtual:x'"],
  'our scheme': ["import NAME from 'package:kit'"]
}

/** Where a package is, and `part`, which it imports; `part` is that of the project where the package has none. */
const STORES: Readonly<Record<string, readonly [kit: string, part: string]>> = {
  flat: ['app/node_modules/kit', 'app/node_modules/part'],
  nested: ['app/node_modules/kit', 'app/node_modules/kit/node_modules/part'],
  above: ['node_modules/kit', 'node_modules/part'],
  pnpm: [
    'app/node_modules/.pnpm/kit@1/node_modules/kit',
    'app/node_modules/.pnpm/part@1/node_modules/part'
  ],
  'a store': ['store/kit/1/node_modules/kit', 'store/kit/1/node_modules/part'],
  'a store without it': ['store/kit/1/node_modules/kit', 'store/part/1/node_modules/part'],
  workspace: ['packages/kit', 'packages/part']
}

const NAMES = Object.keys(IMPORTS)
const LOST = NAMES.filter(each => IMPORTS[each]?.length === 1)

const aPlan = fc.record({
  store: fc.constantFrom(...Object.keys(STORES)),
  imports: fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 }),
  isTyped: fc.boolean(),
  missing: fc.constantFrom('warn' as const, 'error' as const),
  bundle: fc.constantFrom('packages' as const, true as const),
  isPartNamed: fc.boolean()
})
type Plan = typeof aPlan extends fc.Arbitrary<infer T> ? T : never

/** As htm has its module for Preact in the global store of pnpm. */
const IN_STORE: Plan = {
  store: 'a store without it',
  imports: ['another package', 'itself', 'what is for import', 'what is for require'],
  isTyped: false,
  missing: 'error',
  bundle: 'packages',
  isPartNamed: true
}

const FLAT: Plan = { ...IN_STORE, store: 'flat' }

/** Both names are those of files that only pass on what a file of the package exports. */
const TWINS: Plan = { ...FLAT, imports: ['none later', 'Lib', 'lib'], bundle: true }

const LATER = NAMES.filter(each => each.endsWith('later'))

/** What awaits stands alone, and imports the module that is made of JSON. */
const APART: Plan = { ...FLAT, imports: ['an array', ...LATER] }

/** What stands alone nowhere, and each import that leads nowhere. */
const TOGETHER = NAMES.filter(each => ![...LOST, ...LATER].includes(each))
const ALL: readonly Plan[] = [
  { ...FLAT, imports: TOGETHER, bundle: true },
  ...LOST.map(each => ({ ...FLAT, imports: [each], missing: 'warn' as const }))
]

const OWN = ['Own', 'own']

function make(top: string, { store, imports, isTyped, isPartNamed }: Plan): string {
  const [kit, part] = STORES[store] ?? ['', '']
  const main = isTyped ? 'index.ts' : 'index.js'
  const names = imports.map((_, at) => `v${at}`)
  const lines = imports.map((each, at) => IMPORTS[each]?.[0].replace('NAME', `v${at}`))
  const json = (name: string, given: object) =>
    JSON.stringify({ name, version: '1.0.0', type: 'module', ...given })
  const below = (folder: string, files: Files) =>
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]))
  const app = [
    "import { told as kit } from 'kit'",
    "import list from 'kit/list.json' with { type: 'json' }",
    "import data from 'kit/data.json' with { type: 'json' }",
    "import { told as main } from 'words'",
    ...(isPartNamed ? ["import { told as part } from 'part'", 'void part'] : []),
    ...OWN.map(name => `import { own as ${name} } from '@/${name}.ts'`),
    `export const told = [kit, list, data, main, ${OWN.join(', ')}]`
  ]
  const source = Object.fromEntries(
    OWN.map(name => [`js/${name}.ts`, `export const own = '${name}'`])
  )
  const paths = { '@/*': ['./apps/web/assets/js/*'] }
  writeFiles(top, {
    ...below(kit, {
      ...OWN_FILES,
      'package.json': json('kit', {
        exports: {
          '.': `./${main}`,
          './*': './*',
          './two': { require: './two.cjs', import: './two.js' }
        },
        browser: { './node.js': './browser.js' }
      }),
      [main]: [...lines, `export const told = [${names.join(', ')}]`].join('\n'),
      'own.js': "export const told = 'own'"
    }),
    ...below(part, {
      'package.json': json('part', { exports: './index.js' }),
      'index.js': "export const told = 'part'"
    }),
    ...below('app/node_modules/words', {
      'package.json': json('words', { main: 'words.json' }),
      'words.json': '{"told":"main"}'
    }),
    ...below('app', placed({ ...source, 'js/app.ts': app.join('\n') })),
    'app/tsconfig.json': JSON.stringify({ compilerOptions: { paths } })
  })
  for (const folder of [kit, part]) {
    const link = join(top, 'app/node_modules', folder.split('/').at(-1) ?? '')
    const isThere = /^(?:app\/)?node_modules\/\w+(?:\/node_modules\/\w+)?$/.test(folder)
    if (isThere) continue
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(top, folder), link)
  }
  return join(top, 'app')
}

test('model: modules work in the same way in development and precompiled, joined or not', async t => {
  t.timeout(3_600_000)
  const property = fc.asyncProperty(aPlan, async plan => {
    const { imports, missing, bundle, store, isPartNamed } = plan
    const isLost = imports.some(each => LOST.includes(each))
    const told = imports.map(each => IMPORTS[each]?.[1])
    // What is nested in another package is none of the project.
    const isPart = isPartNamed && store !== 'nested'
    const packages = ['kit', 'words', ...(isPart ? ['part'] : [])]
    for (const way of ['development', false, bundle] as const) {
      const root = make(makeProject(t), { ...plan, isPartNamed: isPart })
      const outcome = await outcomeOf(t, root, { packages, missing }, way)
      const where = `${way}: ${outcome.failed}`
      if (isLost) {
        t.regex(
          outcome.failed ?? '',
          /kit\/index\.[jt]s:? imports '[^']+', which (?:is not|does not)/,
          where
        )
        continue
      }
      t.deepEqual(outcome.told, [told, [1, 2], DATA, 'main', ...OWN], where)
      t.deepEqual(outcome.preloaded, outcome.loaded, where)
    }
  })
  const seed = Number(process.env['SEED'] ?? 1)
  const examples = [IN_STORE, TWINS, APART, ...ALL].map((plan): [Plan] => [plan])
  await fc.assert(property, { numRuns: examples.length + cases(4, 150), seed, examples })
})

const MAP = { version: 3, sources: ['a.ts'], names: [], mappings: 'AAAA' }
/** Maps that no tool takes. */
const UNREADABLE: readonly unknown[] = [
  null,
  {},
  { ...MAP, mappings: '!!' },
  { ...MAP, sources: 'a.ts' }
]
const inline = (json: string) =>
  `sourceMappingURL=data:application/json;base64,${Buffer.from(json).toString('base64')}`

test('a broken source map is only a warning of precompile, with its file', async t => {
  const maps = ['no JSON', ...UNREADABLE.map(each => JSON.stringify(each))]
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
