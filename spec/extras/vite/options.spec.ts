import { join } from 'node:path'
import { test } from '../../support/test.ts'
import type { Context } from 'koa'
import { settleProject } from '../../../lib/runtime/app/extras.ts'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { settle } from '../../../lib/runtime/settings/settings.ts'
import { BUILD } from '../../../lib/extras/vite/options.ts'
import { makeProject, makeSite } from '../../support/site.ts'

const starting = (options: KoaAssetsOptions) => () => settle(options, {})

test('while `dev` is in force the manifest is not read; `dev: condition && url` may mean none', t => {
  const root = makeProject(t, { 'dist/m.json': '{}' })
  for (const [dev, settled, isRead = false] of [
    [true, true],
    ['http://localhost:5173/', 'http://localhost:5173'],
    [false, undefined, true],
    ['', undefined, true],
    [undefined, undefined, true]
  ] as const) {
    const mounts = { '/x': { dir: isRead ? 'dist' : 'none', manifest: 'dist/m.json', dev } }
    const [mount] = settle({ root, env: 'development', mounts }, {}).mounts
    t.is(mount?.dev, settled)
    t.is(mount?.manifest, isRead ? join(root, 'dist/m.json') : undefined)
    const inProduction = starting({ root, env: 'production', mounts })
    if (!isRead) t.throws(inProduction, { code: 'mount-unusable' })
  }
})

// The option dev: a mount whose files a dev server has.

test('a wrong dev is an error at start, with what it must be', t => {
  for (const dev of ['localhost:5173', 'http://localhost:5173/base']) {
    const options = { mounts: { '/a': { dir: '.', dev } } }
    const message = `dev must be ${BUILD.dev.expected}, got '${dev}' (mounts./a.dev)`
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
