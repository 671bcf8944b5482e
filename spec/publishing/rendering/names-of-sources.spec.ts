// Modules that import others by the names of their sources, such as ./money.ts, as Node wants them.
import { followed, MODULES, REACHED } from '../../support/module-graph.ts'
import { makeFingerprinted, makeSite, test, warningsAbout } from '../../support/index.ts'

const OPTIONS = { missing: 'error', integrity: false } as const

for (const mode of ['development', 'precompiled', 'live'] as const)
  test(`what a module imports by the name of its source is reached, in every form (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, MODULES, OPTIONS)
    t.deepEqual(await followed(await site.path('app.js'), path => site.ask(path)), REACHED)
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

test('modules import by the name of its source what any compiler makes a script', async t => {
  const compile = ({ code }: { code: string }) => ({ code })
  const compilers = [{ extensions: 'civet', target: '.js', compile }]
  const files = {
    'javascripts/app.js': "import './lib/dial.civet'; export * from './dial.js.civet'",
    'javascripts/dial.js.civet': "import './app.css.scss'",
    'javascripts/lib/dial.civet': "import('../dial.js.civet')"
  }
  const site = await makeSite(t, files, { compilers, missing: 'ignore' })
  for (const [name, expected] of Object.entries({
    'app.js': 'import "/assets/lib/dial.js"; export * from "/assets/dial.js"',
    'lib/dial.js': 'import("/assets/dial.js")',
    'dial.js': "import './app.css.scss'"
  }))
    t.is((await site.ask(`/assets/${name}`)).text, expected)
})

test('a source that appears is found with the next request, and one that goes is missed', async t => {
  const files = { 'javascripts/app.ts': "import './late.ts'" }
  const site = await makeSite(t, files, { missing: 'error', revalidate: 0 })
  t.is((await site.ask('/assets/app.js')).status, 500)
  site.write('javascripts/late.ts', 'export {}')
  t.regex((await site.ask('/assets/app.js')).text, /^import "\/assets\/late\.js"/)
  t.is((await site.ask('/assets/late.js')).status, 200)
})
