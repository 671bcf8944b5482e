// What open pages are told about Vite.
import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { test } from '../../support/test.ts'
import type { Middleware } from 'koa'
import { freshAssets } from '../../../lib/extras/vite/plugin.ts'
import { ESBUILD, TWO_BUILDS, viteMount } from '../../support/bundler-project.ts'
import { makeProject, makeSite } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { startVite } from '../../support/vite-server.ts'
import { openTab } from './tab.ts'

test('a page that uses a build of Vite is told so, and no other', async t => {
  const root = makeProject(t, TWO_BUILDS)
  const at = new Date().setHours(17, 17, 0) / 1000
  utimesSync(join(root, viteMount().manifest), at, at)
  const mounts = { '/static': viteMount(), '/other': ESBUILD }
  const routes: Middleware = ctx =>
    void (ctx.body = ctx.assets.entry('src/main.js', { mount: '/static' }))
  const site = await makeSite(t, {}, { root, mounts, routes })
  await site.ask('/')
  const notesOf = async (path: string) => {
    const tab = await openTab(t, site.port, `use=${path}`)
    await until(() => tab.told().length > 0, 'the first message')
    const [first] = tab.told()
    tab.close()
    return first?.notes
  }
  const note = 'Vite is not running: tags of the build of 17:17'
  t.deepEqual(await notesOf('/static/main-B1a2C3d4.js'), [note])
  t.deepEqual(await notesOf('/other/main.js'), [])
  const plugins = [freshAssets({ mount: '/static', input: 'src/main.js' })]
  const { server } = await startVite(t, root, { plugins })
  await site.ask('/')
  t.deepEqual(await notesOf('/static/main-B1a2C3d4.js'), [])
  await server.close()
  await site.ask('/')
  t.deepEqual(await notesOf('/static/main-B1a2C3d4.js'), [note])
})
