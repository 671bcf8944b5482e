// Where the tags of a mount's entries come from: its build, or the dev server of Vite that stands in for it.
import type { AssetAddress, LoadedUrl } from '../../assets/views/asset-url.ts'
import { encodeAsImported } from '../../assets/urls/canonical-path.ts'

export interface EntrySource {
  readonly urlPath: string
  /** What messages call it: a manifest, or the dev server. */
  readonly label: string
  /** For developers: what the tags lead to, where it may be either a dev server or the last build. */
  readonly state: string | undefined
  /** What `entry` and `lazy` find; undefined where any script or stylesheet may be an entry. */
  readonly names: EntryNames | undefined
  /** The sources that have a file; undefined where any may have one. */
  readonly sourceNames?: readonly string[] | undefined
  /** Changes with the tags of any entry. */
  readonly version: string
  /** What a page loads, in document order; undefined for an unknown name. */
  entry(name: string): readonly LoadedUrl[] | undefined
  /** The same for a module that others import dynamically. */
  lazy(name: string): readonly LoadedUrl[] | undefined
  /** The entries that use what is neither, as far as is known. */
  entriesWith?(name: string): readonly string[]
  /**
   * Any of its files by the name of the source; undefined for an unknown name.
   * @param isChosen whether the page names the mount, so that an unverifiable name is taken for one of its files
   */
  file(name: string, isChosen: boolean): AssetAddress | undefined
}

interface EntryNames {
  has(name: string): boolean
  /** Those that are known before they are asked for. */
  keys(): Iterable<string>
}

/** The sources themselves, which a dev server compiles. */
export interface DevEntries extends EntrySource {
  readonly isRunning: boolean
  /** Of its own, http and ws, for a Content-Security-Policy. */
  readonly origins: readonly string[]
  /** Looks for it again; undefined where there is nothing to look for. */
  readonly refresh: (() => Promise<void>) | undefined
}

// The URL of a source that is compiled when a browser asks for it, where nothing has been built.

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
