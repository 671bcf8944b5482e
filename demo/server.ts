/** A small site that uses both middleware. Start it with `npm run demo`. */
import { createServer } from 'node:http'
import { join } from 'node:path'
import Koa from 'koa'
import { koaAssets, koaHttpCache } from 'koa-fresh-assets'
import assetOptions, { hasVite, viteApp } from './assets.config.ts'
import { cachingRoutes } from './caching-routes.ts'
import { listen } from './listen.ts'
import { noteRoutes } from './note-routes.ts'
import { pageRoutes } from './page-routes.ts'
import { vitePage } from './vite-page.ts'
import { welcome } from './welcome.ts'

const app = new Koa()
const server = createServer()

// With DEMO_VITE=true, Vite compiles the front end of /vite in this process.
const isDevelopment = app.env === 'development' && process.env.DEMO_VITE === 'true'
const dev = isDevelopment ? await startVite() : undefined
const mounts = { ...assetOptions.mounts, ...(dev && { '/vite-app': { ...viteApp, dev } }) }

// Serves the assets of apps/web and apps/admin, and adds the view helpers: ctx.assets.
app.use(koaAssets({ ...assetOptions, mounts }))

// Adds ctx.cacheControl, ctx.expires and ctx.fresh for the routes below.
app.use(koaHttpCache())

app.use(pageRoutes.routes())
app.use(cachingRoutes.routes())
app.use(noteRoutes.routes())

if (hasVite) app.use(vitePage.routes())

server.on('request', app.callback())
listen(server, address => {
  console.log(welcome(address, app.env === 'production', hasVite))

  if (process.env.SERVE_STATIC_ASSETS !== 'true') {
    console.log(
      '\nSERVE_STATIC_ASSETS is not true, so the assets are not served. Start the demo with `npm run demo`.'
    )
  }
})

async function startVite() {
  const vite = await import('vite')
  return vite.createServer({
    configFile: join(import.meta.dirname, 'vite/vite.config.ts'),
    appType: 'custom',
    // The WebSocket for edits uses the port of the site.
    server: { middlewareMode: true, ws: { server } }
  })
}
