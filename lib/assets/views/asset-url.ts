/** From the name that a view writes to the URL that a browser requests. */

import { inspect } from 'node:util'
import { mediaTypeOf } from '../../http/fields.ts'
import { optionError } from '../../check-options.ts'
import { encodePath, encodeUrl } from '../urls/canonical-path.ts'
import type { OfName } from './asset-names.ts'

/** Where an asset is published. */
export interface AssetAddress {
  /** URL path without host and base, percent-encoded: `/assets/app-<32 hex>.css`. */
  readonly path: string
  /** Subresource Integrity, one hash per algorithm: `['sha384-…']`. */
  readonly integrity?: readonly string[] | undefined
  /** In place of the host and the base: those of a dev server. */
  readonly origin?: string | undefined
  /** The URL path without a fingerprint, percent-encoded, where it is known what it imports: `/assets/app.js`. */
  readonly plainPath?: string | undefined
  /** The size of an image, or a function that reads it. */
  readonly imageSize?: ImageSize | (() => ImageSize | undefined) | undefined
}

/** In CSS pixels. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** What a script imports. Paths are plain URL paths, percent-encoded. */
export interface Imports {
  /** By literal specifiers, in its order; undefined for what is no script, and where it is not known. */
  readonly imports?: readonly string[] | undefined
  /** The same for `import()`; undefined for none. */
  readonly dynamicImports?: readonly string[] | undefined
  /**
   * Specifiers of it that only an import map resolves: bare ones that nothing is known of, plain URL paths of modules
   * that import each other; `*` for any, as in `import('./locales/' + name)`. Undefined as `imports` is.
   */
  readonly unresolved?: readonly string[] | undefined
}

/** A module; its importers write its plain path. */
export interface Module extends AssetAddress, Imports {
  readonly plainPath: string
  /** The bare specifiers that mean it, if it belongs to a package. */
  readonly specifiers?: readonly string[] | undefined
}

type Specifiers = Iterable<readonly [specifier: string, name: string]>

interface BareImports {
  readonly everywhere: Specifiers
  /** What it means instead to the modules below a URL path. */
  readonly scopes: Iterable<readonly [path: string, names: Specifiers]>
}

/** The assets of one app, as the view helpers need them. */
export interface AppAssets {
  /** The option `imports`: names or absolute URLs, by bare module specifier. */
  readonly imports: ReadonlyMap<string, string>
  /**
   * @param mount the URL path of the mount that has the name; undefined: own assets, then those of all mounts
   * @throws AssetError for a name that no manifest contains
   */
  resolve(name: string, mount?: string): AssetAddress
  /** Every file in the app's manifest; those that are not JavaScript are skipped. */
  modules(): Iterable<Module>
  /** Undefined for a plain URL path that is not in the manifest, or not known to import by bare specifiers. */
  moduleAt(plainPath: string): Module | undefined
  /** Without fingerprints: what bare specifiers mean that the option `imports` does not have. */
  bareImports?(): BareImports
  /** With fingerprints: the specifiers by which inline scripts of views import assets. */
  inViews?(): readonly string[]
  /** Changes whenever the URL of an asset may have changed. */
  version(): string
  /** Whether a name leads to the same as long as the version is the same. */
  readonly isLasting?: boolean
}

export interface AssetUrl extends Pick<AssetAddress, 'integrity' | 'imageSize'> {
  /** With host, query and fragment. */
  readonly url: string
}

/** A file that a page loads for a name, and how. */
export interface LoadedUrl extends AssetUrl {
  /**
   * Scripts: `classic` in order, before DOMContentLoaded; `blocking` at once, where the tag is; `nomodule` at once,
   * in browsers without modules; `preamble`: one that a script in the page imports.
   */
  readonly as:
    | 'stylesheet'
    | 'preamble'
    | 'module'
    | 'classic'
    | 'blocking'
    | 'nomodule'
    | 'modulepreload'
  /** Of a preamble: whether the page has it unless an option says otherwise. */
  readonly isNeeded?: boolean
}

/** Whose file is meant. */
export interface MountChoice {
  /** The URL path of the mount, as in the option `mounts`. Default: an own asset, then any mount's. */
  readonly mount?: string | undefined
}

export interface UrlOptions extends MountChoice {
  /** `.js`: appended to a name without a known extension. */
  readonly extension?: string
}

export type UrlOf = (name: string, options?: UrlOptions) => AssetUrl

/** What the helpers of an app are made of. */
export interface AppView {
  /** With the base; without a trailing slash, empty for none. */
  readonly host: string
  readonly assets: AppAssets
  readonly urlOf: UrlOf
  /** Makes a memory of what one helper wrote before. */
  readonly memory: <Kept>(max: number) => Memory<Kept>
  /** Told of what is remembered. */
  readonly weigh: Weigh
}

/** Helpers that are added to those of an app. */
export interface Helpers {
  /** Whether each page has its own: what a page already has decides what it gets. */
  readonly isPerPage: boolean
  /** Those of all pages, which may be accessors. */
  readonly shared: object
  /**
   * @returns those of a page
   * @param page the texts that it has already
   * @param isLive whether a developer sees it, who may use the live channel
   */
  of(view: AppView): (page: Set<string>, isLive: boolean) => object
}

/** @param bytes of what a page has of its modules: the import map, and the links to what they import */
export type Weigh = (part: 'map' | 'links', bytes: number) => void

// An allowlist, because `javascript:` also begins an absolute URL.
const ABSOLUTE_URL = /^(?:(?:https?:)?\/\/|data:|blob:)/i

// The same restrictions as for a request path: every URL that is emitted can be requested.
const FORBIDDEN_IN_NAME = /[\\:\p{Cc}\p{Cs}]/u
const FORBIDDEN_SEGMENTS = new Set(['', '.', '..'])

export function makeUrlOf(host: string, assets: AppAssets): UrlOf {
  return (given, { extension = '', mount } = {}) => {
    const name = assetName(given, extension)
    if (name === undefined) return { url: given }
    const { path, integrity, imageSize, origin = host } = assets.resolve(name, mount)
    const url = origin + path + encodeUrl(given.slice(withoutQuery(given).length))
    return { url, integrity, imageSize }
  }
}

/**
 * The name with its extension; undefined for an absolute URL.
 * @throws {TypeError} for a name that no asset can have
 */
export function assetName(given: string, extension: string): string | undefined {
  const name = withoutQuery(given)
  if (ABSOLUTE_URL.test(given)) return undefined
  const isForbidden = name.split('/').some(segment => FORBIDDEN_SEGMENTS.has(segment))
  if (!isForbidden && !FORBIDDEN_IN_NAME.test(name))
    return mediaType(name) ? name : name + extension
  throw new TypeError(
    "an asset's name is a path without prefix, such as 'app.css' or 'vendor/jquery.js': " +
      "no leading or trailing slash, no empty, '.' or '..' segment, no backslash, colon or control " +
      `character; got ${inspect(given)}`
  )
}

export function urlHelpers(urlOf: UrlOf, pathOf: UrlOf) {
  return {
    /**
     * The URL path, without host; not escaped for HTML. Also for a built file in a mount, by the name of its source.
     *
     * @example
     * path('application.js') // /assets/application.js
     * @example
     * path('src/hero.png') // /static/assets/hero-B1a2C3d4.png
     */
    path: ((name: string, options?: MountChoice) => pathOf(name, options).url) as OfName<
      'path',
      MountChoice
    >,

    /**
     * The URL, with `host` where that option is set; not escaped for HTML.
     *
     * @example
     * url('application.js') // https://cdn.example/assets/application.js
     */
    url: ((name: string, options?: MountChoice) => urlOf(name, options).url) as OfName<
      'path',
      MountChoice
    >
  } as const
}

/**
 * The address of an asset without a fingerprint.
 *
 * @param urlPrefix `/assets` or `/assets/admin`: encoded, without a trailing slash
 * @param name decoded: a `%` in it is part of the name
 */
export function plainAddress(urlPrefix: string, name: string): AssetAddress {
  return { path: `${urlPrefix}/${encodePath(name)}` }
}

/** Of what a helper wrote for a name alone, as most pages call it: a site names fewer in its templates. */
export const MAX_NAMES = 200
/** Of lists, which may be long: a page has few entries. */
export const MAX_LISTS = 20

/** By what was asked of a helper, as text. */
export type Memory<Kept> = (asked: string, make: (asked: string) => Kept) => Kept

/** @param version changes whenever the URL of an asset may have changed */
export function makeMemory<Kept>(version: () => string, max: number): Memory<Kept> {
  const known = new Map<string, Kept>()
  let knownFor: string | undefined
  return (asked, make) => {
    const now = version()
    if (now !== knownFor) known.clear()
    knownFor = now
    const kept = known.get(asked)
    if (kept !== undefined) return kept
    const made = make(asked)
    if (known.size >= max) known.clear()
    known.set(asked, made)
    return made
  }
}

/** The media type of a name's extension: `image/png`; undefined for an unknown one such as `.min`. */
export function mediaType(name: string): string | undefined {
  return mediaTypeOf(withoutQuery(name))
}

export function withoutQuery(name: string): string {
  return checkString(name).replace(/[?#].*$/s, '')
}

/** @throws {TypeError} for any other type: templates are not type-checked */
export function checkString(name: unknown): string {
  if (typeof name === 'string') return name
  throw optionError("an asset's name", 'a string', name)
}

/** @throws {TypeError} without a name, and for a name that is not a string */
export function splitArguments<Options extends object>(
  helper: string,
  args: readonly (string | Options | undefined)[]
): { names: readonly string[]; options: Options | undefined } {
  const last = args.at(-1)
  const [names, options] = typeof last === 'string' ? [args] : [args.slice(0, -1), last]
  if (names.length === 0) throw new TypeError(`${helper}() needs the name of an asset`)
  return { names: names.map(checkString), options }
}
