// Which packages share a file.
import { test } from '../../../support/test.ts'
import type { Script } from '../../../../lib/extras/modules/joining/scripts.ts'
import { packageFiles } from '../../../../lib/extras/modules/joining/plan.ts'

/** A module of a package, or of the application, and what it imports. */
function script(group: string | undefined, size: number, imports: readonly string[]): Script {
  const source = { name: '', file: `/${group}.js`, directory: '/', packageName: group }
  const none = new Set<string>()
  const nothing = { isPlaced: false, dynamicImports: none, again: none, others: none }
  const isModule = size !== COMMONJS
  return { source, code: 'x'.repeat(size), isModule, imports: new Set(imports), ...nothing }
}

const [LARGE, MIDDLE, TINY, COMMONJS] = [170_000, 50_000, 1000, 0]

/** @param given packages by name, each with its size and the packages that it imports */
function filesOf(
  given: Record<string, readonly [size: number, ...imports: string[]]>,
  pages: Record<string, readonly string[]>,
  later: Record<string, readonly string[]> = {}
) {
  const scripts = new Map<string, Script>()
  for (const [path, imports] of Object.entries({ ...pages, ...later }))
    scripts.set(path, script(undefined, 1, imports))
  for (const [name, [size, ...imports]] of Object.entries(given))
    scripts.set(name, script(name, size, imports))
  const [first, soon] = [Object.keys(pages), Object.keys(later)]
  const [fileOf, files] = packageFiles(scripts, scripts, first, soon)
  return { of: Object.fromEntries(Object.keys(given).map(name => [name, fileOf(name)])), files }
}

test('a page starts with only the packages that it needs, without those that import() loads', t => {
  const { of } = filesOf(
    { a: [MIDDLE], b: [MIDDLE], both: [MIDDLE], wee: [TINY], soon: [TINY], often: [TINY] },
    { '/app.js': ['a', 'both', 'wee'], '/admin.js': ['b', 'both', 'wee'] },
    { '/one.js': ['a', 'soon', 'often'], '/two.js': ['often'] }
  )
  const others = { soon: 'soon', often: 'often' }
  t.deepEqual(of, { a: 'a', b: 'b', both: 'both', wee: 'both', ...others })
})

test('files of joined packages never import each other in a cycle', t => {
  const { of, files } = filesOf(
    {
      bootstrap: [LARGE, 'popper', 'shared'],
      popper: [MIDDLE],
      shared: [TINY],
      plugin: [TINY, 'bootstrap', 'shared']
    },
    { '/app.js': ['bootstrap', 'plugin', 'shared'] }
  )
  const others = { shared: 'popper', plugin: 'plugin' }
  t.deepEqual(of, { bootstrap: 'bootstrap', popper: 'popper', ...others })
  t.deepEqual([...files], ['popper', 'bootstrap', 'plugin'])
})

test('a CommonJS package, which may require any amount of code, has a file of its own', t => {
  const { of } = filesOf(
    { 'react-dom': [COMMONJS], wee: [TINY], other: [TINY] },
    { '/app.js': ['react-dom', 'wee', 'other'] }
  )
  t.deepEqual(of, { 'react-dom': 'react-dom', wee: 'other', other: 'other' })
})
