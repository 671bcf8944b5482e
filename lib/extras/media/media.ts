/** `image`, `video` and `audio`: tags that contain the names of further assets. */

import { posix } from 'node:path'
import { inspect } from 'node:util'
import { checked } from '../../runtime/check-options.ts'
import { encodeUrl, splitFingerprint } from '../../runtime/urls/spelling.ts'
import type { AssetName, OfName } from '../../runtime/views/asset-names.ts'
import type { ImageSize } from '../../runtime/urls/manifest.ts'
import {
  detailsOf,
  mediaType,
  withoutQuery,
  type MountChoice,
  type UrlOf
} from '../../runtime/views/asset-url.ts'
import {
  openTag,
  readAttributes,
  type Attributes,
  type AttributeValue
} from '../../runtime/views/html.ts'

/** Other sizes of an image are listed by name: `{ 'logo@2x.png': '2x' }`, `[['wide.jpg', '1200w']]`. */
export type Srcset =
  | Readonly<Record<string, string>>
  | readonly (readonly [name: AssetName<'image'>, size: string])[]

export interface ImageAttributes extends MountChoice {
  /** Lists assets with their sizes, or is the value of the attribute as text. */
  readonly srcset?: Srcset | string | false | null | undefined
  readonly [attribute: string]: AttributeValue | Srcset
}

/** `src` is the name of an asset or an absolute URL; the rest are attributes of the tag. */
export interface MediaSource extends Attributes {
  readonly src: AssetName
}

export interface MediaAttributes {
  /** Lists the same medium in several formats, instead of a name; `type` is derived from the extension. */
  readonly sources?: readonly (string | MediaSource)[] | undefined
  /** Names an image. */
  readonly poster?: AssetName<'image'> | null | undefined
  readonly [attribute: string]: AttributeValue | readonly (string | MediaSource)[]
}

/** A media helper takes either a name or `sources`. */
export interface MediaHelper extends OfName<'path', MediaAttributes> {
  (attributes: MediaAttributes): string
}

export function mediaHelpers(urlOf: UrlOf) {
  return {
    /**
     * Returns an `<img>`. `alt` defaults to the words of the file name, `width` and `height` to those of the file
     * where they are known, in proportion if one of them is given.
     *
     * @example
     * image('logo.png', { srcset: { 'logo@2x.png': '2x' } })
     * // <img src="/assets/logo.png" alt="Logo" width="64" height="64" srcset="/assets/logo@2x.png 2x">
     * @throws {TypeError} for a size in `srcset` that is not written like `2x` or `640w`
     */
    image: ((name: string, attributes: ImageAttributes = {}) => {
      const { mount, ...given } = attributes
      const { srcset } = given
      const from: UrlOf = each => urlOf(each, { mount })
      const isList = typeof srcset === 'object' && srcset !== null
      const written = isList ? { ...given, srcset: writeSrcset(from, srcset) } : given
      const asset = from(name)
      const { url: src } = asset
      const read = readAttributes(written)
      const size = sizeBeside(read, detailsOf(asset).imageSize)
      return openTag('img', { src, alt: altOf(name), ...size }, read, { src })
    }) as OfName<'image', ImageAttributes>,

    /**
     * Returns a `<video>` of one file, or of `sources`: the browser plays the first one it supports.
     *
     * @example
     * video('movie.mp4', { controls: true, poster: 'movie.png' })
     * // <video controls="controls" poster="/assets/movie.png" src="/assets/movie.mp4"></video>
     * @example
     * video({ sources: ['movie.webm', 'movie.mp4'] })
     * // <video>
     * // <source src="/assets/movie.webm" type="video/webm">
     * // <source src="/assets/movie.mp4" type="video/mp4">
     * // </video>
     * @throws {TypeError} with neither a name nor `sources`, and with both
     */
    video: mediaHelper('video', urlOf),

    /**
     * Returns an `<audio>`, and takes the same arguments as `video`.
     *
     * @example
     * audio('song.mp3', { controls: true })
     * // <audio controls="controls" src="/assets/song.mp3"></audio>
     * @throws {TypeError} with neither a name nor `sources`, and with both
     */
    audio: mediaHelper('audio', urlOf)
  } as const
}

/** Completes the size that the attributes leave open, unless the other side is not a number of pixels. */
function sizeBeside(given: Attributes, { width, height }: Partial<ImageSize> = {}) {
  const has = (side: string) => given[side] !== undefined
  if (!width || !height || (has('width') && has('height'))) return {}
  if (has('width')) return inProportion('height', given.width, height / width)
  return has('height') ? inProportion('width', given.height, width / height) : { width, height }
}

function inProportion(side: 'width' | 'height', other: AttributeValue, ratio: number): Attributes {
  const pixels = /^\d+(?:\.\d+)?$/.test(String(other)) ? Math.round(Number(other) * ratio) : 0
  return pixels > 0 ? { [side]: pixels } : {}
}

function mediaHelper(kind: 'audio' | 'video', urlOf: UrlOf): MediaHelper {
  return (first?: string | MediaAttributes, second: MediaAttributes = {}) => {
    const [name, options] =
      typeof first === 'string' ? [first, second] : [undefined, first ?? second]
    const { sources = [], ...attributes } = options
    checked(sources, { expected: 'a list', holds: Array.isArray }, 'sources')
    if ((name === undefined) === (sources.length === 0)) {
      throw new TypeError(`${kind}() needs either a name or { sources: [name, …] }`)
    }
    const given = readAttributes(attributes)
    const open = openTag(kind, given, {
      ...(typeof given.poster === 'string' && { poster: urlOf(given.poster).url }),
      src: name === undefined ? null : urlOf(name).url
    })
    const children = sources.map(source => sourceTag(urlOf, source))
    return children.length > 0 ? [open, ...children, `</${kind}>`].join('\n') : `${open}</${kind}>`
  }
}

function sourceTag(urlOf: UrlOf, source: string | MediaSource): string {
  const given = typeof source === 'string' ? { src: source } : source
  const [type, src] = [mediaType(given.src), urlOf(given.src).url]
  return openTag('source', { src: null, type }, readAttributes(given), { src })
}

function writeSrcset(urlOf: UrlOf, srcset: Srcset): string {
  const entries = Array.isArray(srcset) ? srcset : Object.entries(srcset)
  const candidates = entries.map(([name, size]) => {
    if (/^\d+w$|^\d+(?:\.\d+)?x$/.test(size)) return `${encodeUrl(urlOf(name).url)} ${size}`
    throw new TypeError(`a size in srcset is written like '2x' or '640w', got ${inspect(size)}`)
  })
  return candidates.join(', ')
}

const ORIGIN = /^(?:https?:)?\/\/[^/?#]*/i

/** `photos/my-cool_logo.png` -> `My Cool Logo`. */
function altOf(name: string): string {
  if (/^(?:data|blob):/i.test(name)) return ''
  const path = withoutQuery(name.replace(ORIGIN, ''))
  return posix
    .parse(splitFingerprint(path)?.name ?? path)
    .name.split(/(?:[-_\s]|%20)+/)
    .map(word => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(' ')
    .trim()
}
