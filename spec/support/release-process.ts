// A replica of one release: its page names the release's assets. It stops as a server should on SIGTERM, and then
// tells its parent what it was asked for.
import Koa from 'koa'
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'
import { koaAssets } from '../../lib/koa-assets.ts'

export interface ReplicaSetup {
  readonly release: number
  readonly port: number
  /** Whether its page names an asset that no other release has. */
  readonly hasOwnName: boolean
  readonly options: KoaAssetsOptions
}

export interface ReplicaReport {
  readonly pages: number
  readonly assets: number
  /** Fingerprinted files that it does not have. */
  readonly missing: number
  readonly errors: readonly string[]
}

const { release, port, hasOwnName, options } = JSON.parse(process.argv[2] ?? '') as ReplicaSetup
const report = { pages: 0, assets: 0, missing: 0, errors: [] as string[] }

const app = new Koa()
let isStopping = false
app.on('error', (error: Error) => report.errors.push(error.stack ?? error.message))
app.use(async (ctx, next) => {
  // A proxy with requests to send would keep a connection that is in use, and with it this process.
  if (isStopping) ctx.set('Connection', 'close')
  ctx.set({ 'X-Release': String(release), 'X-Replica': String(port) })
  await next()
  if (!ctx.path.startsWith('/assets/')) return
  report.assets++
  if (ctx.status === 404) report.missing++
})
app.use(koaAssets({ env: 'production', serve: true, ...options }))
app.use(ctx => {
  if (ctx.path === '/health') ctx.body = 'ok'
  if (ctx.path !== '/') return
  report.pages++
  const { assets } = ctx
  ctx.set('Cache-Control', 'no-cache')
  ctx.body = `<html data-release="${release}">
    ${assets.stylesheet('app')}
    ${assets.javascript('app', 'lib', ...(hasOwnName ? [`only-${release}`] : []))}
    ${assets.javascript('main', 'more', { type: 'module', modulepreload: true })}
    <img src="${assets.url('hero.png')}" alt="">`
})

const server = app.listen(port, '127.0.0.1', () => process.send?.('listening'))
// Requests that have arrived are answered; connections without one time out. Node's own closing of idle connections would
// cut responses that are being sent (20 to 24).
process.once('SIGTERM', () => {
  isStopping = true
  server.closeIdleConnections = () => {}
  server.close(() => process.send?.(report, () => process.disconnect()))
})
