// A page with a Content-Security-Policy that has a nonce, visited again: its scripts still run.
import { randomBytes } from 'node:crypto'
import { test } from '../support/test.ts'
import Koa from 'koa'
import helmet from 'koa-helmet'
import { koaHttpCache } from '../../lib/koa-http-cache.ts'
import { open } from '../support/cached-site.ts'
import { launch } from './chromium.ts'

test('a page with a nonce of koa-helmet runs its scripts at the second visit, a 304', async t => {
  const statuses: number[] = []
  const app = new Koa()
  app.use(async (ctx, next) => {
    Object.assign(ctx.res, { nonce: randomBytes(16).toString('base64') })
    await next()
    statuses.push(ctx.status)
  })
  const scriptSrc = [(_: unknown, res: object) => `'nonce-${(res as { nonce: string }).nonce}'`]
  app.use(helmet({ contentSecurityPolicy: { directives: { scriptSrc } } }))
  app.use(koaHttpCache())
  app.use(async ctx => {
    ctx.cacheControl('private', 'no-cache')
    await ctx.fresh('page-1')
    const { nonce } = ctx.res as unknown as { nonce: string }
    ctx.body = `<!doctype html><link rel="icon" href="data:,">
      <script nonce="${nonce}">globalThis.ran = true</script>`
  })
  const { port } = await open(t, app)
  const url = `http://127.0.0.1:${port}/`
  const page = await launch(t).open(url)
  t.true(await page.evaluate('globalThis.ran === true'))
  await page.follow(url)
  t.deepEqual(statuses, [200, 304])
  t.true(await page.evaluate('globalThis.ran === true'))
  t.deepEqual(page.complaints, [])
})
