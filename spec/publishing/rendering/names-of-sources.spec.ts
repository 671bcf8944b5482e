// Modules that import others by the names of their sources, such as ./money.ts, as Node wants them.
import { test } from '../../support/test.ts'
import fc from 'fast-check'
import { makeFingerprinted, placed, run } from '../../support/fingerprinted.ts'
import { filesOf, followed, graphs, reachedIn } from '../../support/module-graph.ts'
import { makeProject, makeSite } from '../../support/site.ts'
import { cases } from '../../support/soak.ts'
import { warningsAbout } from '../../support/warnings.ts'

const OPTIONS = { missing: 'error', integrity: false } as const
const RUNS = cases(6, 60)

test('model: whatever a module imports by the name of its source is reached, in development', async t => {
  await fc.assert(
    fc.asyncProperty(graphs, async graph => {
      const site = await makeSite(t, filesOf(graph), OPTIONS)
      t.deepEqual(await followed('/assets/m0.js', path => site.ask(path)), reachedIn(graph))
    }),
    { numRuns: RUNS }
  )
})

for (const mode of ['precompiled', 'live'] as const)
  test(`model: whatever a module imports by the name of its source is reached, with fingerprints (${mode})`, async t => {
    await fc.assert(
      fc.asyncProperty(graphs, async graph => {
        const site = await makeFingerprinted(t, mode, filesOf(graph), OPTIONS)
        t.deepEqual(
          await followed(await site.path('m0.js'), path => site.ask(path)),
          reachedIn(graph)
        )
      }),
      { numRuns: RUNS }
    )
  })

test('a source that is not there is an error in development as in precompile, with what is near', async t => {
  const files = {
    'javascripts/money.ts': 'export const price = 1',
    'javascripts/near.ts': "import './mony.ts'",
    'javascripts/other.ts': "import './money.tsx'",
    'javascripts/lost.ts': "\nimport './nothing.mts'"
  }
  const told = [
    [/near\.ts:1:9 refers to \.\/mony\.ts, which was not found: did you mean '\.\/money\.ts'\?$/],
    [/other\.ts:1:9 refers to \.\/money\.tsx, which .*: did you mean '\.\/money\.ts'\?$/],
    [/lost\.ts:2:9 refers to \.\/nothing\.mts, which was not found$/]
  ] as const
  const site = await makeSite(t, files, { missing: 'error' })
  const root = makeProject(t, placed(files))
  const error = await t.throwsAsync(run({ root, missing: 'error' }))
  const lines = (error?.message ?? '').split('\n')
  for (const [at, name] of ['near', 'other', 'lost'].entries()) {
    const [expected] = told[at] ?? []
    t.is((await site.ask(`/assets/${name}.js`)).status, 500)
    t.regex(site.errors.at(-1)?.message ?? '', expected ?? /^$/)
    t.true(
      lines.some(line => expected?.test(line)),
      error?.message
    )
  }
})

test('a plain file of the name has it, whether money.ts or money.js is imported', async t => {
  const files = {
    'javascripts/money.ts': 'export const price = 1',
    'javascripts/money.js': 'export const price = 2',
    'javascripts/app.ts': "import { price } from './money.ts'\nconsole.log(price)"
  }
  const site = await makeSite(t, files)
  t.regex((await site.ask('/assets/app.js')).text, /from "\/assets\/money\.js"/)
  t.is((await site.ask('/assets/money.js')).text, files['javascripts/money.js'])
  t.regex(warningsAbout(site.root).join('\n'), /money\.js is used, .*money\.ts ignored/)
})

test('modules import what any compiler makes a script by the name of its source, whichever kind they are', async t => {
  const civet = {
    extensions: 'civet',
    target: '.js',
    compile: ({ code }: { code: string }) => ({ code })
  }
  const files = {
    'javascripts/app.js': "import './lib/dial.civet'; export * from './dial.js.civet'",
    'javascripts/dial.js.civet': "import './app.css.scss'",
    'javascripts/lib/dial.civet': "import('../dial.js.civet')"
  }
  const site = await makeSite(t, files, { compilers: [civet], missing: 'ignore' })
  const texts = ['app.js', 'lib/dial.js', 'dial.js'].map(name => site.ask(`/assets/${name}`))
  t.deepEqual(
    (await Promise.all(texts)).map(({ text }) => text),
    [
      'import "/assets/lib/dial.js"; export * from "/assets/dial.js"',
      'import("/assets/dial.js")',
      "import './app.css.scss'"
    ]
  )
})

test('a source that appears is found with the next request, and one that goes is missed', async t => {
  const files = { 'javascripts/app.ts': "import './late.ts'" }
  const site = await makeSite(t, files, { missing: 'error', revalidate: 0 })
  t.is((await site.ask('/assets/app.js')).status, 500)
  site.write('javascripts/late.ts', 'export {}')
  t.regex((await site.ask('/assets/app.js')).text, /^import "\/assets\/late\.js"/)
  t.is((await site.ask('/assets/late.js')).status, 200)
})
