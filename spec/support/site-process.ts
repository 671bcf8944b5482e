// Serves a project, whose options are its argument, until its parent is gone.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'
import { koaAssets } from '../../lib/koa-assets.ts'

const app = new Koa()
app.use(koaAssets({ serve: true, ...(JSON.parse(process.argv[2] ?? '{}') as KoaAssetsOptions) }))
const answer = app.callback()
const server = createServer((req, res) => void answer(req, res))
// An idle connection is the client's to close: no request crosses with the server's goodbye.
server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
