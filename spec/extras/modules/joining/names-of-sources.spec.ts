// Joined modules that import others by the names of their sources, such as ./money.ts.
import { makeFingerprinted, test } from '../../../support/index.ts'
import { followed, MODULES, REACHED } from '../../../support/module-graph.ts'
import { pkg } from '../package-files.ts'

const PACKAGE = pkg('tip', { type: 'module', main: 'tip.js' }, { 'tip.js': 'export const tip = 1' })

/** None, or the app's own directory once more: each module has two names then. */
const SOURCES = [[], [{ dir: 'assets', at: '/' }], [{ dir: 'assets', at: 'again' }]]

for (const bundle of [true, 'packages', false] as const)
  test(`imports by file names such as ./money.ts work, also of files with two URLs, bundle: ${bundle}`, async t => {
    for (const sources of SOURCES) {
      const files = { ...PACKAGE, ...MODULES }
      const given = { missing: 'error', integrity: false, packages: ['tip'], bundle } as const
      const site = await makeFingerprinted(t, 'precompiled', files, { ...given, sources })
      t.deepEqual(await followed(await site.path('app.js'), path => site.ask(path)), REACHED)
    }
  })
