// The static layers of four applications, in our own words or from their packages: as they were, and with ours. What stands in
// front of such a layer, and behind it, is the same before and after.
import { createReadStream, type Stats } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { basename, extname, join } from 'node:path'
import { KoaAdapter } from '@bull-board/koa'
import Router from '@koa/router'
import type Koa from 'koa'
import type { Context, Middleware } from 'koa'
import compose from 'koa-compose'
import compress from 'koa-compress'
import range from 'koa-range'
import send from 'koa-send'
import serve from 'koa-static'
import LwsStatic from 'lws-static'
import { koaFiles } from '../../../lib/index.ts'
import { koaAssets } from '../../../lib/koa-assets.ts'
import type { Files } from '../../support/site.ts'
import type { Layer } from './compare.ts'
import type { Paths } from './requests.ts'

export interface Application {
  readonly files: Files
  /** The directories for which the deploy runs `koa-fresh-assets compress` after the move. */
  readonly compressed: readonly string[]
  readonly front?: Layer
  readonly before: Layer
  readonly after: Layer
  readonly behind?: Layer
  readonly paths: Paths
}

const SCRIPT = 'export const words = "the same words again"\n'.repeat(100)
const PAGE = `<!doctype html><title>page</title>${'<p>words</p>'.repeat(300)}`
const IMAGE = 'twenty bytes of image'
const DAY_MS = 86_400_000
const OURS = { env: 'production', serve: true, apps: false, public: false } as const

/** What a mount sends in production, where nothing else is said. */
const CHECKED = 'public, max-age=0, must-revalidate'

const isMissing = (error: unknown) => (error as { status?: number }).status === 404

function page(ctx: Context): void {
  ctx.type = 'html'
  ctx.set('Cache-Control', 'no-cache')
  ctx.body = PAGE
}

function everyPath(app: Koa): void {
  const router = new Router()
  router.get(/.*/, page)
  app.use(router.routes())
}

/** What stands for the headers that an application sets on all its responses. */
function framing(value: string): Layer {
  return app =>
    void app.use((ctx, next) => {
      ctx.set('X-Frame-Options', value)
      return next()
    })
}

/** Outline: koa-send in routes, behind koa-compress. */
function outlineBefore(app: Koa, root: string): void {
  const router = new Router()
  const allowAll = (res: Context['res']) => res.setHeader('Access-Control-Allow-Origin', '*')
  app.use(compress())
  router.get(/^\/(?:images|email|fonts)\//, async (ctx, next) => {
    const options = { root: join(root, 'public'), maxAge: 7 * DAY_MS, setHeaders: allowAll }
    let sent: string | undefined
    try {
      sent = await send(ctx, ctx.path, options)
    } catch (error) {
      if (!isMissing(error)) throw error
    }
    if (sent === undefined) await next()
  })
  router.get('/static/{*path}', async ctx => {
    try {
      await send(ctx, ctx.path.slice('/static/'.length) || '/', {
        root: join(root, 'build/app'),
        maxAge: 365 * DAY_MS,
        immutable: true,
        setHeaders(res: ServerResponse) {
          res.setHeader('Service-Worker-Allowed', '/')
          allowAll(res)
        }
      })
    } catch (error) {
      if (!isMissing(error)) throw error
      ctx.status = 400
    }
  })
  router.get('/locales/:language.json', async ctx => {
    await send(ctx, `${ctx.params['language']}/translation.json`, {
      root: join(root, 'locales'),
      setHeaders(res: ServerResponse, _: string, { mtime }: Stats) {
        res.setHeader('Cache-Control', 'public, max-age=604800')
        res.setHeader('Last-Modified', mtime.toUTCString())
        res.setHeader('ETag', mtime.getTime().toString(16))
        allowAll(res)
      }
    })
  })
  app.use(router.routes())
}

function outlineAfter(app: Koa, root: string): void {
  const router = new Router()
  const week = 'public, max-age=604800'
  app.use(
    koaAssets({
      ...OURS,
      root,
      headers: { 'Access-Control-Allow-Origin': '*' },
      mounts: {
        '/images': { dir: 'public/images', cacheControl: week },
        '/email': { dir: 'public/email', cacheControl: week },
        '/fonts': { dir: 'public/fonts', cacheControl: week },
        '/static': { dir: 'build/app', immutable: true, headers: { 'Service-Worker-Allowed': '/' } }
      }
    })
  )
  app.use(compress())
  router.get('/locales/:language.json', async ctx => {
    ctx.set('Access-Control-Allow-Origin', '*')
    const file = `${ctx.params['language']}/translation.json`
    await ctx.sendFile(file, { root: 'locales', cacheControl: week })
  })
  router.get(/^\/static\//, ctx => void (ctx.status = 404))
  app.use(router.routes())
}

const outline: Application = {
  files: {
    'build/app/assets/index-0a1b2c3d.js': SCRIPT,
    'build/app/sw.js': 'self.skipWaiting()',
    'build/app/manifest.webmanifest': '{ "name": "Outline" }',
    'public/images/avatar.png': IMAGE,
    'public/fonts/a.woff2': 'a font',
    'public/email/logo.png': IMAGE,
    'locales/en_US/translation.json': '{ "New": "New" }',
    'package.json': '{}'
  },
  compressed: ['build/app'],
  before: outlineBefore,
  after: outlineAfter,
  behind: everyPath,
  paths: {
    script: '/static/assets/index-0a1b2c3d.js',
    image: '/images/avatar.png',
    folder: '/static/assets',
    missing: '/static/assets/index-00000000.js',
    page: '/doc/welcome-23',
    more: [
      ...['/', '/static/sw.js', '/static/manifest.webmanifest', '/fonts/a.woff2', '/images/no.png'],
      ...['/locales/en_US.json', '/locales/xx.json', '/static/']
    ]
  }
}

/** Strapi's uploads and its public directory: koa-range and koa-static, which wait for the routes. */
function uploadsBefore(app: Koa, root: string): void {
  const router = new Router()
  const dir = join(root, 'public')
  const uploads = compose([range, serve(dir, { defer: true })])
  router.get('/uploads/{*path}', uploads)
  router.get(/^\/(?!uploads\/)/, serve(dir, { maxage: 60_000, defer: true }))
  app.use(router.routes())
}

function uploadsAfter(app: Koa, root: string): void {
  const mounts = {
    '/uploads': 'public/uploads',
    '/': { dir: 'public', cacheControl: 'public, max-age=60' }
  }
  app.use(koaAssets({ ...OURS, root, mounts }))
}

const uploads: Application = {
  files: {
    'public/uploads/report-0a1b2c3d.js': SCRIPT,
    'public/uploads/photo.png': IMAGE,
    'public/uploads/a b.txt': 'with a blank',
    'public/uploads/.gitkeep': '',
    'public/uploads/private/report.txt': 'for members',
    'public/robots.txt': 'User-agent: *',
    'public/about.html': PAGE,
    'package.json': '{}'
  },
  compressed: [],
  front(app, root) {
    framing('SAMEORIGIN')(app, root)
    app.use((ctx, next) => {
      if (ctx.path.startsWith('/uploads/private/') && !ctx.get('Authorization')) ctx.throw(401)
      return next()
    })
  },
  before: uploadsBefore,
  after: uploadsAfter,
  paths: {
    script: '/uploads/report-0a1b2c3d.js',
    image: '/uploads/photo.png',
    folder: '/uploads',
    missing: '/uploads/none.js',
    page: '/about.html',
    more: [
      ...['/', '/uploads/a%20b.txt', '/uploads/.gitkeep', '/robots.txt', '/none.txt', '/no'],
      ...['/uploads/private/report.txt', '/uploads/%70rivate/report.txt'],
      ...['/uploads/x/../private/report.txt', '/uploads//private/report.txt']
    ]
  }
}

/** Strapi's admin panel: koa-static over the last segment of the path, else the page, whatever was asked. */
function adminBefore(app: Koa, root: string): void {
  const router = new Router()
  const dir = join(root, 'build')
  const files = serve(dir, {
    maxage: 31_536_000,
    index: 'index.html',
    setHeaders(res: ServerResponse, path: string) {
      if (extname(path) === '.html') return
      res.setHeader('Cache-Control', 'public, max-age=31536000, immutable')
    }
  })
  const fallback: Middleware = async (ctx, next) => {
    await next()
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return
    if (ctx.body != null || ctx.status !== 404) return
    ctx.type = 'html'
    ctx.body = createReadStream(join(dir, 'index.html'))
  }
  router.get('/admin{/*path}', fallback, async (ctx, next) => {
    const { path } = ctx
    ctx.path = basename(path)
    await files(ctx, async () => {
      ctx.path = path
      await next()
      ctx.path = basename(path)
    })
    ctx.path = path
  })
  app.use(router.routes())
}

function adminAfter(app: Koa, root: string): void {
  const panel = { dir: 'build', index: 'index.html', fallback: 'index.html', immutable: true }
  app.use(koaAssets({ ...OURS, root, mounts: { '/admin': panel } }))
}

const admin: Application = {
  files: {
    'build/index.html': PAGE,
    'build/main-0a1b2c3d.js': SCRIPT,
    'build/favicon.png': IMAGE,
    'package.json': '{}'
  },
  compressed: ['build'],
  front: framing('SAMEORIGIN'),
  before: adminBefore,
  after: adminAfter,
  behind(app) {
    const router = new Router()
    router.post('/admin/login', ctx => void (ctx.body = { token: 'x' }))
    app.use(router.routes())
  },
  paths: {
    script: '/admin/main-0a1b2c3d.js',
    image: '/admin/favicon.png',
    folder: '/admin',
    missing: '/admin/main-00000000.js',
    page: '/admin/content-manager/article/23',
    more: [
      ...['/admin/index.html', '/admin/types/article.article', '/admin/a/b/main-0a1b2c3d.js'],
      ...['/admin/none.png', '/admin/auth/login/', '/administrator']
    ]
  }
}

/** bull-board: its adapter serves the files of its page with koa-static, below the path of the board. */
function bullBoardBefore(app: Koa, root: string): void {
  app.use(boardOf(join(root, 'ui')))
}

function bullBoardAfter(app: Koa, root: string): void {
  app.use(koaFiles('ui/static', { root, at: '/ui/static', index: false, cacheControl: CHECKED }))
  app.use(boardOf(join(root, 'ui')))
}

function boardOf(ui: string): Middleware {
  const board = new KoaAdapter()
    .setBasePath('/ui')
    .setStaticPath('/static', join(ui, 'static'))
    .setViewsPath(ui)
    .setApiRoutes([])
    .setQueues(new Map<string, never>())
    .setErrorHandler(({ message }: Error) => ({ status: 500, body: message }))
  const handler = () => ({ name: 'index.ejs', params: {} })
  board.setEntryRoute({ method: 'get', route: ['/', '/queue/:queueName'], handler })
  return board.registerPlugin()
}

const bullBoard: Application = {
  files: {
    'ui/static/js/main-0a1b2c3d.js': SCRIPT,
    'ui/static/images/logo.png': IMAGE,
    'ui/index.ejs': PAGE,
    'package.json': '{}'
  },
  compressed: ['ui/static'],
  before: bullBoardBefore,
  after: bullBoardAfter,
  paths: {
    script: '/ui/static/js/main-0a1b2c3d.js',
    image: '/ui/static/images/logo.png',
    folder: '/ui/static/js',
    missing: '/ui/static/js/none.js',
    page: '/ui/queue/mails',
    more: ['/ui/static/', '/ui/static', '/ui/', '/none']
  }
}

/** local-web-server: `lws-static`, which shows dotfiles, with one of its options. */
function localWebServerBefore(app: Koa, root: string): void {
  const options = { directory: join(root, 'site'), staticExtensions: ['html'] }
  app.use(new LwsStatic().middleware(options))
}

function localWebServerAfter(app: Koa, root: string): void {
  app.use(koaFiles('site', { root, extensions: ['html'], cacheControl: CHECKED }))
}

const localWebServer: Application = {
  files: {
    'site/js/main-0a1b2c3d.js': SCRIPT,
    'site/.well/.notes.txt': 'notes',
    'site/img/logo.png': IMAGE,
    'site/index.html': PAGE,
    'site/about.html': PAGE,
    'package.json': '{}'
  },
  compressed: [],
  before: localWebServerBefore,
  after: localWebServerAfter,
  paths: {
    script: '/js/main-0a1b2c3d.js',
    image: '/img/logo.png',
    folder: '/js',
    missing: '/js/none.js',
    page: '/about',
    more: ['/', '/index.html', '/about.html', '/.well/.notes.txt', '/none']
  }
}

export const applications = {
  ...{ outline, uploads, admin, bullBoard, localWebServer }
}
