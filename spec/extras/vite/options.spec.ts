// The option dev: a mount whose files a dev server has.
import test from 'ava'
import type { Context } from 'koa'
import { settleProject } from '../../../lib/assets/extras.ts'
import { DEV } from '../../../lib/extras/vite/options.ts'
import { makeSite } from '../../support/site.ts'

test('SET-11 a wrong dev is an error at start, with what it must be', t => {
  for (const dev of ['localhost:5173', 'http://localhost:5173/base']) {
    const options = { mounts: { '/a': { dir: '.', dev } } }
    const message = `dev must be ${DEV.dev.expected}, got '${dev}' (mounts./a.dev)`
    t.throws(() => settleProject(options, {}), { instanceOf: TypeError, message })
  }
})

test('a mount serves nothing while dev is in force', async t => {
  const files = { '/build/logo.png': 'png', '/public/static/logo.png': 'hidden by the mount' }
  const mounts = { '/static': { dir: 'build', dev: true } }
  const { ask } = await makeSite(t, files, { mounts, routes: sayDevServer })
  t.is((await ask('/static/logo.png')).text, 'hidden by the mount')
  t.is((await ask('/static/js/deep/a.js')).text, 'the dev server')
})

function sayDevServer(ctx: Context): void {
  ctx.body = 'the dev server'
}
