// Packages in the overview at start, and in the weight of a page.
import test from 'ava'
import { settleProject } from '../../../lib/assets/extras.ts'
import { overview } from '../../../lib/extras/telling/overview.ts'
import type { Weight } from '../../../lib/extras/telling/weight.ts'
import { makeShop, run } from '../../cli/run.ts'
import { makeProject } from '../../support/site.ts'
import { modulePkg } from '../modules/package-files.ts'

test('PKG-01 the block at start names the packages of an app once', t => {
  const root = makeProject(t, { 'apps/web/assets/css/app.css': 'a{}' })
  const packages = ['tip', { '@fonts/inter': ['400.css'] }, { tip: ['more.js'] }]
  const block = overview(settleProject({ root, env: 'development', packages }, {}), '')
  t.regex(block, /^  \/assets\/… +apps\/web\/assets, npm: tip, @fonts\/inter$/m)
})

test.serial('files of a package, and those that packages share, weigh for a package', async t => {
  const root = makeShop(t, {
    'js/app.js': "import 'one'\nimport 'two/other'",
    '/assets.config.json': JSON.stringify({ packages: ['one', 'two'] }),
    ...modulePkg('one', "import 'state'"),
    ...modulePkg('two', "import 'state'"),
    '/node_modules/two/other.js': "import 'state'\nexport default 'other'",
    ...modulePkg('state', `globalThis.state = '${'seen '.repeat(40)}'`)
  })
  const { stdout } = await run(root, 'list --entry app --json')
  const { groups } = JSON.parse(stdout) as Weight
  const names = groups.map(({ path }) => path).toSorted()
  t.deepEqual(names, ['one', 'state', 'the application', 'two'])
})

test.serial('what a CommonJS module of a package requires weighs for the package', async t => {
  const root = makeShop(t, {
    'js/app.js': "import { seen } from 'one'\nconsole.log(seen)",
    '/assets.config.json': JSON.stringify({ packages: ['one'] }),
    '/node_modules/one/package.json': JSON.stringify({ name: 'one', version: '1.0.0' }),
    '/node_modules/one/index.js': "module.exports = require('./cjs/one.js')",
    '/node_modules/one/cjs/one.js': `exports.seen = Date.now() + '${'seen '.repeat(40)}'`
  })
  await run(root, 'precompile')
  const { stdout } = await run(root, 'list --entry app --env production --json')
  const { groups } = JSON.parse(stdout) as Weight
  const paths = groups.flatMap(({ path, parts }) => parts.map(part => `${path}: ${part.path}`))
  t.true(paths.includes('one: /assets/npm/one/cjs/one.js'), paths.join('\n'))
})
