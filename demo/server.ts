/** A small site that shows both middleware at work. Start it with `npm run demo`. */
import Koa from 'koa'
import { koaAssets, koaHttpCache } from 'koa-fresh-assets'
import { cachingRoutes } from './caching-routes.ts'
import { listen } from './listen.ts'
import { pageRoutes } from './page-routes.ts'
// oxlint-disable-next-line import/no-unassigned-import -- importing it adds the package's assets
import './packages/confetti/index.ts'

const app = new Koa()

// Finds apps/web and apps/admin, serves their assets, gives views the helpers (ctx.assets).
app.use(koaAssets({ root: import.meta.dirname }))

// Gives the routes below their words: ctx.cacheControl, ctx.expires, ctx.fresh.
app.use(koaHttpCache())

app.use(pageRoutes.routes())
app.use(cachingRoutes.routes())

listen(app, address => {
  console.log(`
The demo of koa-fresh-assets is at ${address}

  ${address}          edit demo/apps/web/assets/stylesheets/base/_tokens.scss, reload
  ${address}/caching  watch requests that are answered 200, 304 and 412
  ${address}/admin    a second application with a stylesheet of the same name

  curl -i ${address}/assets/app.css        Sass, compiled when it is asked for
  curl -i ${address}/assets/admin/app.css  the other application's, from Less
  curl -i ${address}/assets/confetti.js    from a third-party package
  curl -i ${address}/caching/article       200 with an ETag; once more, 304:
  curl -i ${address}/caching/article -H 'If-None-Match: "article-1"'
  curl -i ${address}/caching/note -X PUT -d 'Hello' -H 'If-Match: "outdated"'  # 412

Ctrl-C ends it.`)

  if (process.env.SERVE_STATIC_ASSETS !== 'true') {
    console.log(
      '\nSERVE_STATIC_ASSETS is not true, so nothing serves the assets: use `npm run demo`.'
    )
  }
})
