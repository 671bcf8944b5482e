/** The manual of the view helpers. */

import type { Attributes } from './html.ts'
import type { ImportMapOptions } from './import-map.ts'
import type { PreloadOptions } from './preload.ts'
import type { ImageAttributes, MediaAttributes } from './tags.ts'

type Names = readonly [name: string, ...names: string[]]
type NamesAndAttributes = readonly [...names: Names, attributes: Attributes | undefined]

/** One name or several, then attributes for all of them. */
export type NamesThenAttributes = Names | NamesAndAttributes

/**
 * The helpers of one app. Each may be taken off the object: `const { javascript } = ctx.assets`.
 * None reads a host from the request.
 *
 * A name is a path without prefix, not encoded: `vendor/my film.mp4`. Its `?query` and `#fragment`
 * are put back behind the URL; a file whose own name holds `?` or `#` cannot be asked for. An
 * absolute URL (`https:`, `http:`, `data:`, `blob:`) or one that starts with `//` is emitted as
 * given, without integrity.
 *
 * Every helper throws a TypeError for a name that no asset can have (a slash at either end, `..`,
 * a colon …) and for an attribute that HTML does not allow, and, with fingerprints, whatever the
 * pipeline throws for a name which is not in the manifest.
 */
export interface ViewHelpers {
  /**
   * A `<script>` for each name. `.js` is added to a name without a known extension.
   *
   * @example
   * javascript('application', { defer: true })
   * // <script src="/assets/application.js" type="text/javascript" defer="defer"></script>
   * @throws {TypeError} without a name
   */
  readonly javascript: (...names: NamesThenAttributes) => string
  /**
   * A stylesheet's `<link>` for each name. `.css` is added to a name without a known extension.
   *
   * @example
   * stylesheet('main', { media: 'print' })
   * // <link href="/assets/main.css" type="text/css" rel="stylesheet" media="print">
   * @throws {TypeError} without a name
   */
  readonly stylesheet: (...names: NamesThenAttributes) => string
  /**
   * `<img>`, with `alt` from the file's name unless it is given.
   *
   * @example
   * image('logo.png', { srcset: { 'logo@2x.png': '2x' } })
   * // <img src="/assets/logo.png" alt="Logo" srcset="/assets/logo@2x.png 2x">
   * @throws {TypeError} for a size in `srcset` that is neither `2x` nor `640w`
   */
  readonly image: (name: string, attributes?: ImageAttributes) => string
  /**
   * The icon's `<link>`; of `favicon.ico`, when no name is given.
   *
   * @example
   * favicon()
   * // <link href="/assets/favicon.ico" rel="shortcut icon" type="image/x-icon">
   */
  readonly favicon: (name?: string, attributes?: Attributes) => string
  /**
   * `<video>` of one file, or of `sources`, of which the browser plays the first that it can.
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
  readonly video: MediaHelper
  /**
   * `<audio>`, as `video`.
   *
   * @example
   * audio('song.mp3', { controls: true })
   * // <audio controls="controls" src="/assets/song.mp3"></audio>
   * @throws {TypeError} with neither a name nor `sources`, and with both
   */
  readonly audio: MediaHelper
  /**
   * The URL path, without host; not escaped for HTML.
   *
   * @example
   * path('application.js') // /assets/application.js
   */
  readonly path: (name: string) => string
  /**
   * The URL with `host`; without that setting, the path. Not escaped for HTML.
   *
   * @example
   * url('application.js') // https://cdn.example/assets/application.js
   */
  readonly url: (name: string) => string
  /**
   * The import map that leads plain module URLs to the published ones, with their integrity, in one
   * line. It stands before the first module. Without fingerprints there is nothing to lead.
   *
   * @example
   * importMap({ nonce: 'r4nd0m' })
   * // <script type="importmap" nonce="r4nd0m">{"imports":{
   * // "/assets/dial.js":"/assets/dial-<32 hex>.js"},"integrity":{…}}</script>
   */
  readonly importMap: (options?: ImportMapOptions) => string
  /**
   * A value for the `Link` header.
   *
   * @example
   * preload('fonts/inter.woff2')
   * // </assets/fonts/inter.woff2>; rel=preload; as=font; crossorigin
   * @throws {TypeError} when neither `as` nor the extension tells what the asset is for
   */
  readonly preload: (name: string, options?: PreloadOptions) => string
  /** One digest of everything that is published: changes whenever a page's URLs may. */
  readonly version: string
  /**
   * The helpers of another app.
   *
   * @example
   * app('admin').path('menu.css') // /assets/admin/menu.css
   * @throws {TypeError} for an app that is not there
   */
  readonly app: (name: string) => ViewHelpers
}

export interface MediaHelper {
  (name: string, attributes?: MediaAttributes): string
  (attributes: MediaAttributes): string
}
