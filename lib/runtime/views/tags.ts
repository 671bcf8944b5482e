// Writes the tags of scripts, stylesheets and the icon. A `src` or `href` among the attributes is ignored.
import { checked, flag, optionError } from '../check-options.ts'
import {
  MAX_LISTS,
  MAX_NAMES,
  mediaType,
  splitArguments,
  withoutQuery,
  type AppView,
  type AssetUrl,
  type Memory,
  type MountChoice
} from './asset-url.ts'
import type { NamesThen, OfName, OfNames } from './asset-names.ts'
import { openTag, readAttributes, writeAttribute, type Attributes } from './html.ts'
import { staticImports } from './modules.ts'

export interface ScriptAttributes extends Attributes {
  /**
   * Writes, before a module, a `modulepreload` link for each of its static imports, direct or indirect, so that a
   * browser fetches all of them at once. The links have the tag's `nonce` and `crossorigin`. Without
   * fingerprints the imports are not known, and nothing is added. Default: `true` with `type: 'module'`.
   */
  readonly modulepreload?: boolean | undefined
}

interface Favicon extends OfName<'image', MountChoice & Attributes> {
  (name?: undefined, options?: MountChoice & Attributes): string
}

export function tagHelpers(view: AppView) {
  const { urlOf, memory } = view
  const links = memory<readonly string[]>(MAX_LISTS)
  const scriptOf = (name: string, given?: Attributes) =>
    assetTag('script', urlOf(name, { extension: '.js' }), given)
  const linkTo = (name: string, given?: Attributes) =>
    assetTag('stylesheet', urlOf(name, { extension: '.css' }), given)
  return {
    /**
     * Writes a `<script>` for each name. `.js` is appended to a name without a known extension.
     * @example
     * javascript('application', { defer: true })
     * // <script src="/assets/application.js" type="text/javascript" defer="defer"></script>
     * @example
     * javascript('application', { type: 'module' })
     * // <link href="/assets/dial-<32 hex>.js" rel="modulepreload" integrity="…" …>
     * // <script src="/assets/application-<32 hex>.js" type="module" …></script>
     * @throws {TypeError} without a name, and for `modulepreload` without `type: 'module'`
     */
    javascript: remembering(
      view,
      scriptOf,
      (...args: NamesThen<'javascript', ScriptAttributes>) => {
        const { names, options = {} } = splitArguments<ScriptAttributes>('javascript', args)
        const { modulepreload, ...given } = readAttributes(options)
        const scripts = names.map(name => scriptOf(name, given))
        const isModule = given.type === 'module'
        const wanted = modulepreload === undefined ? isModule : (modulepreload ?? false)
        const isPreloaded = checked(wanted, flag, 'modulepreload')
        if (!isPreloaded) return scripts.join('\n')
        if (!isModule) throw optionError('type', "'module' for modulepreload", given.type)
        // The links come first: in a slow page the script would request its imports without integrity.
        return [...importLinks(view, links, names, given), ...scripts].join('\n')
      }
    ) as OfNames<'javascript', ScriptAttributes>,

    /**
     * Writes a stylesheet `<link>` for each name. `.css` is appended to a name without a known extension.
     * @example
     * stylesheet('main', { media: 'print' })
     * // <link href="/assets/main.css" type="text/css" rel="stylesheet" media="print">
     * @throws {TypeError} without a name
     */
    stylesheet: remembering(view, linkTo, (...args: NamesThen<'stylesheet', Attributes>) => {
      const { names, options = {} } = splitArguments<Attributes>('stylesheet', args)
      const given = readAttributes(options)
      return names.map(name => linkTo(name, given)).join('\n')
    }) as OfNames<'stylesheet', Attributes>,

    /**
     * Writes the `<link>` of the site's icon, by default `favicon.ico`. Its `type` follows from the extension.
     * @example
     * favicon()
     * // <link href="/assets/favicon.ico" rel="shortcut icon" type="image/x-icon">
     */
    favicon: ((name = 'favicon.ico', options: MountChoice & Attributes = {}) => {
      const { mount, ...attributes } = options
      const { url: href } = urlOf(name, { mount })
      // Browsers know an .ico by this name; the registered one is image/vnd.microsoft.icon.
      const type = /\.ico$/i.test(withoutQuery(name)) ? undefined : mediaType(name)
      const builtIn = { href, rel: 'shortcut icon', type: type ?? 'image/x-icon' }
      return openTag('link', builtIn, readAttributes(attributes), { href })
    }) as Favicon
  } as const
}

/** Remembers the tags of single names without attributes, if URLs last: writing one takes some microseconds. */
function remembering<Args extends readonly unknown[]>(
  { assets, memory }: AppView,
  tagOf: (name: string) => string,
  write: (...args: Args) => string
): (...args: Args) => string {
  if (!assets.isLasting) return write
  const tags = memory<string>(MAX_NAMES)
  return (...args) =>
    args.length === 1 && typeof args[0] === 'string' ? tags(args[0], tagOf) : write(...args)
}

/** Links use the mode of the importing script's requests: a browser fetches a module twice if the modes differ. */
function importLinks(
  { host, assets }: AppView,
  remembered: Memory<readonly string[]>,
  names: readonly string[],
  { crossorigin, integrity, nonce }: Attributes
): string[] {
  const shared = {
    ...(crossorigin !== undefined && { crossorigin }),
    ...(integrity !== undefined && !integrity && { integrity })
  }
  const links = remembered(JSON.stringify([names, shared]), () =>
    staticImports(assets, names).map(({ target, integrity: hashes }) =>
      assetTag('modulepreload', { url: host + target, integrity: hashes }, shared)
    )
  )
  // The nonce differs from page to page.
  const end = `${writeAttribute('nonce', nonce)}>`
  return links.map(link => link.slice(0, -1) + end)
}

const BUILT_IN = {
  script: { type: 'text/javascript' },
  stylesheet: { type: 'text/css', rel: 'stylesheet' },
  modulepreload: { rel: 'modulepreload' }
} as const

/** @param given the attributes of the view, none of which replaces the URL */
export function assetTag(
  kind: keyof typeof BUILT_IN,
  { url, integrity: hashes }: AssetUrl,
  given: Attributes = {}
): string {
  const [tag, end, place] =
    kind === 'script' ? ['script', '</script>', { src: url }] : ['link', '', { href: url }]
  // `true` would be written as integrity="integrity", which browsers ignore.
  const isOwn = given.integrity === undefined || given.integrity === true
  const integrity = isOwn ? hashes?.join(' ') || null : given.integrity
  // A browser blocks a cross-origin file with `integrity` but without `crossorigin`.
  const crossorigin = integrity ? 'anonymous' : null
  const builtIn = { ...place, ...BUILT_IN[kind], integrity, crossorigin }
  return openTag(tag, builtIn, given, { integrity, ...place }) + end
}
