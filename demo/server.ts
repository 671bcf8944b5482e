/** A small site that shows both middleware at work. Start it with `npm run demo`. */
import Koa from 'koa'
import { koaAssets, koaHttpCache } from 'koa-fresh-assets'
import assetOptions from './assets.config.ts'
import { cachingRoutes } from './caching-routes.ts'
import { listen } from './listen.ts'
import { pageRoutes } from './page-routes.ts'
import { welcome } from './welcome.ts'

const app = new Koa()

// Serves the assets of apps/web and apps/admin, gives views the helpers (ctx.assets).
app.use(koaAssets(assetOptions))

// Gives the routes below their words: ctx.cacheControl, ctx.expires, ctx.fresh.
app.use(koaHttpCache())

app.use(pageRoutes.routes())
app.use(cachingRoutes.routes())

listen(app, address => {
  console.log(welcome(address, app.env === 'production'))

  if (process.env.SERVE_STATIC_ASSETS !== 'true') {
    console.log(
      '\nSERVE_STATIC_ASSETS is not true, so nothing serves the assets: use `npm run demo`.'
    )
  }
})
