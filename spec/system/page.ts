// A page in a browser over a site, and what it shows.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Context, Middleware } from 'koa'
import { makeSite, serial as test, until, type ExecutionContext } from '../support/index.ts'
import type { Site, SiteOptions } from '../support/index.ts'
import type { Browser, DrivenPage } from './browser.ts'
import { launch, type Page } from './chromium.ts'
import { launch as launchFirefox } from './firefox.ts'
import { folderOf } from './installed.ts'

export type Launch = (t: ExecutionContext) => Browser<DrivenPage>

export const BROWSERS: ReadonlyArray<readonly [name: string, launch: Launch]> = [
  ['Chromium', launch],
  ['Firefox', launchFirefox]
]

export function inEach(title: string, run: (t: ExecutionContext, launch: Launch) => unknown): void {
  for (const [name, launch] of BROWSERS) test(`${title}, in ${name}`, async t => run(t, launch))
}

export const ICON = '<link rel="icon" href="data:,">'

/** The body of a page; it may set headers. */
export type View = (ctx: Context) => string

/** Sets a policy that allows nothing inline, and no HTML in scripts; returns its nonce, `NONCE` in what it allows. */
export function setPolicy(ctx: Context, allowed: string): string {
  const nonce = randomUUID()
  const sources = allowed.replaceAll('NONCE', `'nonce-${nonce}'`)
  ctx.set(
    'Content-Security-Policy',
    `default-src 'none'; connect-src 'self'; ${sources}; require-trusted-types-for 'script'`
  )
  ctx.type = 'html'
  return nonce
}

export function atRoot(view: View): Middleware {
  return (ctx, next) => {
    if (ctx.path !== '/') return next()
    ctx.type = 'html'
    ctx.body = `<!doctype html><title>page</title>${ICON}${view(ctx)}`
    return undefined
  }
}

export interface VisitOptions extends SiteOptions {
  /** Default: what `routes` respond with. */
  readonly view?: View
}

export async function visit(t: ExecutionContext, { view, front, ...options }: VisitOptions) {
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

/** Notes for which files a browser offers a dictionary, which it stores while it goes on: a middleware, and what waits for that. */
export function dictionaries() {
  const offered = new Set<string>()
  const note: Middleware = (ctx, next) => {
    if (ctx.get('Available-Dictionary') !== '') offered.add(ctx.path)
    return next()
  }
  const ask = `Promise.all(Array.from(document.scripts, async ({ src }) => {
    await fetch(src, { method: 'HEAD', cache: 'no-store' })
    return new URL(src).pathname
  }))`
  const areOffered = async (page: DrivenPage) =>
    (await page.evaluate<string[]>(ask)).every(path => offered.has(path))
  const stored = (page: DrivenPage) => until(() => areOffered(page), 'every script is a dictionary')
  return { note, stored }
}

/** True once the live channel has told a page with hot replacement of the state that it has. */
export const CONNECTED = 'globalThis.koaFreshAssetsHot.tick !== undefined'

export const textOf = (selector: string) => `document.querySelector('${selector}')?.textContent`

/** An expression: red, green and blue of an image, by that of its URL. */
export const pixelOf = (url: string, x = 1, y = 1) => `(async () => {
  const image = Object.assign(new Image(), { src: ${url} })
  await image.decode()
  const context = document.createElement('canvas').getContext('2d')
  context.drawImage(image, 0, 0)
  return context.getImageData(${x}, ${y}, 1, 1).data.slice(0, 3).join()
})()`

/** In bytes, what a page has loaded of a file. */
export const transferOf = (page: Page, name: RegExp) =>
  page.evaluate<Record<'transferSize' | 'encodedBodySize' | 'decodedBodySize', number>>(
    `performance.getEntriesByType('resource').find(({ name }) => ${String(name)}.test(name)).toJSON()`
  )

export const styleOf = (selector: string, property = 'color') =>
  `getComputedStyle(document.querySelector('${selector}')).${property}`

export function edit(site: Site, name: string, before: string, after: string): void {
  const code = site.read(name) ?? ''
  if (!code.includes(before)) throw new Error(`${before} is not in ${name}`)
  site.write(name, code.replace(before, after))
}

export async function resize(page: Page, width: number, isMobile = false): Promise<void> {
  const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: isMobile }
  await page.command('Emulation.setDeviceMetricsOverride', metrics)
  // A mobile one is as wide as what is in it.
  if (!isMobile) await shows(page, 'innerWidth', width)
}

export const SCREENS = [
  [390, 'light'],
  [1280, 'dark']
] as const

export async function preferScheme(page: Page, value: 'light' | 'dark'): Promise<void> {
  const features = [{ name: 'prefers-color-scheme', value }]
  await page.command('Emulation.setEmulatedMedia', { features })
}

/** What axe-core finds in a part of a page: each finding, with the first elements that it is about. */
export async function findingsIn(page: Page, part = 'document'): Promise<string[]> {
  const axe = readFileSync(join(folderOf('axe-core'), 'axe.min.js'), 'utf8')
  await page.evaluate(`${axe};undefined`)
  return page.evaluate(`axe.run(${part}, { resultTypes: ['violations'] }).then(({ violations, passes }) =>
    passes.length === 0 ? ['nothing was checked'] :
    violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html }) => html.slice(0, 120))].join(' ')))`)
}
