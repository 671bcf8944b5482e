// The option dev: a mount whose files a dev server has.
import test from 'ava'
import { noticesAtStart } from '../../../lib/assets/inventory/notices.ts'
import { settleSite } from '../../../lib/assets/site.ts'
import { DEV } from '../../../lib/extras/vite/options.ts'
import { makeProject } from '../../support/site.ts'

test('SET-11 a wrong dev is an error at start, with what it must be', t => {
  for (const dev of ['localhost:5173', 'http://localhost:5173/base']) {
    const options = { mounts: { '/a': { dir: '.', dev } } }
    const message = `dev must be ${DEV.dev.expected}, got '${dev}' (mounts./a)`
    t.throws(() => settleSite(options, {}), { instanceOf: TypeError, message })
  }
})

test('MNT-06 nothing is said of a mount whose files its dev server has', t => {
  const root = makeProject(t, { 'dist/index.html': '' })
  for (const more of [{}, { serve: true }]) {
    const mounts = { '/x': { dir: 'dist', fallback: 'app.html', dev: true } }
    const options = { root, env: 'development', apps: false, mounts, ...more } as const
    t.deepEqual(noticesAtStart(settleSite(options, {}), options, {}), [])
  }
})
