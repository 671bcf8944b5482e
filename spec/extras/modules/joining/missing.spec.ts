// A machine without Rolldown, or with packages in archives.

import { installWithout, startNode } from '../../../publishing/cli/run.ts'
import { makeProject, placed, readManifest, run, test, writeFiles } from '../../../support/index.ts'
import { ALL, SHOP } from './shop.ts'

const EMPTY = { 'javascripts/app.js': '', 'javascripts/later.js': '', 'javascripts/worker.js': '' }
const WANTED = 'rolldown, which is not installed: npm install --save-dev rolldown'

test('only options that need Rolldown fail without it, with an error that says how to install it', async t => {
  const { bundle, packages } = ALL
  const root = makeProject(t, placed({ ...SHOP, ...EMPTY }))
  const runWithout = installWithout(root, 'rolldown')
  const precompile = (given: object) => {
    writeFiles(root, { 'assets.config.mjs': `export default ${JSON.stringify(given)}` })
    return runWithout('precompile')
  }
  for (const [options, told] of [
    [{ packages }, `the option packages needs ${WANTED}`],
    [{ bundle }, `joining modules needs ${WANTED}`]
  ] as const) {
    const { status, stderr } = await precompile(options)
    t.deepEqual([status, stderr.includes(told)], [1, true], stderr)
  }
  const { status, stderr } = await precompile({ packages: { big: 'low.js' } })
  t.is(status, 0, stderr)
  t.true('/assets/npm/big/low.js' in readManifest(root).assets)
})

test('a development server without Rolldown says so once when it starts', async t => {
  const root = makeProject(t, placed({ ...SHOP, ...EMPTY }))
  installWithout(root, 'rolldown')
  const server =
    "import { koaAssets } from 'koa-fresh-assets'; koaAssets({ serve: true, packages: ['big'] })"
  const words = ['--input-type=module', '--eval', server]
  const { outcome } = startNode(root, words, { NODE_ENV: 'development' })
  const { stderr } = await outcome
  const told = stderr.split('\n').filter(line => /rolldown|cannot start/.test(line))
  t.deepEqual(told, [`koa-fresh-assets: the option packages needs ${WANTED}`])
})

test.serial("the error of Yarn's Plug'n'Play says what to write into .yarnrc.yml", async t => {
  const root = makeProject(t, placed({ ...SHOP, ...EMPTY }))
  Object.assign(process.versions, { pnp: '3' })
  t.teardown(() => Reflect.deleteProperty(process.versions, 'pnp'))
  for (const options of [{ packages: { big: 'low.js' } }, { bundle: true }])
    await t.throwsAsync(run({ root, ...options }), {
      message: /Plug'n'Play .*: write nodeLinker: node-modules into \.yarnrc\.yml/
    })
})
