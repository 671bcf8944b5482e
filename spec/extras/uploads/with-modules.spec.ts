// Commands judge packages as the precompile did that joined them.
import ava from 'ava'
import { makeShop, run } from '../../cli/run.ts'
import { AS_WRITTEN } from '../../support/as-written.ts'
import { pkg } from '../modules/package-files.ts'

ava.serial('PKG-04 UPL-01 a package that precompile joined is refused by no command', async t => {
  const options = { packages: ['common'], ...AS_WRITTEN }
  const root = makeShop(t, {
    ...pkg('common', { main: 'index.js' }, { 'index.js': 'module.exports = { one: 1 }' }),
    'javascripts/app.js': "import common from 'common'\nconsole.log(common)",
    '/assets.config.mjs': `export default ${JSON.stringify(options)}`
  })
  for (const line of [
    ...['precompile', 'verify', 'upload-plan', 'list', 'explain app.js'],
    'explain app.js --env production'
  ]) {
    const { status, stderr } = await run(root, line)
    t.is(status, 0, `${line}: ${stderr}`)
  }
  const { status, stderr } = await run(root, 'explain npm/common.js')
  t.is(status, 0, stderr)
})
