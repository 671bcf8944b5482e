import test from 'ava'
import { precompile, verify } from '../../../lib/index.ts'
import { makeProject } from '../../support/site.ts'

test('MNT-03 verify runs before the directory of a mount is made', async t => {
  const root = makeProject(t, { 'apps/web/assets/css/app.css': 'a{}' })
  const options = { root, mounts: { '/x': { dir: 'later', manifest: 'later/m.json' } } }
  await precompile(options)
  t.deepEqual((await verify(options)).problems, [])
})
