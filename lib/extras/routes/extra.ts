// Adds the methods that routes call: to send a file, and to preload the assets of a page.
import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import type { Extra } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { rawPath } from '../../runtime/serving/request.ts'
import { appOfPage } from '../../runtime/settings/apps.ts'
import { splitArguments } from '../../runtime/views/asset-url.ts'
import { HELPERS, linksTo, type NamesThenPreloadOptions } from './preload-links.ts'
import { makeSendFile, type SendFile } from './send-file.ts'

export interface RouteMethods {
  /**
   * Lets the browser fetch assets while the page is still being generated: adds a `Link` value
   * (RFC 8288) for each name to the response. With the option `earlyHints`, requests that open a page
   * also get the same values ahead, as `103 Early Hints` (RFC 8297). A value that the header
   * already contains is not repeated, and nothing happens once the header has been sent. Values beyond 3 kB are left
   * out, as nginx by default accepts a head of at most 4 kB.
   * @example
   * ctx.preload('app.css', 'inter-400.woff2')
   * // Link: </assets/app.css>; rel=preload; as=style
   * // Link: </assets/inter-400.woff2>; rel=preload; as=font; crossorigin
   * @example
   * ctx.preload('app', { as: 'module' })
   * @example
   * ctx.preload('src/main.tsx') // an entry: all that its tags load
   * @throws {TypeError} like `ctx.assets.preload`, and without a name; the header is then
   * unchanged
   */
  preload: Preload
  /**
   * Responds with one file in the same way as for files of `public`: validators, preconditions, ranges, compressed
   * copies. Authorization and the status are left to the route: if it has set a status other than 200, the whole file
   * is sent. Fields that were set before stay, Content-Type and Cache-Control included, unless `type` or `download`
   * says otherwise.
   * @param path decoded, relative to `root`: `2024/May report.pdf`; one leading slash makes no difference
   * @example
   * await ctx.sendFile(ctx.params.file, { root: 'data/uploads' })
   * @throws an error with status 404 for a file that does not exist, a directory, a dotfile, and a path or a
   *   symbolic link that leads out of `root`
   * @throws {TypeError} for an invalid option
   */
  sendFile: SendFile
}

export const routes: Extra<Pipeline> = {
  name: 'routes',
  run: () => ({ helpers: HELPERS }),
  methods: pipeline => {
    const preload = makePreload(pipeline)
    const sendFile = makeSendFile(pipeline)
    return (ctx, hasNames) => {
      ctx.sendFile = sendFile
      if (hasNames) ctx.preload = preload
    }
  }
}

export type Preload = (
  this: Pick<Context, 'assets' | 'req' | 'res'>,
  ...names: NamesThenPreloadOptions
) => void

/** The limit for all values of the header. */
const MAX_BYTES = 3000

function makePreload(pipeline: Pipeline): Preload {
  const { earlyHints } = pipeline.settings
  return function preload(...args) {
    const { assets, req, res } = this
    const { names, options } = splitArguments('preload', args)
    const { settings } = pipeline
    const app = appOfPage(settings, rawPath(req.url ?? '')) ?? settings.publicApp
    const { loadedFor } = pipeline.addressesOf(app)
    const linksOf = (name: string): readonly string[] => {
      const loaded = loadedFor?.(name, options?.mount)
      return loaded ? linksTo(loaded, options) : [assets.preload(name, options)]
    }
    const links = new Set(names.flatMap(linksOf))
    if (res.headersSent) return
    const present = new Set([res.getHeader('Link') ?? []].flat().map(String))
    let rest = MAX_BYTES - [...present].join('').length
    const added = [...links].filter(link => !present.has(link) && (rest -= link.length) >= 0)
    if (added.length === 0) return
    res.appendHeader('Link', added)
    // Node sends nothing if the list is empty.
    if (earlyHints && acceptsHints(req)) res.writeEarlyHints({ link: added.filter(isSendable) })
  }
}

// Some clients mistake any 1xx for the final response (RFC 8297 section 3), and HTTP/1.0 has none.
function acceptsHints({ method, headers, httpVersion }: IncomingMessage): boolean {
  return method === 'GET' && httpVersion !== '1.0' && headers['sec-fetch-mode'] === 'navigate'
}

// Node throws for other values in a 103, such as two integrity hashes. A name ends at its first `=`: matching is linear.
export const isSendable = (link: string) =>
  /^<[^>]*>(?:\s*;\s*[^=;"\s]+(?:=(?:"[^;"\s]*"|[^;"\s]*))?)*$/.test(link)
