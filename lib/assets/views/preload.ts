/** The value of a `Link` header that has the browser fetch an asset early (RFC 8288). */

import { inspect } from 'node:util'
import { cutQuery, mediaType, type Locate } from './asset-url.ts'
import { encodeUrl } from '../urls/encode.ts'

// With the extension that a tag adds to a name which has none.
const DESTINATIONS = {
  fetch: '',
  font: '',
  image: '',
  module: '.js',
  script: '.js',
  style: '.css',
  track: ''
} as const

export type PreloadDestination = keyof typeof DESTINATIONS

export interface PreloadOptions {
  /** What the page needs it for. Default: by extension. `module` makes it `rel=modulepreload`. */
  readonly as?: PreloadDestination | undefined
  /** Media type, so that a browser can pass over what it does not support; or `module`. */
  readonly type?: string | undefined
  /** Default: as the tag or stylesheet which uses the asset asks for it. */
  readonly crossorigin?: boolean | 'anonymous' | 'use-credentials' | undefined
  /** `false`: without Subresource Integrity, as a tag with `integrity: false`. */
  readonly integrity?: boolean | undefined
  /** A media query. */
  readonly media?: string | undefined
  readonly fetchpriority?: 'high' | 'low' | 'auto' | undefined
}

type Parameter = readonly [name: string, value: string | boolean | undefined]

/** @throws {TypeError} when neither `as` nor the extension tells what the asset is for */
export function preload(locate: Locate, name: string, options: PreloadOptions): string {
  const as = destination(name, options)
  const asset = locate(name, DESTINATIONS[as])
  const integrity = options.integrity !== false && isGuarded(as) && asset.integrity?.join(' ')
  const parameters: Parameter[] = [
    ['rel', as === 'module' ? 'modulepreload' : 'preload'],
    ['as', as !== 'module' && as],
    ['type', options.type !== 'module' && options.type],
    ['integrity', integrity],
    ['crossorigin', crossOrigin(as, Boolean(integrity), options)],
    ['media', options.media],
    ['fetchpriority', options.fetchpriority]
  ]
  return [`<${encodeUrl(asset.url)}>`, ...parameters.flatMap(writeParameter)].join('; ')
}

function destination(name: string, options: PreloadOptions): PreloadDestination {
  const as = options.type === 'module' ? 'module' : (options.as ?? byExtension(name))
  if (as !== undefined && Object.hasOwn(DESTINATIONS, as)) return as
  throw new TypeError(
    `preload(${inspect(name)}) needs { as } with one of ${Object.keys(DESTINATIONS).join(', ')}` +
      `, got ${inspect(options.as)}`
  )
}

function byExtension(name: string): PreloadDestination | undefined {
  const type = mediaType(name)
  if (type === undefined) return undefined
  if (type === 'text/css') return 'style'
  if (type === 'text/javascript') return /\.mjs$/i.test(cutQuery(name)) ? 'module' : 'script'
  if (type === 'text/vtt') return 'track'
  if (type.startsWith('font/')) return 'font'
  return type.startsWith('image/') ? 'image' : 'fetch'
}

// Only where the tag has it, too: a preload that differs from the request is fetched in vain.
function isGuarded(as: PreloadDestination): boolean {
  return as === 'script' || as === 'style' || as === 'module'
}

// Fonts and fetch() always ask in CORS mode, even their own origin.
function crossOrigin(
  as: PreloadDestination,
  guarded: boolean,
  options: PreloadOptions
): string | boolean {
  const asked = options.crossorigin ?? (guarded || as === 'font' || as === 'fetch')
  return asked === 'anonymous' || asked
}

function writeParameter([name, value]: Parameter): string[] {
  if (value === undefined || value === false || value === '') return []
  if (value === true) return [name]
  if (/[^\x20-\x7e]/.test(value)) {
    throw new TypeError(`${name} of a preload must be printable ASCII, got ${inspect(value)}`)
  }
  return [`${name}=${/^[a-z-]+$/.test(value) ? value : JSON.stringify(value)}`]
}
