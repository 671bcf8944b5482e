// The tags of a mount's entries come from its build, or from the dev server of Vite that stands in for it.
import type { LoadedUrl, Located } from '../../runtime/views/asset-url.ts'
import { encodeAsImported } from '../../runtime/urls/spelling.ts'

/** Finds what pages load from a mount, until it is built or edited again. */
export interface EntrySource {
  readonly urlPath: string
  /** Messages call it so: a manifest, or the dev server. */
  readonly label: string
  /** Tells developers what the tags lead to, where it may be either a dev server or the last build. */
  readonly state?: string | undefined
  /** The names for `entry` that can be listed; undefined where any script or stylesheet may be one. */
  readonly names?: readonly string[] | undefined
  /** The sources that have a file; undefined where any may have one. */
  readonly sourceNames?: readonly string[]
  /** Its `load` returns what a page loads, in document order. */
  entry(name: string): { kind: Kind; load(): readonly LoadedUrl[] } | undefined
  /**
   * Finds a file by the name of its source.
   * @param isChosen is true for a page that names the mount: any name is taken
   */
  file(name: string, isChosen: boolean): Located | undefined
}

/** The surest comes first: an entry, a module that others import dynamically, and what may be either. */
export const KINDS = ['entry', 'lazy', 'possible'] as const
export type Kind = (typeof KINDS)[number]

/** Dev servers take these for stylesheets. */
export const STYLESHEET = /\.(?:css|less|sass|scss|styl|stylus|pcss|postcss|sss)$/

/** Dev servers compile these to modules, by themselves or with the plugins of frameworks. */
export const MODULE = /\.(?:[cm]?[jt]sx?|vue|svelte)$/

/** @vitejs/plugin-legacy adds this to the names of entries, and only takes part in builds. */
export const LEGACY = /-legacy(?=\.[^./]*$|$)/

/** Returns the URL of a source that is compiled when a browser asks for it. A tag cannot load an HTML file. */
export function sourceUrl(origin: string, urlPath: string, name: string, query = ''): LoadedUrl {
  if (/\.html?$/.test(name))
    throw new TypeError(
      `in development, entry() needs the script or stylesheet that the page loads, got '${name}'`
    )
  const url = origin + encodeAsImported(`${urlPath}/${name}`) + query
  return { url, as: STYLESHEET.test(name) ? 'stylesheet' : 'module' }
}

/** The code that modules compiled by @vitejs/plugin-react expect to have run (its README, "Middleware mode"). */
export const preambleFrom = (url: string) => `import { injectIntoGlobalHook } from ${url};\
injectIntoGlobalHook(window);window.$RefreshReg$ = () => {};window.$RefreshSig$ = () => type => type`
