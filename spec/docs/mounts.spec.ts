// docs/mounts.md
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Koa from 'koa'
import test from 'ava'
import supertest from 'supertest'
import { FILE_EXTENSIONS } from '../../lib/assets/serving/directories/fallback.ts'
import { MOUNT } from '../../lib/assets/settings/mount-options.ts'
import { koaAssets, type KoaAssetsOptions } from '../../lib/koa-assets.ts'
import { asBody, evaluate, makeExample, readPage } from '../support/examples.ts'
import { makeProject } from '../support/site.ts'

const page = readPage('docs/mounts.md')
const [example = ''] = page.take('').map(asBody)
const only = page.take('Without assets of your own')

test('every block of the page is run here', t => {
  t.deepEqual(page.left(), [])
})

test('the table names every option of a mount, and no other', t => {
  const named = Array.from(page.text.matchAll(/^\| `(\w+)`/gm), ([, name]) => name)
  t.deepEqual(new Set(named), new Set(Object.keys(MOUNT)))
})

test('MNT-06 the page lists every extension that gets no fallback, and no other', t => {
  const [, list = ''] = /## Fallbacks\n[^]*?\n\|[^]*?\n\|[ -|]*\n([^]*?)\n\n/.exec(page.text) ?? []
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
