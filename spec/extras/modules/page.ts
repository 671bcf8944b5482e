// A page with one module, run as a browser would: in development, precompiled module by module, and joined.
import type { Middleware } from 'koa'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { makeSite, run, type ExecutionContext, type Site } from '../../support/index.ts'
import { mapIn, runModule } from './package-files.ts'

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

/** Runs the page from a folder. */
async function runPage(site: Site, html: string, name: string) {
  const imports = html.includes('"importmap"') ? mapIn(html).imports : {}
  const ran = await runModule(site, SCRIPT.exec(html)?.[1] ?? '', imports, name)
  if ('failed' in ran) return ran
  const preloaded = Array.from(html.matchAll(PRELOADED), ([, url = '']) => url)
  const { exported, loaded } = ran
  return { told: await exported['told'], loaded, preloaded: preloaded.toSorted() }
}
