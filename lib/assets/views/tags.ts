/** The tags that show an asset. What a view gives as `src` or `href` never replaces the asset's. */

import { posix } from 'node:path'
import { inspect } from 'node:util'
import { cutQuery, type AssetUrl, mediaType, type Locate } from './asset-url.ts'
import {
  escapeHtml,
  openTag,
  readAttributes,
  type Attributes,
  type AttributeValue
} from './html.ts'
import { encodeUrl } from '../urls/encode.ts'

/** Other sizes of an image, by name: `{ 'logo@2x.png': '2x' }`, `[['wide.jpg', '1200w']]`. */
export type Srcset =
  Readonly<Record<string, string>> | readonly (readonly [name: string, size: string])[]

export interface ImageAttributes {
  /** Assets with their size, or the text of the attribute. */
  readonly srcset?: Srcset | string | false | null | undefined
  readonly [attribute: string]: AttributeValue | Srcset
}

/** `src` is the name of an asset or an absolute URL; the rest are attributes of the tag. */
export interface MediaSource extends Attributes {
  readonly src: string
}

export interface MediaAttributes {
  /** Several encodings, instead of a name; `type` comes from the extension. */
  readonly sources?: readonly (string | MediaSource)[] | undefined
  /** Subtitles, captions and chapters. */
  readonly tracks?: readonly MediaSource[] | undefined
  /** Text for browsers that cannot play it. */
  readonly content?: string | undefined
  /** Name of an image. */
  readonly poster?: string | null | undefined
  readonly [attribute: string]: AttributeValue | readonly (string | MediaSource)[]
}

const HOST = /^(?:https?:)?\/\/[^/?#]*/i
const FINGERPRINT = /-[0-9a-f]{32}$/
const SIZE = /^\d+w$|^\d+(?:\.\d+)?x$/

export function scriptTag({ url, integrity }: AssetUrl, given: Attributes): string {
  const builtIn = { src: url, type: 'text/javascript' }
  return `${openTag('script', builtIn, ...guarded(integrity, given), { src: url })}</script>`
}

export function stylesheetTag({ url, integrity }: AssetUrl, given: Attributes): string {
  const builtIn = { href: url, type: 'text/css', rel: 'stylesheet' }
  return openTag('link', builtIn, ...guarded(integrity, given), { href: url })
}

export function faviconTag({ url }: AssetUrl, given: Attributes): string {
  const builtIn = { href: url, rel: 'shortcut icon', type: 'image/x-icon' }
  return openTag('link', builtIn, given, { href: url })
}

export function imageTag(locate: Locate, name: string, options: ImageAttributes): string {
  const src = locate(name).url
  const given = readAttributes(withSrcset(locate, options))
  return openTag('img', { src, alt: altOf(name) }, given, { src })
}

/** @throws {TypeError} unless there is either a name or a list of sources */
export function mediaTag(
  kind: 'audio' | 'video',
  locate: Locate,
  name: string | undefined,
  options: MediaAttributes
): string {
  const { sources = [], tracks = [], content, ...attributes } = options
  checkList('sources', sources)
  checkList('tracks', tracks)
  if ((name === undefined) === (sources.length === 0)) {
    throw new TypeError(`${kind}() needs either a name or { sources: [name, …] }`)
  }
  const open = openTag(kind, withPoster(locate, readAttributes(attributes)), {
    src: name === undefined ? null : locate(name).url
  })
  const children = [
    ...sources.map(source => sourceTag(locate, source)),
    ...tracks.map(track => openTag('track', located(locate, track))),
    ...(content ? [escapeHtml(content)] : [])
  ]
  return children.length > 0 ? [open, ...children, `</${kind}>`].join('\n') : `${open}</${kind}>`
}

/** A CDN's file with `integrity` but without `crossorigin` is one that browsers refuse to load. */
function guarded(hashes: AssetUrl['integrity'], given: Attributes): readonly Attributes[] {
  // Written as integrity="integrity", `true` would be ignored by browsers, and guard nothing.
  const isOwn = given.integrity === undefined || given.integrity === true
  const integrity = isOwn ? hashes?.join(' ') || null : given.integrity
  return [{ integrity, crossorigin: integrity ? 'anonymous' : null }, given, { integrity }]
}

function checkList(option: string, given: unknown): void {
  if (!Array.isArray(given)) throw new TypeError(`${option} must be a list, got ${inspect(given)}`)
}

function withPoster(locate: Locate, given: Attributes): Attributes {
  const { poster } = given
  return typeof poster === 'string' ? { ...given, poster: locate(poster).url } : given
}

function sourceTag(locate: Locate, source: string | MediaSource): string {
  const given = typeof source === 'string' ? { src: source } : source
  return openTag('source', { src: null, type: mediaType(given.src) }, located(locate, given))
}

function located(locate: Locate, source: MediaSource): Attributes {
  return { ...readAttributes(source), src: locate(source.src).url }
}

function withSrcset(locate: Locate, options: ImageAttributes): ImageAttributes {
  const { srcset } = options
  const isList = typeof srcset === 'object' && srcset !== null
  return isList ? { ...options, srcset: writeSrcset(locate, srcset) } : options
}

function writeSrcset(locate: Locate, srcset: Srcset): string {
  const entries = Array.isArray(srcset) ? srcset : Object.entries(srcset)
  return entries
    .map(([name, size]) => `${encodeUrl(locate(name).url)} ${readSize(size)}`)
    .join(', ')
}

function readSize(size: string): string {
  if (SIZE.test(size)) return size
  throw new TypeError(`a size in srcset is written like '2x' or '640w', got ${inspect(size)}`)
}

/** `photos/my-cool_logo.png` -> `My Cool Logo`. */
function altOf(name: string): string {
  if (/^(?:data|blob):/i.test(name)) return ''
  return posix
    .parse(cutQuery(name.replace(HOST, '')))
    .name.replace(FINGERPRINT, '')
    .split(/(?:[-_\s]|%20)+/)
    .map(word => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(' ')
    .trim()
}
