// What a page loads where sources stand for the files of a build: in development, and in tests.
import { encodeAsImported } from '../urls/encode.ts'
import type { EntryUrls } from '../views/entry.ts'

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
export function sourceUrls(origin: string, urlPath: string, name: string, query = ''): EntryUrls {
  if (/\.html?$/.test(name)) {
    throw new TypeError(
      `in development, entry() needs the script or stylesheet that the page loads, got '${name}'`
    )
  }
  const url = origin + encodeAsImported(`${urlPath}/${name}`) + query
  return STYLESHEET.test(name)
    ? { stylesheets: [{ url }], scripts: [], preloads: [] }
    : { stylesheets: [], scripts: [{ url, kind: 'module' }], preloads: [] }
}
