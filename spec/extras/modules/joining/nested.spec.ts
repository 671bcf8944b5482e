// Modules with expressions in each other, for which the native stack of a thread of Rolldown has room.
import { test } from '../../../support/test.ts'
import { placed, run } from '../../../support/fingerprinted.ts'
import { makeProject } from '../../../support/site.ts'

const nested = (depth: number, open: string, close: string, inner = '') =>
  open.repeat(depth) + inner + close.repeat(depth)

test('1,000 brackets in each other, and chains of 20,000, are joined', async t => {
  const values = [
    nested(1000, '[', ']'),
    nested(1000, '(', ')', '1'),
    nested(1000, '{ a: ', '}', '1'),
    nested(500, '`${', '}`', '1'),
    `() => { ${nested(500, '(() => { ', ' })()')} }`,
    `${'a => '.repeat(20_000)}1`,
    `${'globalThis.a ? 1 : '.repeat(20_000)}2`
  ]
  const modules = values.map((value, at) => [`javascripts/m${at}.js`, `export default ${value}`])
  const root = makeProject(t, placed(Object.fromEntries(modules)))
  t.is((await run({ root, bundle: true })).joined?.modules, values.length)
})

test('a module that awaits stays a file, however deep its expressions are', async t => {
  const values = [nested(3000, '[', ']'), `${'globalThis.a ? 1 : '.repeat(10_000)}2`]
  const modules = values.map((value, at) => [
    `javascripts/m${at}.js`,
    `export default ${value}\nawait 1`
  ])
  const imports = values.map((_, at) => `import './m${at}.js'`).join('\n')
  const files = { ...Object.fromEntries(modules), 'javascripts/app.js': imports }
  const root = makeProject(t, placed(files))
  t.is((await run({ root, bundle: true })).joined?.files, 3)
})
