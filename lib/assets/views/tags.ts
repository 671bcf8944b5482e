/** `javascript`, `stylesheet` and `favicon`. A `src` or `href` among the attributes is ignored. */

import { splitArguments, type NamesThen } from './arguments.ts'
import type { AssetUrl, UrlOf } from './asset-url.ts'
import { openTag, readAttributes, type Attributes } from './html.ts'

export function tagHelpers(urlOf: UrlOf) {
  return {
    /**
     * A `<script>` for each name. `.js` is appended to a name without a known extension.
     *
     * @example
     * javascript('application', { defer: true })
     * // <script src="/assets/application.js" type="text/javascript" defer="defer"></script>
     * @throws {TypeError} without a name
     */
    javascript: (...names: NamesThen<Attributes>): string =>
      eachName('javascript', names, (name, given) => scriptTag(urlOf(name, '.js'), given)),

    /**
     * A stylesheet `<link>` for each name. `.css` is appended to a name without a known extension.
     *
     * @example
     * stylesheet('main', { media: 'print' })
     * // <link href="/assets/main.css" type="text/css" rel="stylesheet" media="print">
     * @throws {TypeError} without a name
     */
    stylesheet: (...names: NamesThen<Attributes>): string =>
      eachName('stylesheet', names, (name, given) => stylesheetTag(urlOf(name, '.css'), given)),

    /**
     * The `<link>` of the site's icon, by default `favicon.ico`.
     *
     * @example
     * favicon()
     * // <link href="/assets/favicon.ico" rel="shortcut icon" type="image/x-icon">
     */
    favicon: (name = 'favicon.ico', attributes: Attributes = {}): string =>
      faviconTag(urlOf(name), readAttributes(attributes))
  } as const
}

function eachName(
  helper: string,
  args: NamesThen<Attributes>,
  write: (name: string, given: Attributes) => string
): string {
  const { names, options = {} } = splitArguments(helper, args)
  const attributes = readAttributes(options)
  return names.map(name => write(name, attributes)).join('\n')
}

export function scriptTag({ url, integrity }: AssetUrl, given: Attributes): string {
  const builtIn = { src: url, type: 'text/javascript' }
  return `${openTag('script', builtIn, ...guarded(integrity, given), { src: url })}</script>`
}

export function stylesheetTag({ url, integrity }: AssetUrl, given: Attributes): string {
  const builtIn = { href: url, type: 'text/css', rel: 'stylesheet' }
  return openTag('link', builtIn, ...guarded(integrity, given), { href: url })
}

function faviconTag({ url }: AssetUrl, given: Attributes): string {
  const builtIn = { href: url, rel: 'shortcut icon', type: 'image/x-icon' }
  return openTag('link', builtIn, given, { href: url })
}

/** A browser blocks a cross-origin file that has `integrity` but not `crossorigin`. */
export function guarded(hashes: AssetUrl['integrity'], given: Attributes): readonly Attributes[] {
  // `true` would be written as integrity="integrity", which browsers ignore.
  const isOwn = given.integrity === undefined || given.integrity === true
  const integrity = isOwn ? hashes?.join(' ') || null : given.integrity
  return [{ integrity, crossorigin: integrity ? 'anonymous' : null }, given, { integrity }]
}
