// The helper `preload`, for a value of the `Link` header that makes a browser fetch an asset early (RFC 8288).
import { inspect } from 'node:util'
import { optionError } from '../../runtime/check-options.ts'
import { encodeUrl } from '../../runtime/urls/spelling.ts'
import type { NamesThen, OfName } from '../../runtime/views/asset-names.ts'
import {
  mediaType,
  withoutQuery,
  type AssetUrl,
  type Helpers,
  type LoadedUrl,
  type MountChoice,
  type UrlOf
} from '../../runtime/views/asset-url.ts'

// The destinations, each with the extension that a tag appends to a name without one.
const DESTINATIONS = {
  fetch: '',
  font: '',
  image: '',
  module: '.js',
  script: '.js',
  style: '.css',
  track: ''
} as const

type PreloadDestination = keyof typeof DESTINATIONS

/** The parameters of a preload link (RFC 8288 section 3; the HTML standard, "preload"). */
export interface PreloadOptions extends MountChoice {
  /** The use of the asset in the page. Default: by extension. `module` writes `rel=modulepreload`. */
  readonly as?: PreloadDestination | undefined
  /** The media type, which lets a browser skip a format it does not support. `module` is `as: 'module'`. */
  readonly type?: string | undefined
  /** The CORS mode. Default: that of the tag or stylesheet; a browser cannot use what was fetched in another mode. */
  readonly crossorigin?: boolean | 'anonymous' | 'use-credentials' | undefined
  /** `false` leaves out Subresource Integrity, as in a tag with `integrity: false`. Default: true. */
  readonly integrity?: boolean | undefined
  /** The browser fetches the asset only where this media query matches. */
  readonly media?: string | undefined
  /** Default: `auto`. */
  readonly fetchpriority?: 'high' | 'low' | 'auto' | undefined
}

export type NamesThenPreloadOptions = NamesThen<'preload', PreloadOptions>

export interface PreloadHelpers extends ReturnType<typeof preloadHelpers> {}

export const HELPERS: Helpers = {
  of({ urlOf }) {
    const helpers = preloadHelpers(urlOf)
    return () => helpers
  }
}

function preloadHelpers(urlOf: UrlOf) {
  return {
    /**
     * Returns a value for the `Link` header; `ctx.preload` writes the header itself.
     * @example
     * preload('fonts/inter.woff2')
     * // </assets/fonts/inter.woff2>; rel=preload; as=font; crossorigin
     * @throws {TypeError} when neither `as` nor the extension shows what the asset is used for, and
     * for a parameter that is not printable ASCII
     */
    preload: ((name: string, options: PreloadOptions = {}) => {
      const as = destinationOf(name, options)
      return linkTo(urlOf(name, { extension: DESTINATIONS[as], mount: options.mount }), as, options)
    }) as OfName<'preload', PreloadOptions>
  } as const
}

/** The destinations of tags; scripts for browsers without modules are not preloaded. */
const LOADED_AS: Partial<Record<LoadedUrl['as'], PreloadDestination>> = {
  stylesheet: 'style',
  module: 'module',
  classic: 'script',
  blocking: 'script',
  modulepreload: 'module'
}

export function linksTo(loaded: readonly LoadedUrl[], options: PreloadOptions = {}): string[] {
  return loaded.flatMap(each => {
    const as = LOADED_AS[each.as]
    return as ? linkTo(each, as, options) : []
  })
}

function destinationOf(name: string, options: PreloadOptions): PreloadDestination {
  const as = options.type === 'module' ? 'module' : (options.as ?? destinationByExtension(name))
  if (as !== undefined && Object.hasOwn(DESTINATIONS, as)) return as
  throw new TypeError(
    `preload(${inspect(name)}) needs { as } with one of ${Object.keys(DESTINATIONS).join(', ')}` +
      `, got ${inspect(options.as)}`
  )
}

function destinationByExtension(name: string): PreloadDestination | undefined {
  const type = mediaType(name)
  if (type === undefined) return undefined
  if (type === 'text/css') return 'style'
  if (type === 'text/javascript') return /\.mjs$/i.test(withoutQuery(name)) ? 'module' : 'script'
  if (type === 'text/vtt') return 'track'
  if (type.startsWith('font/')) return 'font'
  return type.startsWith('image/') ? 'image' : 'fetch'
}

function linkTo(
  { url, integrity: hashes }: AssetUrl,
  as: PreloadDestination,
  { type, crossorigin, integrity: isWanted, media, fetchpriority }: PreloadOptions
): string {
  // A preload that differs from the tag's request is not used.
  const isGuarded = isWanted !== false && ['script', 'style', 'module'].includes(as)
  const integrity = isGuarded && hashes?.join(' ')
  // Fonts and fetch() always use CORS mode, even for their own origin.
  const cors = crossorigin ?? (Boolean(integrity) || as === 'font' || as === 'fetch')
  const parameters = {
    rel: as === 'module' ? 'modulepreload' : 'preload',
    as: as !== 'module' && as,
    type: type !== 'module' && type,
    integrity,
    crossorigin: cors === 'anonymous' || cors,
    media,
    fetchpriority
  }
  return [`<${encodeUrl(url)}>`, ...Object.entries(parameters).flatMap(writeParameter)].join('; ')
}

function writeParameter([name, value]: [string, string | boolean | undefined]): string[] {
  if (value === undefined || value === false || value === '') return []
  if (value === true) return [name]
  if (/[^\x20-\x7e]/.test(value))
    throw optionError(`${name} of a preload`, 'printable ASCII', value)
  return [`${name}=${/^[a-z-]+$/.test(value) ? value : JSON.stringify(value)}`]
}
