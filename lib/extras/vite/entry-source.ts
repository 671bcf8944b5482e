// The source of tags for a mount's entries: its build, or the Vite dev server that replaces it.
import type { LoadedUrl, Located } from '../../runtime/views/asset-url.ts'
import { encodeAsImported } from '../../runtime/urls/spelling.ts'

/** Finds the files that pages load from a mount, until it is built or edited again. */
export interface EntrySource {
  readonly urlPath: string
  /** The name in messages: a manifest, or the dev server. */
  readonly label: string
  /** Tells developers where tags lead, if it may be either a dev server or the last build. */
  readonly state?: string | undefined
  /** The names for `entry` that can be listed; undefined if any script or stylesheet may be one. */
  readonly names?: readonly string[] | undefined
  /** The sources that have a file; undefined if any may have one. */
  readonly sourceNames?: readonly string[]
  /** Finds an entry, whose `load` returns the files that a page loads, in document order. */
  entry(name: string): { kind: Kind; load(): readonly LoadedUrl[] } | undefined
  /**
   * Finds a file by the name of its source.
   * @param isChosen true if the page names the mount: then any name is accepted
   */
  file(name: string, isChosen: boolean): Located | undefined
}

/** The kinds, the surest first: an entry, a module that others import dynamically, and a name that may be either. */
export const KINDS = ['entry', 'lazy', 'possible'] as const
export type Kind = (typeof KINDS)[number]

/** The files that dev servers treat as stylesheets. */
export const STYLESHEET = /\.(?:css|less|sass|scss|styl|stylus|pcss|postcss|sss)$/

/** The files that dev servers compile to modules, by themselves or with the plugins of frameworks. */
export const MODULE = /\.(?:[cm]?[jt]sx?|vue|svelte)$/

/** @vitejs/plugin-legacy adds this to the names of entries, only in builds. */
export const LEGACY = /-legacy(?=\.[^./]*$|$)/

/** Returns the URL of a source that is compiled when a browser requests it. A tag cannot load an HTML file. */
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
