// Modules with brackets in each other, for which the native stack of Rolldown has no room.
import { makeProject, placed, run, test, type Files } from '../../../support/index.ts'
import { pkg } from './shop.ts'

const nested = (depth: number, open = '[', close = ']', inner = '') =>
  open.repeat(depth) + inner + close.repeat(depth)
const DEEP = nested(20_000)
const IN_APP = 'apps/web/assets/javascripts/deep.js'
const inApp = (code: string) => ({
  'javascripts/app.js': "import value from './deep.js'\nconsole.log(value)",
  'javascripts/deep.js': code
})
const inPackage = (files: Files, json = {}) => ({
  ...pkg('deep', files, json),
  'javascripts/app.js': "import value from 'deep'\nconsole.log(value)"
})
const REQUIRED = {
  'index.js': "module.exports = require('./data.js')",
  'data.js': `module.exports = ${DEEP}`
}

for (const [what, file, files] of [
  ['module of the app', IN_APP, inApp(`export default ${DEEP}`)],
  ['module of a package', 'deep/index.js', inPackage({ 'index.js': `export default ${DEEP}` })],
  ['file that CommonJS requires', 'deep/data.js', inPackage(REQUIRED, { type: 'commonjs' })]
] as const) {
  test(`a ${what} with 20,000 nested brackets is an error that names the file`, async t => {
    const root = makeProject(t, placed(files))
    const options = file === IN_APP ? { bundle: true } : { packages: ['deep'] }
    const { message } = await t.throwsAsync(run({ root, ...options }))
    t.true(message.includes(file), message)
    t.true(message.includes('more than 500 brackets in each other'), message)
  })
}

test('modules with 400 nested brackets, long chains or brackets in strings are joined', async t => {
  const values = [
    nested(400),
    nested(400, '(', ')', '1'),
    nested(400, '({ a: ', '})', '1').replaceAll('({', '{').replaceAll('})', '}'),
    `${'a => '.repeat(20_000)}1`,
    JSON.stringify(nested(2000, '(', '')),
    `'${nested(2000, "\\'[", '')}'`
  ]
  const modules = values.map((value, at) => [`javascripts/m${at}.js`, `export default ${value}`])
  const root = makeProject(t, placed(Object.fromEntries(modules)))
  t.is((await run({ root, bundle: true })).joined?.modules, values.length)
})

test('a module with top-level await keeps its file, however long an expression in it is', async t => {
  const chain = `${'globalThis.a ? 1 : '.repeat(10_000)}2`
  const root = makeProject(t, placed(inApp(`export default ${chain}\nawait 1`)))
  t.is((await run({ root, bundle: true })).joined?.files, 2)
})
