// A project that real bundlers build, and pages with the tags of what they built.
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import Koa, { type Context } from 'koa'
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'
import type { ViewHelpers } from '../../lib/runtime/views/view-helpers.ts'
import { koaAssets } from '../../lib/koa-assets.ts'
import { writeFiles, type Files } from './site.ts'
import { words } from './texts.ts'

/** Makes the packages that are installed here those of another directory. */
export function linkModules(root: string): void {
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'), 'dir')
}

/**
 * A directory in which bundlers find the packages that are installed here, for all specs of a file: call
 * `remove` after them.
 */
export function makeBundlerProject(files: Files, link = linkModules) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'koa-fresh-assets-bundle-')))
  link(root)
  writeFiles(root, { 'package.json': '{ "private": true, "type": "module" }', ...files })
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) }
}

/**
 * Two pages share a chunk, which imports another one, each with a stylesheet; one loads a third page's
 * stylesheet when it is clicked.
 */
export const PAGES: Files = {
  'src/main.ts':
    "import './main.css'\nimport { shared } from './shared.ts'\nimport logo from './logo.svg'\n" +
    "document.body.append(shared(), logo)\nonclick = () => import('./lazy.ts')",
  'src/admin.ts':
    "import './admin.css'\nimport { shared } from './shared.ts'\ndocument.title = shared()",
  'src/shared.ts':
    "import './shared.css'\nimport { deep } from './deep.ts'\nexport const shared = () => 'shared ' + deep()",
  'src/deep.ts': "import './deep.css'\nexport const deep = () => 'deep ' + location.href",
  'src/other.ts': "import './other.css'\nimport { deep } from './deep.ts'\nconsole.log(deep())",
  'src/lazy.ts': "import './lazy.css'\nimport { shared } from './shared.ts'\nconsole.log(shared())",
  'src/main.css': '.main { color: red; background: url(./logo.svg) }',
  ...Object.fromEntries(
    words('admin shared deep other lazy').map(name => [
      `src/${name}.css`,
      `.${name} { color: red }`
    ])
  ),
  'src/print.css': '@import "./deep.css"; .print { color: red }',
  'src/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"><rect width="1" height="1"/></svg>'
}

type Assets = (at?: string) => Promise<ViewHelpers>

/** The helpers of one page of an application; a page each time. */
export function pagesOf(options: KoaAssetsOptions): Assets {
  const middleware = koaAssets({ env: 'production', ...options })
  return async (url = '/') => {
    const app = new Koa()
    const given = { app, req: { url }, state: {} }
    const ctx = Object.assign(Object.create(app.context) as Context, given)
    await middleware(ctx, () => Promise.resolve())
    return ctx.assets
  }
}

export function attribute(name: string, tag: string): string | undefined {
  return new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]
}

/** The URL in a tag. */
export const urlIn = (tag: string): string => attribute('href', tag) ?? attribute('src', tag) ?? ''

/** Tells whether each tag has the integrity of its file, which the mount `/static` has from a folder. */
export function areOf(root: string, dir: string, tags: string): boolean {
  return tags.split('\n').every(tag => {
    const file = join(root, urlIn(tag).replace('/static', dir))
    return attribute('integrity', tag) === sha384(file)
  })
}

/** What a tag says, without what all of them say. */
export function summary(tags: string): string[] {
  return tags.split('\n').map(tag => {
    const url = urlIn(tag) || '<inline>'
    const kind = attribute(tag.startsWith('<link') ? 'rel' : 'type', tag) ?? ''
    const flags = ['defer', 'nomodule'].filter(flag => tag.includes(` ${flag}="${flag}"`))
    return [kind, ...flags, url].join(' ')
  })
}

/** Names without their hashes: `assets/main-CZTearZk.css` -> `assets/main.css`. */
export function unhashed(tags: readonly string[]): string[] {
  return tags.map(tag => tag.replace(/[-.](?:[\w-]{8}|[0-9a-f]{16,20})(?=\.(?:js|css)$)/, ''))
}

export function sha384(file: string): string {
  return `sha384-${createHash('sha384').update(readFileSync(file)).digest('base64')}`
}

const SCRIPT = /\.[jt]sx?$/

/** What Vite writes into a directory: files by their sources, in which each script is an entry. */
export function viteBuild(dir: string, files: Readonly<Record<string, string>>): Files {
  const manifest = Object.entries(files).map(([src, file]) => {
    const entry = SCRIPT.test(src) && { name: basename(src).replace(SCRIPT, ''), isEntry: true }
    return [src, { file, src, ...entry }]
  })
  return {
    ...Object.fromEntries(Object.values(files).map(file => [`${dir}/${file}`, `/* ${file} */`])),
    [`${dir}/.vite/manifest.json`]: JSON.stringify(Object.fromEntries(manifest))
  }
}

/** The mount of a build of Vite. */
export const viteMount = (dir = 'dist') => ({ dir, manifest: `${dir}/.vite/manifest.json` })

/** A build of Vite, and beside it one of esbuild. */
export const TWO_BUILDS: Files = {
  'src/main.js': 'console.log(1)',
  ...viteBuild('dist', { 'src/main.js': 'main-B1a2C3d4.js' }),
  'other/main.js': '',
  'other/meta.json': JSON.stringify({
    outputs: { 'other/main.js': { imports: [], entryPoint: 'src/main.js', inputs: {} } }
  })
}
export const ESBUILD = { dir: 'other', manifest: 'other/meta.json' }
