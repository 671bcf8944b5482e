import { join } from 'node:path'
import test from 'ava'
import type { KoaAssetsOptions } from '../../../lib/assets/settings/options.ts'
import { settle } from '../../../lib/assets/settings/settings.ts'
import { makeProject } from '../../support/site.ts'

const starting = (options: KoaAssetsOptions) => () => settle(options, {})

test('MNT-03 while `dev` is in force the manifest is not read; `dev: condition && url` may mean none', t => {
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
