// What a page loads while Vite's dev server compiles the sources. Its `base` is the mount's URL path.
import { posix } from 'node:path'
import { encodeAsImported } from '../urls/encode.ts'
import type { Entry, EntryScript } from '../views/entry.ts'

/** What Vite takes for a stylesheet. A link to one gets CSS, and is swapped by HMR. */
const STYLESHEETS = new Set([
  '.css',
  '.less',
  '.sass',
  '.scss',
  '.styl',
  '.stylus',
  '.pcss',
  '.postcss',
  '.sss'
])
/** @vitejs/plugin-legacy only takes part in builds. */
const LEGACY = /-legacy(?=\.[^./]*$|$)/

export interface DevServer {
  /** Decoded, without a trailing slash. */
  readonly urlPath: string
  /** An origin, or the one of the page. */
  readonly dev: string | true
}

/** @param name the path of a source below Vite's `root`; an HTML file is none that a tag can load */
export function entryInDevelopment({ urlPath, dev }: DevServer, name: string): Entry {
  if (/\.html?$/.test(name)) {
    throw new TypeError(
      `in development, entry() needs the script or stylesheet that the page loads, got '${name}'`
    )
  }
  const urlOf = (path: string) => (dev === true ? '' : dev) + encodeAsImported(`${urlPath}/${path}`)
  const module = (path: string): EntryScript => ({ url: urlOf(path), kind: 'module' })
  const isStylesheet = STYLESHEETS.has(posix.extname(name))
  if (LEGACY.test(name)) return { stylesheets: [], scripts: [], preloads: [] }
  return {
    stylesheets: isStylesheet ? [{ url: urlOf(name) }] : [],
    scripts: [module('@vite/client'), ...(isStylesheet ? [] : [module(name)])],
    preloads: [],
    reactRefresh: urlOf('@react-refresh')
  }
}
