// `ctx.preload`: links that a browser is told of before it has the page.
import type { Context } from 'koa'
import { announceLinks } from '../serving/early-hints.ts'
import { splitArguments } from '../views/asset-url.ts'
import type { NamesThenPreloadOptions } from '../views/preload.ts'

/**
 * Lets the browser fetch assets while the page is still being generated: adds a `Link` value
 * (RFC 8288) for each name to the response. With the option `earlyHints`, requests that open a page
 * are also sent the same values ahead, as `103 Early Hints` (RFC 8297). A value that the header
 * already contains is not repeated, and nothing happens once the header has been sent.
 *
 * @example
 * ctx.preload('app.css', 'inter-400.woff2')
 * // Link: </assets/app.css>; rel=preload; as=style
 * // Link: </assets/inter-400.woff2>; rel=preload; as=font; crossorigin
 * @example
 * ctx.preload('app', { as: 'module' })
 * @throws {TypeError} in the cases of `ctx.assets.preload`, and without a name; the header is then
 * unchanged
 */
export type Preload = (
  this: Pick<Context, 'assets' | 'req' | 'res'>,
  ...names: NamesThenPreloadOptions
) => void

/** @param sendsHints whether a 103 is sent ahead of the response */
export function makePreload(sendsHints: boolean): Preload {
  return function preload(...args) {
    if (!(this as Partial<Context> | undefined)?.res)
      throw new TypeError("preload() is a method: call it on Koa's context")
    const { names, options } = splitArguments('preload', args)
    announceLinks(
      this,
      names.map(name => this.assets.preload(name, options)),
      sendsHints
    )
  }
}
