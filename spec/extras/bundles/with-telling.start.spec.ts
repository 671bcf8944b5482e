// What a mount with a manifest needs when a server starts.
import { join } from 'node:path'
import test from 'ava'
import { listMounts } from '../../../lib/extras/telling/listed-mounts.ts'
import { precompile } from '../../../lib/koa-assets.ts'
import type { KoaAssetsOptions } from '../../../lib/assets/settings/options.ts'
import { settle } from '../../../lib/assets/settings/settings.ts'
import { settleProject } from '../../../lib/assets/extras.ts'

import { makeProject } from '../../support/site.ts'

const startMounts = (options: KoaAssetsOptions) => () => settle(options, {})

test('MNT-03 UPL-02 BND-15 the directory of a mount may be made after precompile and the start, in production only without a manifest', async t => {
  const root = makeProject(t, { 'apps/web/assets/app.css': 'a{}' })
  const mounts = { '/x': { dir: 'none', manifest: 'none/manifest.json' } }
  for (const env of ['production', 'development', 'test']) {
    t.notThrows(startMounts({ root, env, mounts: { '/x': 'none', '/y': 'none/below' } }))
    if (env !== 'production') t.notThrows(startMounts({ root, env, mounts }))
  }
  await precompile({ root, mounts })
  t.throws(startMounts({ root, env: 'production', mounts }), {
    code: 'mount-unusable',
    message: `the mount /x is ${join(root, 'none')}, which is not a directory: build it first, or correct the path`
  })
})

test('MOV-03 list leaves out what exclude names', async t => {
  const manifest = { 'a.ts': { file: 'a.js', isEntry: true }, 'b.ts': { file: 'vendor/b.js' } }
  const root = makeProject(t, { 'dist/manifest.json': JSON.stringify(manifest) })
  const mount = { dir: 'dist', manifest: 'dist/manifest.json', exclude: ['vendor'] }
  for (const env of ['development', 'production']) {
    const site = settleProject({ root, env, apps: false, mounts: { '/x': mount } }, {})
    const [listed] = await listMounts(site)
    t.deepEqual(
      listed?.files.map(({ path }) => path),
      ['/x/a.js']
    )
  }
})
