// Turns the name that a view writes into the URL that a browser requests.
import { inspect } from 'node:util'
import { mediaTypeOf } from '../http/fields.ts'
import { optionError } from '../check-options.ts'
import type { Asset, Details } from '../urls/manifest.ts'
import { encodePath, encodeUrl } from '../urls/spelling.ts'
import type { OfName } from './asset-names.ts'

/** The data of a file for its tags: an asset of the manifest, or what is known of a file that is in none. */
export interface Located extends Omit<Partial<Asset>, 'integrity'> {
  /** The path in the manifest, or for a file that is in none, the one that pages contain. */
  readonly path: string
  /** The URL path that pages contain, without host and base. */
  readonly target: string
  readonly integrity?: readonly string[] | undefined
  /** The origin of a dev server, which replaces the host and the base. */
  readonly origin?: string | undefined
  /** Reads the details; undefined if they are known, or there are none. */
  readonly readDetails?: (() => Details) | undefined
}

export interface AppAssets {
  /** The option `imports`: names or absolute URLs, by bare module specifier. */
  readonly imports: ReadonlyMap<string, string>
  /** @throws AssetError for an unknown name. @param mount its URL path; undefined: the app's assets, then all mounts */
  resolve(name: string, mount?: string): Located
  modules(): Iterable<Located>
  /** Returns the module of a plain URL path; undefined if it is not in the manifest, or its imports are not known. */
  moduleAt(path: string): Located | undefined
  /** Returns the bare specifiers besides `imports` that an import map without fingerprints needs. */
  bareImports?(): Iterable<readonly [specifier: string, name: string]>
  /** Returns the specifiers by which inline scripts of views import assets, where there are fingerprints. */
  inViews?(): readonly string[]
  /** Returns a text that changes whenever the URL of an asset may have changed. */
  version(): string
  /** True if a name leads to the same URL as long as the version is the same. */
  readonly isLasting?: boolean
}

export interface AssetUrl extends Pick<Located, 'integrity' | 'readDetails' | keyof Details> {
  /** The URL with host, query and fragment. */
  readonly url: string
}

/** A file that a page loads for a name, and the way to load it. */
export interface LoadedUrl extends AssetUrl {
  /**
   * The kind of tag. For scripts: `classic` in order, before DOMContentLoaded; `blocking` at once, where the tag is;
   * `nomodule` at once, in browsers without modules; `preamble`: a script in the page imports it.
   */
  readonly as:
    | 'stylesheet'
    | 'preamble'
    | 'module'
    | 'classic'
    | 'blocking'
    | 'nomodule'
    | 'modulepreload'
  /** False for a preamble that the page has only if an option asks for it. */
  readonly isNeeded?: boolean
}

export interface MountChoice {
  /** The URL path of the mount, as in the option `mounts`. Default: an asset of the app, then any mount's. */
  readonly mount?: string | undefined
}

/** Takes the extension that is appended to a name without a known one, such as `.js`. */
export type UrlOf = (name: string, options?: MountChoice & { extension?: string }) => AssetUrl

export interface AppView {
  /** The host with the base, without a trailing slash; empty for none. */
  readonly host: string
  readonly assets: AppAssets
  readonly urlOf: UrlOf
  readonly memory: <Result>(max: number) => Memory<Result>
}

export interface MountAssets {
  /** Returns undefined for an unknown source. @throws TypeError when several mounts have it */
  file(name: string, mount: string | undefined): Located | undefined
  hasEntry(name: string, mount: string | undefined): boolean
  /** @throws AssetError for an unknown name; TypeError like `file` */
  entry(name: string, mount: string | undefined): readonly LoadedUrl[]
  /** Returns the places that are searched, as messages name them. */
  labelsAt(mount: string | undefined): string
}

export interface Helpers {
  /** True if each page has its own helpers: their results depend on what the page already contains. */
  readonly isPerPage?: boolean
  /** The helpers that all pages share; they may be accessors. */
  readonly shared?: object
  /** @param page the tags that it already contains @param isLive whether a developer sees it, with the live channel */
  of(view: AppView): (page: Set<string>, isLive: boolean) => object
}

// This is an allowlist, because `javascript:` also begins an absolute URL.
const ABSOLUTE_URL = /^(?:(?:https?:)?\/\/|data:|blob:)/i

// A request path has the same restrictions, so every URL that is emitted can be requested.
const FORBIDDEN_IN_NAME = /[\\:\p{Cc}\p{Cs}]/u
const FORBIDDEN_SEGMENTS = new Set(['', '.', '..'])

export function makeUrlOf(host: string, assets: AppAssets): UrlOf {
  return (given, { extension = '', mount } = {}) => {
    const name = assetName(given, extension)
    if (name === undefined) return { url: given }
    const found = assets.resolve(name, mount)
    const { target, integrity, imageSize, svg, readDetails, origin = host } = found
    const url = origin + target + encodeUrl(given.slice(withoutQuery(given).length))
    return { url, integrity, imageSize, svg, readDetails }
  }
}

export const detailsOf = (asset: AssetUrl): Details => asset.readDetails?.() ?? asset

/** Returns undefined for an absolute URL. @throws {TypeError} for a name that no asset can have */
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

interface PathHelper extends OfName<'path', MountChoice> {}

export function urlHelpers(urlOf: UrlOf, pathOf: UrlOf) {
  return {
    /**
     * Returns the URL path, without host; it is not escaped for HTML. A built file in a mount is found by the name
     * of its source.
     * @example path('application.js') // /assets/application.js
     * @example path('src/hero.png') // /static/assets/hero-B1a2C3d4.png
     */
    path: ((name: string, options?: MountChoice) => pathOf(name, options).url) as PathHelper,

    /**
     * Returns the URL, with `host` if that option is set; it is not escaped for HTML.
     * @example url('application.js') // https://cdn.example/assets/application.js
     */
    url: ((name: string, options?: MountChoice) => urlOf(name, options).url) as PathHelper
  } as const
}

/** @param urlPrefix encoded, without a trailing slash @param name decoded: a `%` in it is part of the name */
export function plainAddress(urlPrefix: string, name: string): Located {
  const path = `${urlPrefix}/${encodePath(name)}`
  return { path, target: path }
}

/** The number of results remembered for single names without options: templates contain fewer. */
export const MAX_NAMES = 200
/** The number of results remembered for lists, which may be long: a page has few entries. */
export const MAX_LISTS = 20

/** Returns the remembered result for a helper's arguments, written as text, or makes it. */
export type Memory<Result> = (asked: string, make: (asked: string) => Result) => Result

export function makeMemory<Result>(version: () => string, max: number): Memory<Result> {
  const known = new Map<string, Result>()
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

export const mediaType = (name: string): string | undefined => mediaTypeOf(withoutQuery(name))

export const withoutQuery = (name: string): string => checkString(name).replace(/[?#].*$/s, '')

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
