// A page in Chromium over a site, and what it shows.
import type { ExecutionContext } from '../support/test.ts'
import type { Context, Middleware } from 'koa'
import { makeSite, type Site, type SiteOptions } from '../support/site.ts'
import { until } from '../support/until.ts'
import type { DrivenPage } from './browser.ts'
import { launch, type Page } from './chromium.ts'

/** An icon that no browser has to ask for. */
export const ICON = '<link rel="icon" href="data:,">'

/** The body of a page; it may set headers. */
export type View = (ctx: Context) => string

/** A page at `/`. */
export function atRoot(view: View): Middleware {
  return (ctx, next) => {
    if (ctx.path !== '/') return next()
    ctx.type = 'html'
    ctx.body = `<!doctype html><title>page</title>${ICON}${view(ctx)}`
    return undefined
  }
}

interface Visit {
  readonly site: Site
  readonly page: Page
  /** Every path that was requested, in order. */
  readonly paths: string[]
  readonly url: string
}

export interface VisitOptions extends SiteOptions {
  /** Default: what `routes` respond with. */
  readonly view?: View
}

/** Opens the page of a site. */
export async function visit(
  t: ExecutionContext,
  { view, front, ...options }: VisitOptions
): Promise<Visit> {
  const paths: string[] = []
  const site = await makeSite(
    t,
    {},
    {
      ...(view && { routes: atRoot(view) }),
      ...options,
      front: (ctx, next) => {
        paths.push(ctx.path)
        return front ? front(ctx, next) : next()
      }
    }
  )
  const url = `http://127.0.0.1:${site.port}/`
  return { site, page: await launch(t).open(url), paths, url }
}

/** Until an expression has a value in the page; one that throws, as the page loads or before an element is there, has none yet. */
export function shows(page: DrivenPage, expression: string, expected: unknown): Promise<void> {
  return until(
    async () => (await page.evaluate(expression).catch((error: unknown) => error)) === expected,
    `${expression} is ${String(expected)}`
  )
}

/** True once the live channel has told a page with hot replacement of the state that it has. */
export const CONNECTED = 'globalThis.koaFreshAssetsHot.tick !== undefined'

export const styleOf = (selector: string, property = 'color') =>
  `getComputedStyle(document.querySelector('${selector}')).${property}`
