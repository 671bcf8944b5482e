// What open pages are told about Vite.
import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { createServer } from 'vite'
import { freshAssets } from '../../../lib/extras/vite/plugin.ts'
import { makeProject, makeSite } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { openTab } from './tab.ts'

const BUILD = {
  'src/main.js': 'console.log(1)',
  'dist/main-B1a2C3d4.js': '',
  'dist/.vite/manifest.json': JSON.stringify({
    'src/main.js': { file: 'main-B1a2C3d4.js', src: 'src/main.js', isEntry: true }
  }),
  'other/main.js': '',
  'other/meta.json': JSON.stringify({
    outputs: { 'other/main.js': { imports: [], entryPoint: 'src/main.js', inputs: {} } }
  })
}
const VITE = { dir: 'dist', manifest: 'dist/.vite/manifest.json' }
const ESBUILD = { dir: 'other', manifest: 'other/meta.json' }

test('LZY-02 a page that uses a build of Vite is told so, and no other', async t => {
  const root = makeProject(t, BUILD)
  const at = new Date().setHours(17, 17, 0) / 1000
  utimesSync(join(root, VITE.manifest), at, at)
  const site = await makeSite(
    t,
    {},
    {
      root,
      mounts: { '/static': VITE, '/other': ESBUILD },
      routes: ctx => {
        ctx.body = ctx.assets.entry('src/main.js', { mount: '/static' })
      }
    }
  )
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
  const server = await createServer({
    ...{ root, plugins, configFile: false, logLevel: 'silent', cacheDir: join(root, '.vite') },
    server: { port: 0, host: '127.0.0.1' }
  })
  t.teardown(() => server.close())
  await server.listen()
  await site.ask('/')
  t.deepEqual(await notesOf('/static/main-B1a2C3d4.js'), [])
  await server.close()
  await site.ask('/')
  t.deepEqual(await notesOf('/static/main-B1a2C3d4.js'), [note])
})
