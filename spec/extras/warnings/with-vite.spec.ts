import { noticesAtStart } from '../../../lib/extras/warnings/notices.ts'
import { settleProject } from '../../../lib/runtime/app/extras.ts'
import { makeProject, test, viteMount } from '../../support/index.ts'

const DEV = { '/x': { dir: 'dist', fallback: 'app.html', dev: true } }

test('in development a mount with a dev server, or not built yet, causes no warning', t => {
  const root = makeProject(t, { 'apps/web/assets/app.css': 'a{}', 'dist/index.html': '' })
  for (const options of [
    { apps: false, mounts: DEV } as const,
    { apps: false, mounts: DEV, serve: true } as const,
    { mounts: { '/admin': viteMount('build') }, serve: true }
  ])
    t.deepEqual(noticesAtStart(settleProject({ root, env: 'development', ...options }, {}), {}), [])
})
