import { noticesAtStart } from '../../../lib/extras/warnings/notices.ts'
import { settleProject } from '../../../lib/runtime/app/extras.ts'
import { makeProject, test } from '../../support/index.ts'

test('nothing is said of a mount whose files its dev server has', t => {
  const root = makeProject(t, { 'dist/index.html': '' })
  for (const more of [{}, { serve: true }]) {
    const mounts = { '/x': { dir: 'dist', fallback: 'app.html', dev: true } }
    const options = { root, env: 'development', apps: false, mounts, ...more } as const
    t.deepEqual(noticesAtStart(settleProject(options, {}), {}), [])
  }
})

test('in development nothing is said of a mount that has yet to be built', t => {
  const root = makeProject(t, { 'apps/web/assets/app.css': 'a{}' })
  const mounts = { '/admin': { dir: 'build', manifest: 'build/.vite/manifest.json' } }
  const options = { root, env: 'development', serve: true, mounts }
  t.deepEqual(noticesAtStart(settleProject(options, {}), {}), [])
})
