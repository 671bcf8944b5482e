// A page with one module, run as a browser would: in development, precompiled module by module, and joined.
import { join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Middleware } from 'koa'
import { isBare, loadModuleLexer } from '../../../lib/publishing/references/modules.ts'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { makeSite, run, writeFiles, type ExecutionContext, type Site } from '../../support/index.ts'
import { mapIn } from './package-files.ts'

export const WAYS = ['development', false, 'packages', true] as const
export type Way = (typeof WAYS)[number]

/** What the page `app.js` exports as `told`, or why it is none. */
export interface Outcome {
  readonly told?: unknown
  readonly failed?: string
  /** The modules that it loads, without itself, and those that it preloads, both sorted. */
  readonly loaded?: readonly string[]
  readonly preloaded?: readonly string[]
  readonly warnings: readonly string[]
}

/** @param way development, or the option `bundle` of a precompile */
export async function outcomeOf(
  t: ExecutionContext,
  root: string,
  options: KoaAssetsOptions,
  way: Way
): Promise<Outcome> {
  const isDevelopment = way === 'development'
  const given = { ...options, root, bundle: isDevelopment ? 'packages' : way } as const
  const warnings: string[] = []
  if (!isDevelopment) {
    const report = await run(given).catch((error: Error) => error)
    if (report instanceof Error) return { failed: report.message, warnings }
    warnings.push(...report.warnings)
  }
  const routes: Middleware = ctx => {
    const { importMap, javascript } = ctx.assets
    const tag = () => javascript('app', { type: 'module', modulepreload: true })
    if (ctx.path === '/') ctx.body = importMap() + tag()
  }
  const env = isDevelopment ? 'development' : 'production'
  const site = await makeSite(t, {}, { ...given, env, routes })
  const html = await site.ask('/')
  if (html.status !== 200) return { failed: site.errors.at(-1)?.message ?? '', warnings }
  return { ...(await runPage(site, html.text, `run-${way}`)), warnings }
}

const SCRIPT = /<script [^>]*src="([^"]+)"/
const PRELOADED = /href="([^"]+)" rel="modulepreload"/g

let pages = 0

/** Writes all that the page loads to a folder, with the URLs of files, and runs it there. */
async function runPage({ root, ask }: Site, html: string, name: string) {
  const { find } = await loadModuleLexer()
  const { imports } = html.includes('"importmap"')
    ? mapIn(html)
    : { imports: {} as Record<string, string> }
  const first = SCRIPT.exec(html)?.[1] ?? ''
  const folder = join(root, `${name}-${pages++}`)
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
  const preloaded = Array.from(html.matchAll(PRELOADED), ([, url = '']) => url)
  const listed = { loaded: [...loaded].slice(1).toSorted(), preloaded: preloaded.toSorted() }
  const { told } = (await import(fileOf(first))) as { readonly told?: unknown }
  return { told: await told, ...listed }
}
