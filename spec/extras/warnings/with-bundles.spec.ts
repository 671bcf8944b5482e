import test from 'ava'
import { noticesAtStart } from '../../../lib/extras/warnings/notices.ts'
import { settleProject } from '../../../lib/runtime/app/extras.ts'
import { makeProject } from '../../support/site.ts'

test('MNT-06 in development nothing is said of a mount that has yet to be built', t => {
  const root = makeProject(t, { 'apps/web/assets/app.css': 'a{}' })
  const mounts = { '/admin': { dir: 'build', manifest: 'build/.vite/manifest.json' } }
  const options = { root, env: 'development', serve: true, mounts }
  t.deepEqual(noticesAtStart(settleProject(options, {}), options, {}), [])
})
