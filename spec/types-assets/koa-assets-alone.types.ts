// Importing koa-fresh-assets/assets alone keeps Koa's own type of ctx.fresh. Checked by
// `tsc -p spec/types-assets`, never run.
import Koa from 'koa'
import { koaAssets, type KoaAssetsOptions } from 'koa-fresh-assets/assets'

const options: KoaAssetsOptions = { serve: false }
const app = new Koa()
app.use(koaAssets(options))
app.use(async ctx => {
  const fresh: boolean = ctx.fresh
  ctx.body = ctx.assets.stylesheet('app') + String(fresh)
  // @ts-expect-error it is a boolean here
  await ctx.fresh('x')
})
