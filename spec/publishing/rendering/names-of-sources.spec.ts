// Modules that import others by the names of their sources, such as ./money.ts, as Node wants them.
import { followed, MODULES, REACHED } from '../../support/module-graph.ts'
import { makeFingerprinted, makeSite, test, warningsAbout } from '../../support/index.ts'

const OPTIONS = { missing: 'error', integrity: false } as const

for (const mode of ['development', 'precompiled', 'live'] as const)
  test(`modules can import others by the names of their sources, in every form (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, MODULES, OPTIONS)
    t.deepEqual(await followed(await site.path('app.js'), path => site.ask(path)), REACHED)
  })

test('a plain money.js takes precedence over money.ts, even for an import of money.ts', async t => {
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
