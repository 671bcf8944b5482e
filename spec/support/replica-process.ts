// A server with everything in it: assets, mounts, one file from a route, and pages with koaHttpCache, over HTTP/1
// and HTTP/2. It tells its parent of every error, and what it holds when it is asked.
import { readFile } from 'node:fs/promises'
import { createServer as createHttp2 } from 'node:http2'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import Koa, { type Middleware } from 'koa'
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'
import { digestOf } from '../../lib/runtime/files/digest.ts'
import { undefinedIfMissing } from '../../lib/runtime/files/disk.ts'
import { koaAssets, koaHttpCache } from '../../lib/index.ts'
import { openDescriptors } from './descriptors.ts'
import { heldBytes } from './in-process.ts'

export interface Setup {
  readonly options: KoaAssetsOptions & { readonly root: string }
  /** Whether another middleware is in front. */
  readonly isBehind: boolean
  /** What `/index` refers to. */
  readonly names: readonly string[]
}

export interface Measured {
  readonly descriptors: number
  /** Of regular files of the project. */
  readonly files: number
  /** In bytes, as are those that are held when the garbage is gone. */
  readonly rss: number
  readonly held: number
}

const { options, isBehind, names } = JSON.parse(process.argv[2] ?? '') as Setup

const routes: Middleware = async ctx => {
  const [, kind, name = ''] = /^\/(index|files|notes)(?:\/(.*))?$/.exec(ctx.path) ?? []
  if (kind === 'index') ctx.body = { urls: names.map(each => ctx.assets.path(each)) }
  // What an extra adds.
  const { sendFile } = ctx as { sendFile?: (path: string, options: object) => Promise<void> }
  if (kind === 'files') await sendFile?.call(ctx, name, { root: 'data' })
  if (kind !== 'notes') return
  const note = await undefinedIfMissing(readFile(join(options.root, 'notes', name)))
  if (!note) return
  ctx.cacheControl('no-cache')
  await ctx.fresh({ etag: digestOf(note) })
  ctx.type = 'text'
  ctx.body = note
}

async function measure(): Promise<void> {
  const held = await heldBytes()
  const { rss } = process.memoryUsage()
  const files = openDescriptors(options.root)
  process.send?.({ measured: { descriptors: openDescriptors(), files, rss, held } })
}

const app = new Koa()
app.on('error', (error: Error & { status?: number }) => {
  // What a route throws for a file that is not there is no failure; Koa logs none either.
  if (error.status !== 404) process.send?.({ error: error.stack ?? error.message })
})
if (isBehind) app.use((_, next) => next())
app.use(koaAssets({ serve: true, ...options }))
app.use(koaHttpCache())
app.use(routes)
const respond = app.callback()
const http1 = app.listen(0, '127.0.0.1')
// An idle connection is the client's to close: no request crosses with the server's goodbye.
http1.keepAliveTimeout = 0
const http2 = createHttp2((req, res) => void respond(req, res)).listen(0, '127.0.0.1', () => {
  const [one, two] = [http1, http2].map(server => (server.address() as AddressInfo).port)
  process.send?.({ ports: { http1: one, http2: two } })
})
process.on('message', () => void measure())
process.on('disconnect', () => process.exit())
