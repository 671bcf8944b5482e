// The servers that are compared: each serves one folder of files on one port.
import { spawn } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import * as fs from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import fastifyStatic from '@fastify/static'
import express from 'express'
import fastify from 'fastify'
import { createAssetServer } from '@remix-run/assets'
import Koa, { type Middleware, type Next } from 'koa'
import koaStatic from 'koa-static'
import koaStaticCache from 'koa-static-cache'
import serveStatic from 'serve-static'
import sirv from 'sirv'
import { serve } from 'srvx'
import { staticMiddleware } from 'srvx/static'
import { koaAssets, koaHttpCache, type KoaAssetsOptions } from '../dist/index.js'

/** The project to serve. `public/assets` has the files of `apps/web/assets`, with gzip copies. */
export interface Project {
  readonly root: string
}

/** Starts listening on a port of 127.0.0.1. */
type Contestant = (project: Project, port: number) => Promise<void>

const MEMORY_OFF = { env: 'production', fingerprint: false, memory: { maxBytes: 0 } }

export const contestants: Readonly<Record<string, Contestant>> = {
  ...(process.env.BENCH_BEFORE && {
    'koa-fresh-assets, before': before({ env: 'production', fingerprint: false }),
    'koa-fresh-assets, before and koaHttpCache': before(
      { env: 'production', fingerprint: false },
      true
    ),
    'koa-fresh-assets, before, development': before({ env: 'development' }),
    'koa-fresh-assets, before, memory off': before(MEMORY_OFF)
  }),
  'koa-fresh-assets': ours({ env: 'production', fingerprint: false }),
  'koa-fresh-assets, observed': (project, port) => {
    subscribe('koa-fresh-assets:served', () => {})
    return ours({ env: 'production', fingerprint: false })(project, port)
  },
  'koa-fresh-assets, given to Koa': ours({ env: 'production', fingerprint: false }, passOn),
  'koa-fresh-assets and koaHttpCache': ({ root }, port) =>
    koa(
      port,
      koaAssets({ root, serve: true, env: 'production', fingerprint: false }),
      koaHttpCache()
    ),
  'koa-fresh-assets, a mount': ({ root }, port) =>
    koa(
      port,
      koaAssets({ root, serve: true, env: 'production', fingerprint: false, ...OVER_ASSETS })
    ),
  'koa-fresh-assets, development': ours({ env: 'development' }),
  'koa-fresh-assets, memory off': ours(MEMORY_OFF),
  'koa-fresh-assets, send only': ours({
    env: 'production',
    fingerprint: false,
    memory: { maxFileBytes: 0 }
  }),
  'bare node:http': bare('app.js', 'text/javascript; charset=utf-8'),
  'bare node:http, again': bare('app.js', 'text/javascript; charset=utf-8'),
  'bare node:http, 200 KiB': bare('big.bin', 'application/octet-stream'),
  // The least that a file costs as a response to a request that Koa has received.
  'Koa, a buffer in a response of Node': async ({ root }, port) => {
    const body = fs.readFileSync(join(root, 'public/assets/app.js'))
    const headers = { 'Content-Type': 'text/javascript', 'Content-Length': body.length }
    await koa(port, ctx => {
      ctx.respond = false
      ctx.res.writeHead(200, headers).end(body)
    })
  },
  'Koa, ctx.body = buffer': async ({ root }, port) => {
    const body = fs.readFileSync(join(root, 'public/assets/app.js'))
    await koa(port, ctx => {
      ctx.type = 'js'
      ctx.body = body
    })
  },
  'Koa, a page': (_, port) => koa(port),
  'koaHttpCache, not used': (_, port) => koa(port, koaHttpCache()),
  'koaHttpCache, 200': (_, port) => koa(port, koaHttpCache(), fresh('y')),
  'koaHttpCache, 304': (_, port) => koa(port, koaHttpCache(), fresh('x')),
  'koa-static': ({ root }, port) => koa(port, koaStatic(join(root, 'public'))),
  'koa-static-cache': ({ root }, port) =>
    koa(port, koaStaticCache(join(root, 'public'), { buffer: true, usePrecompiledGzip: true })),
  // Reads a file when it is first requested, not all of them at start.
  'koa-static-cache, dynamic': ({ root }, port) => {
    const options = { dynamic: true, preload: false, buffer: true }
    return koa(port, koaStaticCache(join(root, 'public'), options))
  },
  sirv: async ({ root }, port) => {
    const serve = sirv(join(root, 'public'), { etag: true, gzip: true })
    await listen(port, (req, res) => serve(req, res))
  },
  // What of the difference is Koa's.
  'sirv, in Koa': ({ root }, port) => {
    const serve = sirv(join(root, 'public'), { etag: true, gzip: true })
    return koa(port, ctx => {
      ctx.respond = false
      serve(ctx.req, ctx.res)
    })
  },
  // The least that a 304 costs as a response to a request that Koa has received.
  'Koa, an empty 304': (_, port) =>
    koa(port, ctx => {
      ctx.respond = false
      const status = ctx.req.headers['if-none-match'] ? 304 : 200
      ctx.res.writeHead(status, { ETag: '"x"' }).end()
    }),
  // And a file that is opened, checked and read.
  'Koa, the calls to the disk': ({ root }, port) => {
    const directory = join(root, 'public')
    return koa(port, ctx => {
      ctx.respond = false
      return sendChecked(directory + (ctx.req.url ?? ''), ctx.res)
    })
  },
  'srvx, static': async ({ root }, port) => {
    const middleware = [staticMiddleware({ dir: join(root, 'public'), encodings: true })]
    await serveFetch(port, () => new Response(undefined, { status: 404 }), middleware)
  },
  "Remix's assets": async ({ root }, port) => {
    const assets = createAssetServer({
      rootDir: root,
      basePath: '/assets',
      fileMap: { '/*path': 'public/assets/*path' },
      allow: ['public/assets/**'],
      watch: false
    })
    const fetch = async (request: Request) =>
      (await assets.fetch(request)) ?? new Response(undefined, { status: 404 })
    await serveFetch(port, fetch)
  },
  '@fastify/static': async ({ root }, port) => {
    const app = fastify()
    await app.register(fastifyStatic, { root: join(root, 'public'), preCompressed: true })
    await app.listen({ port, host: '127.0.0.1' })
  },
  'express serve-static': async ({ root }, port) => {
    const app = express()
    app.use(serveStatic(join(root, 'public')))
    await new Promise<void>(resolve => {
      app.listen(port, '127.0.0.1', () => resolve())
    })
  },
  "Vite's preview": async ({ root }, port) => {
    // Not in the processes of the others, whose heap it would grow.
    const { preview } = await import('vite')
    await preview({
      root,
      configFile: false,
      logLevel: 'silent',
      appType: 'mpa',
      build: { outDir: 'public' },
      preview: { host: '127.0.0.1', port, strictPort: true }
    })
  },
  nginx: ({ root }, port) => nginx(root, port)
}

/** A constant buffer with only the headers that HTTP requires. */
function bare(name: string, type: string): Contestant {
  return async ({ root }, port) => {
    const body = fs.readFileSync(join(root, 'public/assets', name))
    const headers = { 'Content-Type': type, 'Content-Length': body.length }
    await listen(port, (_, res) => {
      res.writeHead(200, headers)
      res.end(body)
    })
  }
}

const callsTo = { open: promisify(fs.open), read: promisify(fs.read) }

/** The calls that show that an open file is a regular one, where it is, and that it has not changed. */
async function sendChecked(path: string, res: ServerResponse): Promise<void> {
  const fd = await callsTo.open(path, 'r')
  const { size } = fs.fstatSync(fd)
  fs.readlinkSync(`/proc/self/fd/${fd}`)
  const body = Buffer.allocUnsafeSlow(size)
  await callsTo.read(fd, body, 0, size, 0)
  fs.fstatSync(fd)
  fs.closeSync(fd)
  res.writeHead(200, { 'Content-Type': 'text/javascript', 'Content-Length': size }).end(body)
}

function page(ctx: { body: unknown }): void {
  ctx.body = '<!doctype html><title>a page</title>'
}

const LINK = '<link href="/assets/app.css" type="text/css" rel="stylesheet">'

/** With the tag of a stylesheet, written by the helper where there is one. */
function styled(ctx: { body: unknown; assets?: Koa.Context['assets'] }): void {
  ctx.body = `<!doctype html>${ctx.assets?.stylesheet('app') ?? LINK}<title>a page</title>`
}

function fresh(etag: string): Middleware {
  return async (ctx, next) => {
    await ctx.fresh(etag)
    await next()
  }
}

function ours(options: KoaAssetsOptions, ...inFront: Middleware[]): Contestant {
  return ({ root }, port) => koa(port, ...inFront, koaAssets({ ...options, root, serve: true }))
}

/** The folder that public serves at the same path, looked at as often. */
const OVER_ASSETS: KoaAssetsOptions = {
  mounts: { '/assets': { dir: 'public/assets', revalidate: 1 } }
}

/** In front of koaAssets, which then gives its responses to Koa. */
function passOn(_: unknown, next: Next): Promise<unknown> {
  return next()
}

/** The same from another checkout that has been built: `BENCH_BEFORE` is its folder. */
function before(options: KoaAssetsOptions, hasBoth = false): Contestant {
  return ({ root }, port) => {
    if (!other) throw new Error('BENCH_BEFORE names no checkout')
    const assets = other.koaAssets({ ...options, root, serve: true })
    return koa(port, assets, ...(hasBoth ? [other.koaHttpCache()] : []))
  }
}

// Loaded in every contestant's process: V8 collects garbage less often when more code has grown the heap.
const other = process.env.BENCH_BEFORE
  ? ((await import(pathToFileURL(join(process.env.BENCH_BEFORE, 'dist/index.js')).href)) as {
      koaAssets: typeof koaAssets
      koaHttpCache: typeof koaHttpCache
    })
  : undefined

/** An application with one page after the given middleware. */
async function koa(port: number, ...middleware: Middleware[]): Promise<void> {
  const app = new Koa()
  app.silent = true
  for (const each of middleware) app.use(each)
  app.use(ctx => {
    if (ctx.path === '/page') page(ctx)
    else if (ctx.path === '/styled') styled(ctx)
  })
  await listen(port, app.callback())
}

async function serveFetch(
  port: number,
  fetch: (request: Request) => Promise<Response> | Response,
  middleware: readonly unknown[] = []
): Promise<void> {
  const options = { hostname: '127.0.0.1', silent: true, gracefulShutdown: false }
  await serve({ ...options, port, middleware, fetch }).ready()
}

function listen(
  port: number,
  listener: (req: IncomingMessage, res: ServerResponse) => unknown
): Promise<void> {
  const server = createServer((req, res) => void listener(req, res))
  return new Promise(resolve => {
    server.listen(port, '127.0.0.1', resolve)
  })
}

/** One worker, no log, in the foreground as a child of this process. */
async function nginx(root: string, port: number): Promise<void> {
  const file = join(root, 'nginx.conf')
  fs.writeFileSync(
    file,
    `daemon off; worker_processes 1; pid ${root}/nginx.pid; error_log stderr crit; user root;
events {}
http {
  access_log off; sendfile on; tcp_nopush on; etag on; gzip_static on; keepalive_requests 1000000;
  types { text/javascript js; application/octet-stream bin; }
  client_body_temp_path ${root}/tmp; proxy_temp_path ${root}/tmp; fastcgi_temp_path ${root}/tmp;
  uwsgi_temp_path ${root}/tmp; scgi_temp_path ${root}/tmp;
  server { listen 127.0.0.1:${port}; root ${root}/public; }
}
`
  )
  const child = spawn('nginx', ['-c', file], { stdio: 'inherit' })
  process.once('SIGTERM', () => {
    child.once('exit', () => process.exit(0))
    child.kill('SIGTERM')
  })
  for (let attempt = 0; attempt < 100; attempt++) {
    const isUp = await fetch(`http://127.0.0.1:${port}/assets/app.js`).then(
      response => response.ok,
      () => false
    )
    if (isUp) return
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  throw new Error('nginx did not start')
}
