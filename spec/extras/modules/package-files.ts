// Packages in `node_modules`, and the import map of a page.
import { join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Middleware } from 'koa'
import { build } from '../../../lib/extras/modules/building/build-process.ts'
import type { Needed } from '../../../lib/extras/modules/resolving.ts'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import type { ViewHelpers } from '../../../lib/runtime/views/view-helpers.ts'
import { isBare, loadModuleLexer } from '../../../lib/publishing/references/modules.ts'
import { makeSite, writeFiles, type Files, type Site } from '../../support/site.ts'

type Json = Readonly<Record<string, unknown>>

/** A package in `node_modules`, or in that of another package. */
export function pkg(path: string, json: Json, files: Files = {}): Files {
  const name = path.split('node_modules/').at(-1)
  const manifest = JSON.stringify({ name, version: '1.0.0', ...json })
  const all = Object.entries({ 'package.json': manifest, ...files })
  return Object.fromEntries(all.map(([file, text]) => [`/node_modules/${path}/${file}`, text]))
}

/** A package with one module, and what else is in it. */
export const modulePkg = (path: string, code: string, files: Files = {}, json: Json = {}): Files =>
  pkg(path, { module: 'index.js', ...json }, { 'index.js': code, ...files })

export const dependencies = (...names: string[]): string =>
  JSON.stringify({ dependencies: Object.fromEntries(names.map(name => [name, '1'])) })

const ESM = { node: './node.js', import: './dist/esm/index.js' }
const SPLIT = { exports: { '.': ESM, './more': './more.js' } }
const BOTH = { main: 'cjs.js', module: 'lib/index.js' }

export const TIP: Files = {
  ...pkg('tip', SPLIT, {
    'node.js': '',
    'dist/esm/index.js': "import { place } from '@pop/core'\nexport * from './_base.js'\nplace()",
    'dist/esm/_base.js': 'export const base = 1',
    'dist/cjs/index.js': 'module.exports = 1',
    'more.js': "import { base } from 'tip'\nexport const more = base",
    'unused.js': ''
  }),
  ...pkg('@pop/core', BOTH, { 'lib/index.js': 'export const place = () => 1' })
}
export const APP = {
  'javascripts/app.js': "import { base } from 'tip'\nimport { more } from 'tip/more'\nbase + more"
}

/** A build of what the option `packages` names. */
export function wantedOf(root: string, named: readonly string[], given?: Partial<Needed>): Needed {
  const by = { importer: 'the option packages', from: root, names: ['given'] }
  const specifiers = new Map(named.map(each => [each, by]))
  return { root, condition: 'development', constants: {}, mapped: [], specifiers, ...given }
}

export async function buildIn(wanted: Needed) {
  const directory = join(wanted.root, `built-${wanted.condition}`)
  const made = await build({ wanted, directory, key: '' })
  const [kept, message] = 'failure' in made ? [undefined, made.failure] : [made, '']
  const fileOf = (specifier: string) =>
    join(kept?.directory ?? '', kept?.imports.names.get(specifier) ?? '')
  /** What a module exports, run here. */
  const load = async (specifier: string) =>
    (await import(pathToFileURL(fileOf(specifier)).href)) as Record<string, unknown>
  return { kept, message, fileOf, load }
}

export function mapIn(html: string) {
  const [, json = ''] = /<script type="importmap">(.*?)<\/script>/.exec(html) ?? []
  return JSON.parse(json) as { readonly imports: Readonly<Record<string, string>> }
}

let folders = 0

/** Writes a module of a site, and all that it loads, to a folder, with the URLs of files, and runs it there. */
export async function runModule(
  { root, ask }: Pick<Site, 'root' | 'ask'>,
  first: string,
  imports: Readonly<Record<string, string>>,
  name = 'run'
) {
  const { find } = await loadModuleLexer()
  const folder = join(root, `${name}-${folders++}`)
  const fileOf = (url: string) => pathToFileURL(join(folder, decodeURI(url))).href
  const [reached, loaded] = [new Set([first]), new Set([first])]
  for (const url of reached) {
    const { status, text } = await ask(url)
    if (status !== 200) return { failed: `${status} ${url}` }
    let code = text
    for (const each of /\.m?js$/.test(url) ? find(text).references.toReversed() : []) {
      const { kind, path, suffix, start, end } = each
      const to = imports[path] ?? (isBare(each) ? undefined : posix.resolve(url, '..', path))
      const isStatic = kind === 'import'
      if (to === undefined && isStatic) return { failed: `${url} imports '${path}'` }
      if (to === undefined || !to.startsWith('/')) continue
      if (isStatic && loaded.has(url)) loaded.add(to)
      reached.add(to)
      code = code.slice(0, start) + JSON.stringify(fileOf(to) + suffix) + code.slice(end)
    }
    writeFiles(folder, { [decodeURI(url)]: code })
  }
  writeFiles(folder, { 'package.json': '{"type":"module"}' })
  const exported = (await import(fileOf(first))) as Readonly<Record<string, unknown>>
  return { exported, loaded: [...loaded].slice(1).toSorted() }
}

/** A site in development with a page of one view, by default its import map. */
export async function makePage(
  t: Parameters<typeof makeSite>[0],
  files: Files,
  options: KoaAssetsOptions,
  view: (assets: ViewHelpers) => string = assets => assets.importMap()
) {
  const routes: Middleware = ctx => void (ctx.path === '/' && (ctx.body = view(ctx.assets)))
  const site = await makeSite(t, files, { ...options, routes })
  const imports = async () => mapIn((await site.ask('/')).text).imports
  /** What a module exports, run here. */
  const load = async (specifier: string) => {
    const all = await imports()
    const ran = await runModule(site, all[specifier] ?? '', all)
    if ('failed' in ran) throw new Error(ran.failed)
    return ran.exported
  }
  return { ...site, imports, load }
}
