// Writes the tags of images, films and sounds, and SVG files as elements of the page.
import { posix } from 'node:path'
import { inspect } from 'node:util'
import { checked } from '../../runtime/check-options.ts'
import { ENVIRONMENTS } from '../../runtime/settings/table.ts'
import { encodeUrl, splitFingerprint } from '../../runtime/urls/spelling.ts'
import type { AssetName, OfName } from '../../runtime/views/asset-names.ts'
import type { ImageSize, InlineSvg } from '../../runtime/urls/manifest.ts'
import {
  detailsOf,
  mediaType,
  withoutQuery,
  type Helpers,
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
  readonly poster?: AssetName<'image'> | null | undefined
  readonly [attribute: string]: AttributeValue | readonly (string | MediaSource)[]
}

export interface MediaHelper extends OfName<'path', MediaAttributes> {
  (attributes: MediaAttributes): string
}

function mediaHelpers(urlOf: UrlOf, why = notInlined, record?: (name: string) => void) {
  return {
    /**
     * Returns an `<img>`. `alt` defaults to the words of the file name, `width` and `height` to those of the file
     * if they are known, in proportion if one of them is given.
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
     * @example
     * audio('song.mp3', { controls: true })
     * // <audio controls="controls" src="/assets/song.mp3"></audio>
     * @throws {TypeError} with neither a name nor `sources`, and with both
     */
    audio: mediaHelper('audio', urlOf),

    /**
     * Returns the `<svg>` of a file that the option `inline` names, `icons/**` by default. Attributes replace those of
     * the file, except `class`, which is added.
     * @example
     * inline('icons/cart.svg', { class: 'icon', 'aria-hidden': 'true' })
     * // <svg viewBox="0 0 16 16" class="icon" aria-hidden="true"><path d="M0 0h16"></path></svg>
     * @throws {TypeError} for a file that the option `inline` does not name
     * @throws CompileError in development, for a file that a page may not contain
     */
    inline: ((name: string, attributes: Attributes = {}) => {
      const { svg } = detailsOf(urlOf(name))
      if (!svg) throw new TypeError(why(name))
      if (typeof svg === 'string') throw new TypeError(`${name}:${svg}`)
      const tag = openTag('svg', svg.attributes, merged(svg.attributes, readAttributes(attributes)))
      record?.(name)
      return `${tag}${svg.content}</svg>`
    }) as OfName<'image', Attributes>
  } as const
}

/** Returns the sides that the attributes lack, unless the given one is not a number of pixels. */
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
    if ((name === undefined) === (sources.length === 0))
      throw new TypeError(`${kind}() needs either a name or { sources: [name, …] }`)
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

export interface MediaHelpers extends ReturnType<typeof mediaHelpers> {}

export function helpersOf(icons?: WrittenIcons, env = 'development'): Helpers {
  return {
    of({ urlOf, host, assets }) {
      const isPlain = !assets.inViews && (env === 'production' || assets.isLasting)
      const why = isPlain ? withoutNames(env) : notInlined
      const helpers = mediaHelpers(urlOf, why, icons?.recorder(host, urlOf))
      return () => helpers
    }
  }
}

/** HTML compares the names of attributes case-insensitively, but SVG has some with capitals, such as viewBox. */
function merged(own: InlineSvg['attributes'], given: Attributes): Attributes {
  const spelled = new Map(Object.keys(own).map(name => [name.toLowerCase(), name]))
  const replaced = Object.entries(given).map(([name, value]) => {
    const isAdded = name === 'class' && own['class'] && typeof value === 'string'
    return [spelled.get(name) ?? name, isAdded ? `${own['class']} ${value}` : value] as const
  })
  return Object.fromEntries(replaced)
}

export const notInlined = (name: string) =>
  `inline() cannot write '${name}': it is not a source, or the option inline does not name it, which precompile also needs: inline: ['icons/**'] names .svg files that are not compiled; a third party's file needs its whole name`

const withoutNames = (env: string) => (name: string) =>
  `inline() cannot write '${name}' in the environment '${env}' without fingerprints: ${env === 'production' ? "remove 'fingerprint: false'" : SET}`
const SET = `set NODE_ENV, or the option env, to one of ${ENVIRONMENTS.join(', ')}, or set 'fingerprint: true'`

interface WrittenIcon {
  /** The URL path of its file, without the base. */
  readonly path: string
  /** Reads its file again. @throws AssetError for one that pages may not contain now */
  readonly read: () => InlineSvg | string | undefined
}

/** Records in development which icons pages contain: browsers do not request them, so nothing else shows it. */
export class WrittenIcons {
  readonly helpers = helpersOf(this)
  readonly #apps: Map<string, WrittenIcon>[] = []

  get all(): readonly WrittenIcon[] {
    return this.#apps.flatMap(icons => [...icons.values()])
  }

  recorder(host: string, urlOf: UrlOf) {
    const icons = new Map<string, WrittenIcon>()
    this.#apps.push(icons)
    return (given: string): void => {
      const name = withoutQuery(given)
      const path = urlOf(name).url.slice(host.length)
      icons.set(name, { path, read: () => detailsOf(urlOf(name)).svg })
    }
  }
}

/** Returns the icons in the pages of a process, from the running parts of its extras; none in production. */
export function iconsIn(running: readonly object[]): readonly WrittenIcon[] {
  return running.find(each => each instanceof WrittenIcons)?.all ?? []
}
