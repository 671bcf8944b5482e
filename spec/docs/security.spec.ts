// docs/security.md
import Koa from 'koa'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import supertest from 'supertest'
import { koaAssets, type KoaAssetsOptions } from '../../lib/koa-assets.ts'
import { makeExample, readPage } from '../support/examples.ts'

const page = readPage('docs/security.md')
const uploads = page.take('Serving what others upload')

test('every block of the page is run here', t => {
  t.deepEqual(page.left(), [])
})

test('an uploaded page is a download, and runs nothing', async t => {
  const site = makeExample(t, { 'data/uploads/page.html': '<script>go()</script>' })
  await site.follow(uploads)
  const { root } = site
  const { options } = (await import(pathToFileURL(join(root, 'uploads.js')).href)) as {
    options: KoaAssetsOptions
  }
  for (const env of ['development', 'production']) {
    const app = new Koa()
    app.use(koaAssets({ ...options, root, env }))
    const { status, headers } = await supertest(app.callback()).get('/uploads/page.html')
    t.is(status, 200)
    t.is(headers['content-disposition'], 'attachment')
    t.is(headers['content-security-policy'], "default-src 'none'; sandbox")
    t.is(headers['x-content-type-options'], 'nosniff')
  }
})
