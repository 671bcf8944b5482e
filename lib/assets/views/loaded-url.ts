// What a page loads for a name, and the URL of a source that is compiled when a browser asks for it, where nothing has
// been built.
import { encodeAsImported } from '../urls/canonical-path.ts'
import type { AssetUrl } from './asset-url.ts'

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

/** What dev servers take for a stylesheet. A link to one gets CSS, and an edit replaces it. */
export const STYLESHEET = /\.(?:css|less|sass|scss|styl|stylus|pcss|postcss|sss)$/

/** What they compile to a module, by themselves or with the plugins of frameworks. */
export const MODULE = /\.(?:[cm]?[jt]sx?|vue|svelte)$/

/** Whether a tag can load a source of this name, compiled. */
export function isLoadable(name: string): boolean {
  return MODULE.test(name) || STYLESHEET.test(name)
}

/**
 * @param origin without a trailing slash
 * @param urlPath decoded, without a trailing slash
 * @param name a path below the root of the sources; a tag cannot load an HTML file
 */
export function sourceUrl(origin: string, urlPath: string, name: string, query = ''): LoadedUrl {
  if (/\.html?$/.test(name)) {
    throw new TypeError(
      `in development, entry() needs the script or stylesheet that the page loads, got '${name}'`
    )
  }
  const url = origin + encodeAsImported(`${urlPath}/${name}`) + query
  return { url, as: STYLESHEET.test(name) ? 'stylesheet' : 'module' }
}
