// What tsconfig.json says to the compiler of TypeScript and JSX.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { precompile } from '../../../lib/koa-assets.ts'
import { EXTRAS } from '../../../lib/runtime/app/extras.ts'
import { followed } from '../../support/module-graph.ts'
import { makeFingerprinted, makeProject, makeSite, MODES, test } from '../../support/index.ts'
import { warningsAbout, type ExecutionContext, type Files } from '../../support/index.ts'

const JSX = 'export const cart = <><b /></>'
const FIELDS = 'class Cart { total = 1 }; console.log(Cart)'
const DECORATED = 'declare const kept: any; class Cart { @kept total = 1 }; console.log(Cart)'
const REACT = /React\.createElement\(React\.Fragment/
const PREACT = /from "preact\/jsx-runtime"/

const rows: ReadonlyArray<readonly [options: object | undefined, source: string, made: RegExp]> = [
  [undefined, JSX, REACT],
  [{}, JSX, REACT],
  [{ jsx: 'preserve' }, JSX, REACT],
  [{ jsx: 'react-jsx' }, JSX, /from "react\/jsx-runtime"/],
  [{ jsx: 'react-jsx', jsxImportSource: 'preact' }, JSX, PREACT],
  [{ jsx: 'react-jsxdev', jsxImportSource: 'preact' }, JSX, PREACT],
  [{ jsx: 'preserve', jsxImportSource: 'preact' }, JSX, PREACT],
  [{ jsxImportSource: 'preact' }, JSX, PREACT],
  [{ jsx: 'react-jsx' }, `/** @jsxImportSource preact */\n${JSX}`, PREACT],
  [{ jsx: 'react-jsx' }, `/** @jsxRuntime classic */\n${JSX}`, REACT],
  [{ jsx: 'react', jsxFactory: 'h', jsxFragmentFactory: 'Part' }, JSX, /\bh\(Part, null/],
  [undefined, FIELDS, /^ {2}total = 1/m],
  [{ target: 'ES2022' }, FIELDS, /^ {2}total = 1/m],
  [{ target: 'ES2020' }, FIELDS, /this\.total = 1/],
  [{ useDefineForClassFields: false }, FIELDS, /this\.total = 1/],
  [{ target: 'ES2020', useDefineForClassFields: true }, FIELDS, /"total", 1|^ {2}total = 1/m],
  [{}, DECORATED, /__decoratorStart/],
  [{ experimentalDecorators: true }, DECORATED, /__decorateClass/],
  [{}, "import { a } from './b.js'", /^$/],
  [{ verbatimModuleSyntax: true }, "import { a } from './b.js'", /import \{ a \} from "\.\/b\.js"/]
]

test('settings of tsconfig.json for JSX, classes and imports apply live and precompiled', async t => {
  for (const [compilerOptions, source, made] of rows) {
    const config = JSON.stringify({ compilerOptions })
    const files = {
      ...(compilerOptions && { '/tsconfig.json': config }),
      'javascripts/b.js': 'export const a = 1',
      'javascripts/app.tsx': source
    }
    const site = await makeSite(t, files, { missing: 'ignore' })
    const { text } = await site.ask('/assets/app.js')
    t.regex(text.replace(/\n?\/\/# sourceMappingURL.*\s*$/, ''), made, config)
  }
  const files = {
    '/tsconfig.json': '{ "compilerOptions": { "jsxImportSource": "preact" } }',
    'javascripts/app.tsx': JSX
  }
  for (const mode of MODES) {
    const site = await makeFingerprinted(t, mode, files, { missing: 'ignore' })
    t.regex(await site.text('app.js'), PREACT)
  }
})

const has = (extra: string) => EXTRAS.some(({ name }) => name === extra)
const UNLISTED = has('modules') && { packages: false as const }
const MINIFIED = has('styles') && { minify: true }

test('without a setting, JSX is compiled for React or Preact, whichever package.json names', async t => {
  const lists = { react: /from "react\/jsx-runtime"/, preact: PREACT, 'solid-js': REACT }
  for (const [name, made] of Object.entries(lists)) {
    const options = { missing: 'ignore', ...UNLISTED } as const
    const site = await makeSite(t, { 'javascripts/app.tsx': JSX }, options)
    t.regex((await site.ask('/assets/app.js')).text, REACT)
    site.write('/package.json', JSON.stringify({ dependencies: { [name]: '1' } }))
    t.regex((await site.ask('/assets/app.js')).text, made)
    // As components that several applications share have it.
    site.write('/package.json', JSON.stringify({ peerDependencies: { [name]: '1' } }))
    t.regex((await site.ask('/assets/app.js')).text, made)
    site.write('/tsconfig.json', '{ "compilerOptions": { "jsxFactory": "h" } }')
    t.regex((await site.ask('/assets/app.js')).text, /\bh\(/)
    site.write('/tsconfig.json', '{ "compilerOptions": { "jsx": "preserve" } }')
    site.write('javascripts/app.tsx', `/** @jsx own */\n${JSX}`)
    t.regex((await site.ask('/assets/app.js')).text, /\bown\(/)
  }
})

test('JSX in a module that imports React calls that React, whatever package.json has', async t => {
  const imports = { react: 'https://cdn.example/react.js' }
  const site = await makeSite(t, {}, { imports, ...UNLISTED })
  site.write('/package.json', '{ "dependencies": { "react": "1" } }')
  for (const bound of ['React', '* as React', 'React, { useState }']) {
    site.write('javascripts/app.tsx', `import ${bound} from 'react'\n${JSX}`)
    t.regex((await site.ask('/assets/app.js')).text, REACT)
  }
  t.deepEqual(warningsAbout('jsx-runtime'), [])
})

/** What the file says about the factory of JSX, if anything. */
const config = (factory: string | undefined, rest: object = {}) =>
  JSON.stringify({
    ...rest,
    ...(factory !== undefined && { compilerOptions: { jsx: 'react', jsxFactory: factory } })
  })

const PLACES = ['tsconfig.json', 'apps/tsconfig.json', 'apps/web/assets/javascripts/tsconfig.json']

test('a tsconfig.json whose base is not installed is an error only of modules that need it', async t => {
  const files = {
    '/tsconfig.json': '{ "extends": "@gone/base" }',
    'plain.js': "import 'own'",
    'typed.ts': "import 'own'",
    'aliased.js': "import '@/own.js'",
    'own.js': ''
  }
  const site = await makeSite(t, files, { missing: 'warn' })
  const statuses = { plain: 200, typed: 500, aliased: 500 }
  for (const [name, status] of Object.entries(statuses))
    t.is((await site.ask(`/assets/${name}.js`)).status, status, name)
  const compilerOptions = { paths: { own: ['./apps/web/assets/typed.ts'] } }
  site.write('/tsconfig.json', JSON.stringify({ compilerOptions }))
  t.regex((await site.ask('/assets/plain.js')).text, /typed\.js/)
})

test('after each edit the nearest tsconfig.json applies, with what it extends', async t => {
  const edit = fc.record({
    place: fc.constantFrom(...PLACES),
    content: fc.constantFrom('own', 'extends', 'nothing', 'gone')
  })
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 6 }), async edits => {
      // A tsconfig.json above the project does not count.
      const root = join(makeProject(t, { 'tsconfig.json': config('above') }), 'shop')
      const site = await makeSite(t, { 'javascripts/app.jsx': JSX }, { root, revalidate: 0 })
      const known = new Map<string, string>()
      for (const [at, { place, content }] of edits.entries()) {
        const own = content === 'own' || content === 'extends'
        if (content === 'gone') known.delete(place)
        else known.set(place, own ? `edit${at}` : 'React.createElement')
        rmSync(join(root, place), { force: true })
        if (content === 'own') site.write(`/${place}`, config(`edit${at}`))
        if (content === 'nothing') site.write(`/${place}`, '{}')
        if (content === 'extends') {
          const base = `base${PLACES.indexOf(place)}.json`
          site.write(`/${base}`, config(`edit${at}`))
          site.write(`/${place}`, config(undefined, { extends: join(root, base) }))
        }
        const nearest = PLACES.findLast(each => known.has(each)) ?? ''
        const { text } = await site.ask('/assets/app.js')
        t.true(text.includes(`${known.get(nearest) ?? 'React.createElement'}(`), text)
      }
    }),
    { numRuns: 25 }
  )
})

test('a tsconfig.json that cannot be read is an error with its place, until it is right', async t => {
  const site = await makeSite(t, { 'javascripts/app.ts': FIELDS })
  for (const [text, told] of [
    ['{\n  "compilerOptions": { "jsx": ', /tsconfig\.json:2:31: Unexpected end of file in JSON/],
    ['{ "extends": "./gone.json" }', /tsconfig\.json: File '\.\/gone\.json' not found/],
    ['{ "extends": "nobody/base" }', /tsconfig\.json: File 'nobody\/base' not found/]
  ] as const) {
    site.write('/tsconfig.json', text)
    t.is((await site.ask('/assets/app.js')).status, 500)
    t.regex(site.errors.at(-1)?.message ?? '', told)
  }
  site.write('/tsconfig.json', '{}')
  t.is((await site.ask('/assets/app.js')).status, 200)
})

const JAVASCRIPTS = './apps/web/assets/javascripts'
const paths = {
  '@/*': [`${JAVASCRIPTS}/*`, './shared/*'],
  money: [`${JAVASCRIPTS}/lib/money.ts`],
  outside: ['./lib/outside.ts'],
  packaged: ['./node_modules/packaged/index.js'],
  mapped: ['./lib/outside.ts']
}
const mark = (number: number) => `globalThis['<m${number}>'] = 1`
const LED: Files = {
  '/tsconfig.json': JSON.stringify({ compilerOptions: { paths } }),
  '/shared/far.js': mark(1),
  '/shared/near.js': 'never()',
  'javascripts/lib/money.ts': mark(2),
  'javascripts/lib/look.tsx': mark(3),
  'javascripts/lib/index.mts': mark(4),
  'javascripts/near.js': mark(5),
  'javascripts/late.js': mark(6)
}
const LEADING = [
  ['@/far', 1],
  ['money', 2],
  ['@/lib/look', 3],
  ['@/lib/look.tsx', 3],
  ['@/lib/look.jsx', 3],
  ['@/lib', 4],
  ['@/near.js', 5],
  ['@/near', 5]
] as const

async function reached(t: ExecutionContext, files: Files): Promise<(readonly string[])[]> {
  const options = { missing: 'error', integrity: false, sources: '../../shared' } as const
  const site = await makeSite(t, files, options)
  const all = [await followed('/assets/app.js', path => site.ask(path))]
  for (const mode of MODES) {
    const other = await makeFingerprinted(t, mode, files, options)
    all.push(await followed(await other.path('app.js'), path => other.ask(path)))
  }
  return all
}

const OUTSIDE = '#lib/../../../../../lib/outside.ts'
const NAMED = {
  '/apps/web/package.json': JSON.stringify({
    imports: {
      '#lib/*': './assets/javascripts/lib/*',
      '#lib/internal/*': null,
      '#near': { types: './near.d.ts', node: './no.js', browser: './assets/javascripts/near.js' },
      '#url': 'https://cdn.example/a.js',
      '#absolute': '/apps/web/index.js',
      '#gone': 'gone',
      '#env': './.env',
      '#late': ['./assets/gone.js', './assets/javascripts/late.js']
    }
  })
}

test('paths of tsconfig.json and #imports of package.json lead to assets in every mode', async t => {
  const named = ['#lib/look', '#lib/money.ts', '#near', '#late']
  const forms = [...LEADING.map(([path]) => path), ...named].map(path => `import '${path}'`)
  const app = [...forms, "void import('@/late')", mark(0)].join('\n')
  const marks = [0, 1, 2, 3, 4, 5, 6].map(number => `<m${number}>`)
  const { '/tsconfig.json': config = '', ...rest } = LED
  for (const [name, settings] of [
    ['javascripts/app.ts', { '/tsconfig.json': config }],
    ['javascripts/app.js', { '/jsconfig.json': config }],
    ['javascripts/app.js', { '/tsconfig.json': config, '/jsconfig.json': '{}' }]
  ] as const) {
    const all = await reached(t, { ...rest, ...NAMED, ...settings, [name]: app })
    for (const each of all) t.deepEqual(each, marks)
  }
  for (const [path, number] of LEADING) {
    const [each] = await reached(t, { ...LED, 'javascripts/app.ts': `import '${path}'` })
    t.deepEqual(each, [`<m${number}>`], path)
  }
})

test('an import that paths or #imports lead to no asset is an error with its place', async t => {
  const packaged = { '/node_modules/packaged/index.js': '' }
  const beside = { '/lib/outside.ts': '', '/apps/web/.env': '', '/apps/web/index.js': '' }
  const files = { ...LED, ...NAMED, ...packaged, ...beside }
  const options = { missing: 'error', imports: { mapped: 'near.js' } } as const
  const lost = 'which was not found'
  const mony = 'apps/web/assets/javascripts/lib/mony'
  const lib = "the file is there, but no option publishes it: add '../../lib' to sources\n"
  const hidden = 'the file is there, but it is not among the sources\n'
  for (const [path, told] of [
    ['outside', `refers to outside (lib/outside.ts by paths of tsconfig.json), ${lost}: ${lib}`],
    ['packaged', "imports 'packaged', which no option maps"],
    ['@/lib/mony', `refers to @/lib/mony (${mony} by paths of tsconfig.json), ${lost}`],
    ['#lib/mony', `refers to #lib/mony (${mony} by imports of package.json), ${lost}`],
    ['#lib/internal/a', "imports '#lib/internal/a', which no option maps"],
    ['#url', "imports '#url', which no option maps"],
    ['#absolute', "imports '#absolute', which no option maps"],
    [OUTSIDE, `imports '${OUTSIDE}', which no option maps`],
    ['#gone', "imports 'gone', which no option maps"],
    ['#env', `refers to #env (apps/web/.env by imports of package.json), ${lost}: ${hidden}`],
    ['#none', "imports '#none', which no option maps"],
    ['mapped', undefined]
  ] as const) {
    const site = await makeSite(t, { ...files, 'javascripts/app.ts': `import '${path}'` }, options)
    const { status, text } = await site.ask('/assets/app.js')
    t.is(status, told ? 500 : 200)
    if (told) t.true(`${site.errors[0]?.message}\n`.includes(`app.ts:1:8 ${told}`))
    else t.regex(text, /^import "\/assets\/near\.js"/)
    const built = precompile({ ...options, root: site.root, ...MINIFIED })
    const error = await built.then(() => '', String)
    if (told) t.true(`${error}\n`.includes(`app.ts:1:8 ${told}`), path)
  }
})
