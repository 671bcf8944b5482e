/** A small site that uses both middleware. Start it with `npm run demo`. */
import Koa from 'koa'
import { koaAssets, koaHttpCache } from 'koa-fresh-assets'
import assetOptions from './assets.config.ts'
import { cachingRoutes } from './caching-routes.ts'
import { listen } from './listen.ts'
import { pageRoutes } from './page-routes.ts'
import { welcome } from './welcome.ts'

const app = new Koa()

// Serves the assets of apps/web and apps/admin, and adds the view helpers: ctx.assets.
app.use(koaAssets(assetOptions))

// Adds ctx.cacheControl, ctx.expires and ctx.fresh for the routes below.
app.use(koaHttpCache())

app.use(pageRoutes.routes())
app.use(cachingRoutes.routes())

listen(app, address => {
  console.log(welcome(address, app.env === 'production'))

  if (process.env.SERVE_STATIC_ASSETS !== 'true') {
    console.log(
      '\nSERVE_STATIC_ASSETS is not true, so the assets are not served. Start the demo with `npm run demo`.'
    )
  }
})
