/** `javascript`, `stylesheet`, `favicon` and `live`. A `src` or `href` among the attributes is ignored. */

import { inspect } from 'node:util'
import { check, text, type Expectation } from '../../options.ts'
import {
  splitArguments,
  type AppAssets,
  type AssetUrl,
  type MountChoice,
  type UrlOf
} from './asset-url.ts'
import type { NamesThen, OfName, OfNames } from './asset-names.ts'
import {
  openTag,
  readAttributes,
  withoutKeywords,
  writeAttribute,
  type Attributes,
  type AttributeValue
} from './html.ts'
import { makePageMemory, staticImports } from './modules.ts'

export interface ScriptAttributes extends Attributes {
  /**
   * Of a module: also writes a `modulepreload` link for each module that it imports statically, directly or
   * not, so a browser fetches all of them at once. The links have the tag's `nonce` and `crossorigin`.
   * Without fingerprints the imports are not known, and nothing is added. Default: `false`.
   */
  readonly modulepreload?: boolean | undefined
}

interface Favicon extends OfName<'image', MountChoice & Attributes> {
  (name?: undefined, options?: MountChoice & Attributes): string
}

export function tagHelpers(host: string, assets: AppAssets, urlOf: UrlOf) {
  const remembered = makePageMemory<readonly string[]>(() => assets.version())
  /** The `modulepreload` links of modules, without a nonce. */
  const linksOf = (names: readonly string[], given: Attributes) =>
    remembered(JSON.stringify([names, given]), () =>
      staticImports(assets, names).map(({ path, integrity }) =>
        modulePreloadTag({ url: host + path, integrity }, given)
      )
    )
  return {
    /**
     * A `<script>` for each name. `.js` is appended to a name without a known extension.
     *
     * @example
     * javascript('application', { defer: true })
     * // <script src="/assets/application.js" type="text/javascript" defer="defer"></script>
     * @example
     * javascript('application', { type: 'module', modulepreload: true })
     * // <script src="/assets/application-<32 hex>.js" type="module" …></script>
     * // <link href="/assets/dial-<32 hex>.js" rel="modulepreload" integrity="…" …>
     * @throws {TypeError} without a name, and for `modulepreload` without `type: 'module'`
     */
    javascript: ((...args: NamesThen<'javascript', ScriptAttributes>) => {
      const { names, options = {} } = splitArguments<ScriptAttributes>('javascript', args)
      const { modulepreload = false, ...given } = readAttributes(options)
      const scripts = names.map(name => scriptTag(urlOf(name, { extension: '.js' }), given))
      if (modulepreload === false || modulepreload === null) return scripts.join('\n')
      checkPreload(modulepreload, given)
      const nonce = writeAttribute('nonce', given.nonce)
      const links = linksOf(names, sharedByLinks(given))
      return [...scripts, ...links.map(link => `${link.slice(0, -1)}${nonce}>`)].join('\n')
    }) as OfNames<'javascript', ScriptAttributes>,

    /**
     * A stylesheet `<link>` for each name. `.css` is appended to a name without a known extension.
     *
     * @example
     * stylesheet('main', { media: 'print' })
     * // <link href="/assets/main.css" type="text/css" rel="stylesheet" media="print">
     * @throws {TypeError} without a name
     */
    stylesheet: ((...args: NamesThen<'stylesheet', Attributes>) => {
      const { names, options = {} } = splitArguments<Attributes>('stylesheet', args)
      const given = readAttributes(options)
      return names.map(name => stylesheetTag(urlOf(name, { extension: '.css' }), given)).join('\n')
    }) as OfNames<'stylesheet', Attributes>,

    /**
     * The `<link>` of the site's icon, by default `favicon.ico`.
     *
     * @example
     * favicon()
     * // <link href="/assets/favicon.ico" rel="shortcut icon" type="image/x-icon">
     */
    favicon: ((name = 'favicon.ico', options: MountChoice & Attributes = {}) => {
      const { mount, ...attributes } = options
      return faviconTag(urlOf(name, { mount }).url, readAttributes(attributes))
    }) as Favicon
  } as const
}

export interface LiveTagOptions {
  /** For a Content-Security-Policy without `unsafe-inline`. */
  readonly nonce?: string | undefined
}

const LIVE_OPTIONS = { nonce: text } satisfies Record<keyof LiveTagOptions, Expectation>

/**
 * `live`: the script that shows edits in a page without reloading it.
 * @param src undefined for a page that must not have it
 */
export function liveHelpers(src: string | undefined) {
  return {
    /**
     * The script of the live channel: an edited stylesheet or image is replaced in the page, an edited script
     * reloads it, and an error is shown. Empty unless the environment is `development` and the request
     * comes from this machine (the option `live`).
     *
     * @example
     * live({ nonce })
     * // <script src="/assets/-/live.js" type="module" async="async" nonce="…"></script>
     * @throws {TypeError} for an unknown option
     */
    live: (options: LiveTagOptions = {}): string => {
      check(withoutKeywords(options), LIVE_OPTIONS, 'live.')
      if (src === undefined) return ''
      // Early, so that it sees what the page requests: browsers keep a list of only 250 requests.
      const attributes = { src, type: 'module', async: true, nonce: options.nonce }
      return `${openTag('script', attributes)}</script>`
    }
  } as const
}

export function scriptTag({ url, integrity }: AssetUrl, given: Attributes): string {
  const builtIn = { src: url, type: 'text/javascript' }
  return `${openTag('script', builtIn, ...guarded(integrity, given), { src: url })}</script>`
}

export function stylesheetTag({ url, integrity }: AssetUrl, given: Attributes): string {
  const builtIn = { href: url, type: 'text/css', rel: 'stylesheet' }
  return openTag('link', builtIn, ...guarded(integrity, given), { href: url })
}

function checkPreload(modulepreload: AttributeValue, { type }: Attributes): void {
  if (modulepreload !== true) {
    throw new TypeError(`modulepreload must be true or false, got ${inspect(modulepreload)}`)
  }
  if (type === 'module') return
  throw new TypeError(`modulepreload needs type: 'module', got ${inspect(type)}`)
}

/** What a script's attributes say about the requests of its imports, except the nonce. */
function sharedByLinks({ crossorigin, integrity }: Attributes): Attributes {
  return {
    ...(crossorigin !== undefined && { crossorigin }),
    ...(integrity !== undefined && !integrity && { integrity })
  }
}

/** In the mode in which the importing script requests it: a browser fetches it twice if they differ. */
export function modulePreloadTag({ url, integrity }: AssetUrl, given: Attributes): string {
  return openTag('link', { href: url, rel: 'modulepreload' }, ...guarded(integrity, given))
}

function faviconTag(href: string, given: Attributes): string {
  return openTag('link', { href, rel: 'shortcut icon', type: 'image/x-icon' }, given, { href })
}

/** A browser blocks a cross-origin file that has `integrity` but not `crossorigin`. */
function guarded(hashes: AssetUrl['integrity'], given: Attributes): readonly Attributes[] {
  // `true` would be written as integrity="integrity", which browsers ignore.
  const isOwn = given.integrity === undefined || given.integrity === true
  const integrity = isOwn ? hashes?.join(' ') || null : given.integrity
  return [{ integrity, crossorigin: integrity ? 'anonymous' : null }, given, { integrity }]
}
