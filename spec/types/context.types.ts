// What both middleware add to Koa's context is in the types of the package as it is built. Checked by
// `tsc -p spec/types`, never run.
import Koa from 'koa'
import { koaAssets, koaHttpCache } from 'koa-fresh-assets'

const app = new Koa()
app.use(koaAssets({ serve: true }))
app.use(koaHttpCache())
app.use(async ctx => {
  ctx.preload('app.css')
  ctx.cacheControl('public', { maxAge: 600 })
  await ctx.fresh('etag')
  ctx.assets.app('admin').stylesheet('app') satisfies string
  await ctx.sendFile('a.pdf', { root: 'data' })
  // @ts-expect-error there is no such helper
  ctx.assets.styleSheet('app')
})
