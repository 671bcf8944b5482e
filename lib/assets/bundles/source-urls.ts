// Where the tags of a mount lead: a build, or Vite's dev server; and the sources, where they stand for a build.
import { encodeAsImported } from '../urls/encode.ts'
import type { AssetAddress } from '../views/asset-url.ts'
import type { EntryUrl } from '../views/entry.ts'

/** The entries of a mount. */
export interface EntrySource {
  readonly urlPath: string
  /** What messages call it: a manifest, or the dev server. */
  readonly label: string
  /** The entries; undefined where any script or stylesheet may be one. */
  readonly names: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'> | undefined
  /** The sources that have a file; undefined where any may have one. */
  readonly sourceNames: readonly string[] | undefined
  /** Changes with the tags of any entry. */
  readonly version: string
  /** What a page loads, in document order; undefined for an unknown name. */
  entry(name: string): readonly EntryUrl[] | undefined
  /**
   * Any of its files by the name of the source; undefined for an unknown name.
   * @param isChosen whether the page names the mount, so that an unverifiable name is taken for one of its files
   */
  file(name: string, isChosen: boolean): AssetAddress | undefined
}

/** What Vite takes for a stylesheet. A link to one gets CSS, and HMR replaces it. */
export const STYLESHEET = /\.(?:css|less|sass|scss|styl|stylus|pcss|postcss|sss)$/

/** Whether a tag can load a source of this name, compiled. */
export function isLoadable(name: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(name) || STYLESHEET.test(name)
}

/**
 * The source itself, as it is before a build.
 * @param origin without a trailing slash
 * @param urlPath decoded, without a trailing slash
 * @param name the path of a source below Vite's `root`; a tag cannot load an HTML file
 */
export function sourceUrl(origin: string, urlPath: string, name: string, query = ''): EntryUrl {
  if (/\.html?$/.test(name)) {
    throw new TypeError(
      `in development, entry() needs the script or stylesheet that the page loads, got '${name}'`
    )
  }
  const url = origin + encodeAsImported(`${urlPath}/${name}`) + query
  return { url, as: STYLESHEET.test(name) ? 'stylesheet' : 'module' }
}
