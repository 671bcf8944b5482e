// Serves a project, whose options are its argument, until its parent is gone.
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'
import { koaAssets } from '../../lib/koa-assets.ts'

const app = new Koa()
// Specs look at responses.
app.silent = true
app.use(koaAssets({ serve: true, ...(JSON.parse(process.argv[2] ?? '{}') as KoaAssetsOptions) }))
const server = app.listen(0, '127.0.0.1', () =>
  process.send?.((server.address() as AddressInfo).port)
)
// An idle connection is the client's to close: no request crosses with the server's goodbye.
server.keepAliveTimeout = 0
process.on('disconnect', () => process.exit())
