import { makeShop, run } from '../../publishing/cli/run.ts'
import { AS_WRITTEN, serial as test } from '../../support/index.ts'
import { pkg } from '../modules/package-files.ts'

test('after precompile has joined a package, verify, upload-plan, list and explain accept it', async t => {
  const options = { packages: ['common'], ...AS_WRITTEN }
  const root = makeShop(t, {
    ...pkg('common', { main: 'index.js' }, { 'index.js': 'module.exports = { one: 1 }' }),
    'javascripts/app.js': "import common from 'common'\nconsole.log(common)",
    '/assets.config.mjs': `export default ${JSON.stringify(options)}`
  })
  const explained = ['app.js', 'app.js --env production', 'npm/common.js'].map(
    each => `explain ${each}`
  )
  for (const line of ['precompile', 'verify', 'upload-plan', 'list', ...explained]) {
    const { status, stderr } = await run(root, line)
    t.is(status, 0, `${line}: ${stderr}`)
  }
})
