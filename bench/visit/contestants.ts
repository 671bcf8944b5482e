// The same shop, built and served in several ways.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import etag from '@koa/etag'
import { createAssetServer } from '@remix-run/assets'
import type { Context, Middleware } from 'koa'
import compress from 'koa-compress'
import conditional from 'koa-conditional-get'
import koaStatic from 'koa-static'
import { koaAssets, koaHttpCache, type KoaAssetsOptions } from '../../dist/index.js'
import { PACKAGES, type Tags } from './pages.ts'

export interface Contestant {
  readonly name: string
  /** Writes what a build needs beside the sources. */
  readonly configure?: (root: string) => void
  /** A shell script, run in a copy of the shop; `again` is that of the next deploy. */
  readonly build: string
  readonly again?: string
  readonly middleware: (root: string) => readonly Middleware[]
  readonly tags: (ctx: Context, root: string) => Promise<Tags> | Tags
}

const ROOT = resolve(import.meta.dirname, '../..')
const CLI = `node ${ROOT}/dist/cli.js`
const VITE = `node ${ROOT}/node_modules/vite/bin/vite.js build`
const PACKAGES_OF = join(ROOT, 'bench/node_modules')
const SASS = `node ${ROOT}/node_modules/sass/sass.js --no-source-map --quiet --load-path ${PACKAGES_OF}`
const ASSETS = 'apps/web/assets'
const STYLESHEETS = `${ASSETS}/stylesheets`

export const contestants: readonly Contestant[] = [
  // By these names the results of earlier runs stay comparable.
  ours('koa-fresh-assets', { ...PACKAGES, bundle: 'packages' }),
  ours('koa-fresh-assets, bundle: true', PACKAGES),
  ours('koa-fresh-assets, bundle: false', { ...PACKAGES, bundle: false }),
  {
    name: 'Vite, in a mount',
    build: `${VITE} && ${CLI} compress dist --include '**' --quiet`,
    again: `${VITE} --outDir dist.new && ${CLI} keep dist dist.new --include '**' --quiet && rm -r dist && mv dist.new dist`,
    middleware: root => [
      compress(),
      koaAssets({
        root,
        serve: true,
        env: 'production',
        fingerprint: false,
        mounts: { '/static': { dir: 'dist', manifest: 'dist/.vite/manifest.json' } }
      }),
      koaHttpCache({ autoEtag: true, trace: false })
    ],
    tags: ({ assets }) => ({
      head: names =>
        [...names.map(stylesheetOf).filter(name => name !== undefined), ...names.map(scriptOf)]
          .map(name => assets.entry(name))
          .join(''),
      image: name => `<img src="/static/${name}" alt="">`
    })
  },
  {
    name: 'Vite, koa-static, koa-etag',
    build: VITE,
    middleware: root => {
      const serve = koaStatic(join(root, 'dist'), { maxage: 365 * 24 * 3600 * 1000 })
      return [compress(), conditional(), etag(), below('/static', serve)]
    },
    tags: (_, root) => tagsOfVite(join(root, 'dist'))
  },
  {
    name: "Remix's assets, koa-static, koa-etag",
    // It knows neither Sass nor packages in stylesheets.
    build: `mkdir css && ${SASS} ${STYLESHEETS}/app.css.scss css/app.css && sed -i 's#@fontsource/dm-sans/#/static/fonts/#' css/app.css && { cat ${PACKAGES_OF}/leaflet/dist/leaflet.css; grep -v @import ${STYLESHEETS}/map.css; } > css/map.css`,
    again: `${SASS} ${STYLESHEETS}/app.css.scss css/app.css && sed -i 's#@fontsource/dm-sans/#/static/fonts/#' css/app.css`,
    middleware: root => {
      const forAYear = { maxage: 365 * 24 * 3600 * 1000 }
      return [
        compress(),
        conditional(),
        etag(),
        below('/static/fonts', koaStatic(`${PACKAGES_OF}/@fontsource/dm-sans`, forAYear)),
        below('/static/images', koaStatic(join(root, ASSETS, 'images'), forAYear)),
        compiledBy(remix(root))
      ]
    },
    tags: (_, root) => tagsOfRemix(remix(root), root)
  }
]

function ours(name: string, options: KoaAssetsOptions): Contestant {
  return {
    name,
    configure: root => writeFileSync(join(root, 'assets.config.json'), JSON.stringify(options)),
    build: `${CLI} precompile --quiet`,
    middleware: root => [
      compress(),
      koaAssets({ ...options, root, serve: true, env: 'production' }),
      koaHttpCache({ autoEtag: true, trace: false })
    ],
    tags: ({ assets }) => ({
      head: ([name = '', ...more]) =>
        assets.stylesheet('app', ...(more.includes('map') ? ['map'] : [])) +
        assets.importMap({ entry: [name, ...more] }) +
        assets.javascript(name, ...more, { type: 'module', modulepreload: true }),
      image: name => assets.image(name)
    })
  }
}

const scriptOf = (name: string) => `${ASSETS}/javascripts/${name}.js`
const SHEETS: Readonly<Record<string, string>> = { app: 'app.css.scss', map: 'map.css' }
const stylesheetOf = (name: string) => SHEETS[name] && `${STYLESHEETS}/${SHEETS[name]}`

interface Chunk {
  readonly file: string
  readonly css?: readonly string[]
  readonly imports?: readonly string[]
}

/** As an application reads Vite's manifest by itself. */
function tagsOfVite(dist: string): Tags {
  const chunks = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8')) as Record<
    string,
    Chunk
  >
  const importsOf = (name: string): string[] =>
    (chunks[name]?.imports ?? []).flatMap(each => [each, ...importsOf(each)])
  const fileOf = (name: string) => `/static/${chunks[name]?.file}`
  return {
    head: names => {
      const sheets = names.map(stylesheetOf).filter(name => name !== undefined)
      const shared = new Set(names.map(scriptOf).flatMap(importsOf))
      return [
        ...sheets.map(name => `<link rel="stylesheet" href="${fileOf(name)}">`),
        ...names.map(name => `<script type="module" src="${fileOf(scriptOf(name))}"></script>`),
        ...Array.from(shared, name => `<link rel="modulepreload" href="${fileOf(name)}">`)
      ].join('\n')
    },
    image: name => `<img src="/static/${name}" alt="">`
  }
}

/** What is used of an asset server of Remix's. */
interface AssetServer {
  fetch(request: Request): Promise<Response | null>
  getHref(path: string): Promise<string>
  getPreloads(path: string): Promise<string[]>
}

const remixServers = new Map<string, AssetServer>()

/** Compiles what is requested, each module by itself, and keeps it in memory; one for each deploy. */
function remix(root: string): AssetServer {
  const folder = relative(ROOT, root)
  const server =
    remixServers.get(root) ??
    (createAssetServer({
      rootDir: ROOT,
      basePath: '/static',
      fileMap: {
        '/app/*path': `${folder}/*path`,
        '/npm/*path': 'bench/node_modules/*path'
      },
      allow: [`${folder}/**`, 'bench/node_modules/**'],
      watch: false,
      minify: true,
      sourceMaps: 'external',
      fingerprint: { buildId: folder },
      scripts: { define: { 'process.env.NODE_ENV': '"production"' } }
    }) as AssetServer)
  remixServers.set(root, server)
  return server
}

function compiledBy(server: AssetServer): Middleware {
  return async (ctx, next) => {
    const headers = Object.entries(ctx.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as [string, string]] : []
    )
    const response = await server.fetch(new Request(ctx.URL, { headers, method: ctx.method }))
    if (!response) {
      await next()
      return
    }
    for (const [name, value] of response.headers) ctx.set(name, value)
    ctx.status = response.status
    ctx.body = Buffer.from(await response.arrayBuffer())
  }
}

async function tagsOfRemix(server: AssetServer, root: string): Promise<Tags> {
  const heads = new Map<string, { sheet: string; script: string; preloads: readonly string[] }>()
  for (const name of ['app', 'product', 'map']) {
    const script = join(root, scriptOf(name))
    const sheet = SHEETS[name] ? await server.getHref(join(root, 'css', `${name}.css`)) : ''
    const preloads = await server.getPreloads(script)
    heads.set(name, { sheet, script: await server.getHref(script), preloads })
  }
  return {
    head: names => {
      const parts = names.flatMap(name => heads.get(name) ?? [])
      const preloads = new Set(parts.flatMap(part => part.preloads))
      return [
        ...parts.map(({ sheet }) => sheet && `<link rel="stylesheet" href="${sheet}">`),
        ...parts.map(({ script }) => `<script type="module" src="${script}"></script>`),
        ...Array.from(preloads, url => `<link rel="modulepreload" href="${url}">`)
      ].join('\n')
    },
    image: name => `<img src="/static/images/${name}" alt="">`
  }
}

function below(prefix: string, serve: Middleware): Middleware {
  return async (ctx, next) => {
    if (!ctx.path.startsWith(`${prefix}/`)) return next()
    ctx.path = ctx.path.slice(prefix.length)
    return serve(ctx, next)
  }
}
