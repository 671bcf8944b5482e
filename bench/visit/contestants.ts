// The same shop, built and served in several ways.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import etag from '@koa/etag'
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
  readonly tags: (ctx: Context, root: string) => Tags
}

const ROOT = resolve(import.meta.dirname, '../..')
const CLI = `node ${ROOT}/dist/cli.js`
const VITE = `node ${ROOT}/node_modules/vite/bin/vite.js build`

export const contestants: readonly Contestant[] = [
  ours('koa-fresh-assets', PACKAGES),
  ours('koa-fresh-assets, bundle: true', { ...PACKAGES, bundle: true }),
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

const ASSETS = 'apps/web/assets'
const scriptOf = (name: string) => `${ASSETS}/javascripts/${name}.js`
const SHEETS: Readonly<Record<string, string>> = { app: 'app.css.scss', map: 'map.css' }
const stylesheetOf = (name: string) => SHEETS[name] && `${ASSETS}/stylesheets/${SHEETS[name]}`

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

function below(prefix: string, serve: Middleware): Middleware {
  return async (ctx, next) => {
    if (!ctx.path.startsWith(`${prefix}/`)) return next()
    ctx.path = ctx.path.slice(prefix.length)
    return serve(ctx, next)
  }
}
