// `ctx.preload` adds links to the `Link` header, and sends them ahead of the response in a 103 (RFC 8297).
import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { rawPath } from '../../runtime/serving/request.ts'
import { appOfPage } from '../../runtime/settings/apps.ts'
import { splitArguments } from '../../runtime/views/asset-url.ts'
import { linksTo, type NamesThenPreloadOptions, type PreloadOptions } from './preload-links.ts'
import { requireContext } from './send-file.ts'

export type Preload = (
  this: Pick<Context, 'assets' | 'req' | 'res'>,
  ...names: NamesThenPreloadOptions
) => void

export function makePreload(pipeline: Pipeline): Preload {
  const { earlyHints } = pipeline.settings
  return function preload(...args) {
    requireContext('preload', this)
    const { assets, req, res } = this
    const { names, options } = splitArguments<PreloadOptions>('preload', args)
    const { settings } = pipeline
    const app = appOfPage(settings, rawPath(req.url ?? '')) ?? settings.publicApp
    const { loadedFor } = pipeline.addressesOf(app)
    const linksOf = (name: string): readonly string[] => {
      const loaded = loadedFor(name, options?.mount)
      return loaded ? linksTo(loaded, options) : [assets.preload(name, options)]
    }
    const links = new Set(names.flatMap(linksOf))
    if (res.headersSent) return
    const present = new Set([res.getHeader('Link') ?? []].flat().map(String))
    const added = [...links].filter(link => !present.has(link))
    if (added.length === 0) return
    res.appendHeader('Link', added)
    // Node sends nothing when the list is empty.
    if (earlyHints && acceptsHints(req)) res.writeEarlyHints({ link: added.filter(isSendable) })
  }
}

/**
 * Only a browser that opens a page makes use of hints, and some clients mistake any 1xx for the final
 * response (RFC 8297 section 3). HTTP/1.0 has no 1xx (RFC 9110 section 15.2).
 */
function acceptsHints({ method, headers, httpVersion }: IncomingMessage): boolean {
  return method === 'GET' && httpVersion !== '1.0' && headers['sec-fetch-mode'] === 'navigate'
}

// Node throws for other values in a 103, such as a quoted one with spaces: two integrity hashes, a media query.
// A parameter's name ends at the first `=`, which keeps matching linear.
const SENDABLE = /^<[^>]*>(?:\s*;\s*[^=;"\s]+(?:=(?:"[^;"\s]*"|[^;"\s]*))?)*$/

export const isSendable = (link: string): boolean => SENDABLE.test(link)
