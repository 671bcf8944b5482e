/** From what a view writes to the URL that the browser asks for. */

import { inspect } from 'node:util'
import { mediaTypeOf } from '../../http/media-type.ts'
import { encodePath, encodeUrl } from '../urls/encode.ts'

/** Where an asset is published. */
export interface AssetAddress {
  /** URL path, percent-encoded: `/assets/app-<32 hex>.css`. */
  readonly path: string
  /** Subresource Integrity, a hash per algorithm: `['sha384-…']`. */
  readonly integrity?: readonly string[] | undefined
}

/** A module: the URL path that its importers write, and where it is published. */
export type Module = readonly [plainPath: string, address: AssetAddress]

/** The assets of one app, as the view helpers need them. */
export interface AppAssets {
  /** @throws AssetError for a name that the manifest does not contain */
  resolve(name: string): AssetAddress
  /** The published files of the app; those that are not JavaScript are skipped. */
  modules(): Iterable<Module>
  /** Changes whenever the URL of an asset may have changed. */
  version(): string
}

export interface AssetUrl {
  readonly url: string
  readonly integrity?: readonly string[] | undefined
}

/** `extension` (`.js`) is added to a name that has none. */
export type Locate = (name: string, extension?: string) => AssetUrl

// A list, not any scheme: `javascript:` is an absolute URL, too.
const ELSEWHERE = /^(?:(?:https?:)?\/\/|data:|blob:)/i

// What a request path may not hold either, so that no name leads to a URL which is never answered.
const FORBIDDEN_IN_NAME = /[\\:\p{Cc}\p{Cs}]/u
const FORBIDDEN_SEGMENTS = new Set(['', '.', '..'])

export function locator(host: string, { resolve }: AppAssets): Locate {
  return (given, extension = '') => {
    const name = cutQuery(given)
    if (ELSEWHERE.test(given)) return { url: given }
    checkName(name, given)
    const { path, integrity } = resolve(withExtension(name, extension))
    return { url: host + path + encodeUrl(given.slice(name.length)), integrity }
  }
}

/**
 * The address of an asset that has no fingerprint.
 *
 * @param urlPrefix `/assets` or `/assets/admin`: encoded, without a slash at its end
 * @param name decoded: a `%` in it is taken for part of the name
 */
export function plainAddress(urlPrefix: string, name: string): AssetAddress {
  return { path: `${urlPrefix}/${encodePath(name)}` }
}

/** The media type that a name's extension stands for: `image/png`; undefined for `.min` and none. */
export function mediaType(name: string): string | undefined {
  return mediaTypeOf(cutQuery(name))
}

export function cutQuery(name: string): string {
  return readName(name).replace(/[?#].*$/s, '')
}

/** @throws {TypeError} for what is no text, as templates know no types */
export function readName(given: unknown): string {
  if (typeof given === 'string') return given
  throw new TypeError(`an asset's name must be a string, got ${inspect(given)}`)
}

function withExtension(name: string, extension: string): string {
  return mediaType(name) ? name : name + extension
}

function checkName(name: string, given: string): void {
  const segments = name.split('/')
  if (!FORBIDDEN_IN_NAME.test(name) && !segments.some(each => FORBIDDEN_SEGMENTS.has(each))) return
  throw new TypeError(
    "an asset's name is a path without prefix, as in 'app.css' or 'vendor/jquery.js': " +
      "no slash at either end, no empty, '.' or '..' segment, no backslash, colon or control " +
      `character; got ${inspect(given)}`
  )
}
