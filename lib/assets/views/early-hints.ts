// What a page will need, said before the page is there: in a Link header, and in a 103 (RFC 8297).
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readName } from './asset-url.ts'
import type { PreloadOptions } from './preload.ts'
import type { ViewHelpers } from './view-helpers-api.ts'

type Names = readonly [name: string, ...names: string[]]

/** One name or several, then options for all of them. */
export type NamesThenPreloadOptions =
  Names | readonly [...names: Names, options: PreloadOptions | undefined]

/**
 * Has the browser fetch assets while the page is still being made: adds a value to the `Link` header
 * for each name, and sends it ahead as `103 Early Hints` with the option `earlyHints`. Once the
 * answer's header is on its way there is nothing to announce any more, and nothing happens.
 *
 * @example
 * ctx.preload('app.css', 'inter-400.woff2')
 * ctx.preload('app', { as: 'module' })
 * @throws {TypeError} as `ctx.assets.preload`; no header was changed then
 */
export type Preload = (this: Page, ...names: NamesThenPreloadOptions) => void

/** What Koa's context is to its `preload`. */
interface Page {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly assets: ViewHelpers
}

/** @param early whether the links are sent ahead as well */
export function makePreload(early: boolean): Preload {
  return function preload(...names) {
    if (!(this as Partial<Page> | undefined)?.res)
      throw new TypeError("preload() is a method: call it on Koa's context")
    announce(this, linksFor(this.assets, names), early)
  }
}

/** The values of the `Link` header, in the order of the names. */
function linksFor(assets: ViewHelpers, args: NamesThenPreloadOptions): readonly string[] {
  const last = args.at(-1)
  const [names, options] = typeof last === 'string' ? [args, {}] : [args.slice(0, -1), last ?? {}]
  if (names.length === 0) throw new TypeError('preload() needs the name of an asset')
  return names.map(name => assets.preload(readName(name), options))
}

/** Adds to the `Link` header what it does not hold yet. */
function announce({ req, res }: Page, links: readonly string[], early: boolean): void {
  if (res.headersSent) return
  const held = new Set([res.getHeader('Link') ?? []].flat().map(String))
  const fresh = [...new Set(links)].filter(link => !held.has(link))
  if (fresh.length === 0) return
  res.appendHeader('Link', fresh)
  if (early && readsHints(req)) sendHints(res, fresh)
}

/**
 * A browser that opens a page: nobody else makes use of hints, and clients exist which take any 1xx
 * for the answer (RFC 8297 section 3). HTTP/1.0 knows no 1xx at all (RFC 9110 section 15.2).
 */
function readsHints({ method, headers, httpVersion }: IncomingMessage): boolean {
  return method === 'GET' && httpVersion !== '1.0' && headers['sec-fetch-mode'] === 'navigate'
}

// Node refuses the rest, as it does not read blanks in quotes: two integrity hashes, a media query.
// A parameter's name ends at the first `=`: one way to read each value, and so linear.
const SENDABLE = /^<[^>]*>(?:\s*;\s*[^=;"\s]+(?:=(?:"[^;"\s]*"|[^;"\s]*))?)*$/

/** Whether Node takes the value of a Link header for a 103. */
export function isSendable(link: string): boolean {
  return SENDABLE.test(link)
}

function sendHints(res: ServerResponse, links: readonly string[]): void {
  const link = links.filter(isSendable)
  if (link.length > 0) res.writeEarlyHints({ link })
}
