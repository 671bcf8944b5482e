// docs/mounts.md
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import Koa from 'koa'
import supertest from 'supertest'
import { FILE_EXTENSIONS } from '../../lib/assets/serving/directories/fallback.ts'
import { MOUNT } from '../../lib/assets/settings/mount-options.ts'
import { canMakeDeltas } from '../../lib/files/deltas.ts'
import { koaAssets, type KoaAssetsOptions } from '../../lib/koa-assets.ts'
import { asBody, blocksLeft, evaluate, makeExample, readPage } from '../support/examples.ts'
import { filesBelow } from '../support/fingerprinted.ts'
import { makeProject } from '../support/site.ts'
import { soakTest } from '../support/soak.ts'

const isAble = await canMakeDeltas()

const mountsPage = readPage('docs/mounts.md')
const [example = ''] = mountsPage.take('').map(asBody)
const only = mountsPage.take('Without assets of your own')

test('the table names every option of a mount, and no other', t => {
  const named = Array.from(mountsPage.text.matchAll(/^\| `(\w+)`/gm), ([, name]) => name)
  t.deepEqual(new Set(named), new Set(Object.keys(MOUNT)))
})

test('MNT-06 the page lists every extension that gets no fallback, and no other', t => {
  const [, list = ''] =
    /## Fallbacks\n[^]*?\n\|[^]*?\n\|[ -|]*\n([^]*?)\n\n/.exec(mountsPage.text) ?? []
  const named = Array.from(list.matchAll(/`\.(\w+)`/g), ([, extension]) => extension)
  t.deepEqual(named, [...FILE_EXTENSIONS])
})

test('the example serves four directories, each under its path', async t => {
  const chunk = { 'src/main.js': { file: 'main-B1a2C3d4.js', isEntry: true, name: 'main' } }
  const root = makeProject(t, {
    'build/app/app.js': 'go()',
    'docs/html/index.html': 'contents',
    'data/uploads/cat.png': 'cat',
    'dist/main-B1a2C3d4.js': 'main()',
    'dist/index.html': 'page',
    'dist/.vite/manifest.json': JSON.stringify(chunk)
  })
  const app = new Koa()
  const here = (options: KoaAssetsOptions) =>
    app.use(koaAssets({ ...options, root, env: 'production' }))
  evaluate(example, { koaAssets: here })
  const agent = supertest(app.callback())
  const navigation = { 'Sec-Fetch-Mode': 'navigate' }
  const cacheControlOf = async (path: string) => {
    const { status, headers } = await agent.get(path).set(navigation)
    t.is(status, 200, path)
    return headers['cache-control']
  }
  t.is(await cacheControlOf('/static/app.js'), 'public, max-age=0, must-revalidate')
  t.is(await cacheControlOf('/docs/'), 'public, max-age=0, must-revalidate')
  t.is(await cacheControlOf('/uploads/cat.png'), 'public, max-age=604800')
  t.is(await cacheControlOf('/main-B1a2C3d4.js'), 'public, max-age=31536000, immutable')
  t.is(await cacheControlOf('/orders/7'), 'no-cache')
  t.is((await agent.get('/docs')).status, 301)
})

test('PRV-02 the example without assets serves a folder of that name, and nothing else', async t => {
  const site = makeExample(t, { 'assets/a.txt': 'a', 'public/robots.txt': 'robots' })
  await site.follow(only)
  const { root } = site
  const { options } = (await import(pathToFileURL(join(root, 'only-mounts.js')).href)) as {
    options: KoaAssetsOptions
  }
  const app = new Koa()
  app.use(koaAssets({ ...options, root, env: 'production' }))
  const agent = supertest(app.callback())
  t.is((await agent.get('/assets/a.txt')).text, 'a')
  t.is((await agent.get('/robots.txt')).status, 404)
})

// docs/deltas.md

const deltasPage = readPage('docs/deltas.md')
const mount = deltasPage.take('How deltas are made')

soakTest(
  `a build of Vite ${isAble ? 'gets deltas from' : 'is compressed beside'} the build before`,
  async t => {
    const lines = Array.from({ length: 400 }, (_, at) => `console.log(${(at * 7919) % 9973})`)
    const site = makeExample(t, {
      'vite.config.js':
        "export default { build: { minify: false, rolldownOptions: { input: 'app.js' } } }",
      'app.js': lines.join('\n')
    })
    await site.run('npx vite build')
    site.write({ 'app.js': `console.log('new')\n${lines.join('\n')}` })
    await site.follow(mount)
    const files = filesBelow(join(site.root, 'dist'))
    t.true(files.some(path => path.endsWith('.br')))
    t.is(files.filter(path => path.endsWith('.dcz')).length, isAble ? 1 : 0)
    t.is(files.filter(path => path.endsWith('.js')).length, 2, 'open pages request the old one')
    // Once more, over a directory with both: the third build has deltas from the two before.
    site.write({ 'app.js': `console.log('newer')\n${lines.join('\n')}` })
    await site.follow(mount)
    const third = filesBelow(join(site.root, 'dist'))
    t.is(third.filter(path => path.endsWith('.js')).length, 3)
    const added = third.find(path => path.endsWith('.js') && !files.includes(path)) ?? ''
    const deltas = third.filter(path => path.startsWith(added) && path.endsWith('.dcz'))
    t.is(deltas.length, isAble ? 2 : 0)
  }
)

test('every block of these pages is run here', t => {
  t.deepEqual(blocksLeft(), [])
})
