// Joined modules that import others by the names of their sources, such as ./money.ts.
import fc from 'fast-check'
import { makeFingerprinted, test } from '../../../support/index.ts'
import { filesOf, followed, graphs, reachedIn } from '../../../support/module-graph.ts'
import { pkg } from '../package-files.ts'

const PACKAGE = pkg('tip', { type: 'module', main: 'tip.js' }, { 'tip.js': 'export const tip = 1' })

/** None, or the app's own directory once more: each module has two names then. */
const SOURCES = fc.constantFrom([], [{ dir: 'assets', at: '/' }], [{ dir: 'assets', at: 'again' }])

for (const bundle of [true, 'packages', false] as const)
  test(`model: imports by names of sources are reached, also where files have two, bundle: ${bundle}`, async t => {
    await fc.assert(
      fc.asyncProperty(graphs, SOURCES, async (graph, sources) => {
        const files = { ...PACKAGE, ...filesOf(graph) }
        const given = { missing: 'error', integrity: false, packages: ['tip'], bundle } as const
        const site = await makeFingerprinted(t, 'precompiled', files, { ...given, sources })
        const reached = await followed(await site.path('m0.js'), path => site.ask(path))
        t.deepEqual(reached, reachedIn(graph))
      }),
      { numRuns: 10 }
    )
  })
