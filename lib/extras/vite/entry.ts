// The helper `entry`, which returns the tags of a bundler's entry point.
import { check, flag, oneOf, text, type Expectation } from '../../runtime/check-options.ts'
import type { AssetName, NamesThen, OfName } from '../../runtime/views/asset-names.ts'
import {
  checkString,
  MAX_NAMES,
  splitArguments,
  type AssetUrl,
  type Helpers,
  type LoadedUrl,
  type Memory
} from '../../runtime/views/asset-url.ts'
import { escapeInScript, withoutKeywords, writeAttribute } from '../../runtime/views/html.ts'
import { assetTag } from '../../runtime/views/tags.ts'
import { preambleFrom } from './entry-source.ts'

export interface EntryOptions {
  /** The URL path of the mount, as in the option `mounts`. Default: the only one that has the entry. */
  readonly mount?: string | undefined
  /** The nonce of every tag, for a Content-Security-Policy without `unsafe-inline`. */
  readonly nonce?: string | undefined
  /**
   * In development, writes the script that `@vitejs/plugin-react` requires before the entry, once in a page.
   * Needed only if the mount's `dev` is an origin or `true`; otherwise koaAssets knows. Default: `false` there.
   */
  readonly reactRefresh?: boolean | undefined
  /** The way to load scripts, `classic` with `defer`. Default: as the manifest says, `module` for esbuild. */
  readonly type?: 'module' | 'classic' | undefined
}

export type NamesThenEntryOptions = NamesThen<'entry', EntryOptions>

type EntryNames = readonly AssetName<'entry'>[]

type Spread = EntryNames | readonly [...names: EntryNames, options: EntryOptions | undefined]

/** The second signature is for `entry(...names, options)`, whose number of names TypeScript does not know. */
interface WriteEntry {
  (names: EntryNames, options?: EntryOptions): string
  <Args extends Spread>(...args: number extends Args['length'] ? Args : never): string
  (...args: NamesThenEntryOptions): string
}

type EntryArguments = readonly (EntryNames | EntryNames[number] | EntryOptions | undefined)[]

export interface EntryFiles {
  readonly scripts: readonly EntryScriptFile[]
  readonly stylesheets: readonly EntryFile[]
  /** The modules that the scripts import: `rel="modulepreload"`. */
  readonly preloads: readonly EntryFile[]
}

export interface EntryFile {
  readonly href: string
  /** The hashes of its bytes; undefined if the option `integrity` is off, and in development. */
  readonly integrity: string | undefined
  /** The CORS mode, set with `integrity`, which is not checked without it. */
  readonly crossorigin: 'anonymous' | undefined
}

export interface EntryScriptFile extends EntryFile {
  /** The attribute of the tag: `module` or `text/javascript`. */
  readonly type: string
  /** True if the script is only for browsers without modules. */
  readonly nomodule: boolean
}

const SCRIPTS = {
  module: { type: 'module' },
  classic: { type: 'text/javascript', defer: true },
  blocking: { type: 'text/javascript' },
  nomodule: { type: 'text/javascript', nomodule: true }
} as const

/** @throws AssetError for an unknown entry, TypeError for a mount that is unknown or must be named */
type FindEntry = (name: string, mount: string | undefined) => readonly LoadedUrl[]

const OPTIONS = {
  mount: text,
  nonce: text,
  reactRefresh: flag,
  type: oneOf('module', 'classic')
} satisfies Record<keyof EntryOptions, Expectation>

export interface EntryHelpers extends ReturnType<typeof entryHelpers> {
  /**
   * The http and ws origins of running Vite dev servers, for a Content-Security-Policy; none in production,
   * and none for a dev server on the application's own origin.
   * @example
   * devOrigins // ['http://localhost:5174', 'ws://localhost:5174']
   */
  readonly devOrigins: readonly string[]
}

export function helpersOf(find: FindEntry, devOrigins: () => readonly string[]): Helpers {
  return {
    // Each tag is written once in a page. Without a mount `entry` throws before it writes any.
    isPerPage: find !== findNone,
    shared: {
      get devOrigins() {
        return devOrigins()
      }
    },
    of({ memory }) {
      const known = memory<readonly Tag[]>(MAX_NAMES)
      return page => entryHelpers(find, known, page)
    }
  }
}

/** @param known the tags by name, or by name and options @param page contains the tags that it already has */
function entryHelpers(find: FindEntry, known: Memory<readonly Tag[]>, page: Set<string>) {
  const plainTags = (name: string) => tagsOf(find(name, undefined), {})
  const write: WriteEntry = (...args: EntryArguments): string => {
    const [only] = args
    if (args.length === 1 && typeof only === 'string')
      return newOn(page, known(only, plainTags)).join('\n')
    const { names, options = {} } = splitArguments<EntryOptions>('entry', args.flat())
    check(withoutKeywords(options), OPTIONS, 'entry.')
    const { mount, type, reactRefresh } = options
    const nonce = writeAttribute('nonce', options.nonce)
    const tags = names.flatMap(name => {
      const key = JSON.stringify([name, mount, type, reactRefresh])
      return known(key, () => tagsOf(find(name, mount), options))
    })
    // No attribute contains a `>` that is not escaped.
    const written = newOn(page, inOrder(tags)).map(html => html.replace('>', () => `${nonce}>`))
    return written.join('\n')
  }
  return {
    /**
     * Returns the tags of entries of a bundler's build, and of everything that they import statically: stylesheets,
     * scripts and `modulepreload` links, with `integrity`. No tag is written twice during a request. Names
     * are those of the manifest: the source for Vite and esbuild, the entrypoint for webpack and Rspack; several
     * are given as arguments or as a list.
     *
     * In development (the mount's `dev`) the tags lead to Vite's dev server, whose `base` must be the
     * mount's URL path.
     * @example
     * entry('src/main.tsx', { nonce, reactRefresh: true })
     * // <link href="/static/assets/main-CZTearZk.css" type="text/css" rel="stylesheet" …>
     * // <script src="/static/assets/main-Cwg7rssR.js" type="module" …></script>
     * // <link href="/static/assets/shared-DgfC_S5W.js" rel="modulepreload" …>
     * @example
     * // With @vitejs/plugin-legacy, at the end of <body>; writes nothing in development.
     * entry('src/main-legacy.tsx')
     * @throws {TypeError} without a name, for an invalid option, without a mount that has `manifest` or
     * `dev`, and for an entry that several mounts have
     * @throws {AssetError} for a name that is not an entry of the manifest
     */
    entry: write,

    /**
     * Returns the same as data, for code that writes tags itself: React's `bootstrapModules`, templates, tests.
     * @example
     * const { scripts, stylesheets } = entryFiles('src/main.tsx')
     * renderToPipeableStream(<App />, {
     *   bootstrapModules: scripts.map(({ href, integrity }) => ({ src: href, integrity }))
     * })
     * @throws like `entry`
     */
    entryFiles: ((name: string, options: Pick<EntryOptions, 'mount'> = {}) => {
      check(withoutKeywords(options), { mount: text }, 'entryFiles.')
      return filesOf(find(checkString(name), options.mount))
    }) as OfName<'entry', Pick<EntryOptions, 'mount'>, EntryFiles>
  } as const
}

export const findNone: FindEntry = () => {
  throw new TypeError(
    "entry() needs a mount with the option manifest, or dev in development: mounts: { '/static': { dir: 'dist', manifest: 'dist/.vite/manifest.json' } }"
  )
}

/** Links to stylesheets come before anything that waits for scripts. */
const ORDER = ['stylesheet', 'preamble', 'script', 'modulepreload'] as const

interface Tag {
  readonly rank: (typeof ORDER)[number]
  readonly url: string
  readonly html: string
}

const inOrder = (tags: readonly Tag[]) =>
  tags.toSorted((a, b) => ORDER.indexOf(a.rank) - ORDER.indexOf(b.rank))

/** Returns the tags that the page does not have, as HTML, and remembers them. */
function newOn(page: Set<string>, tags: readonly Tag[]): string[] {
  return tags.flatMap(({ rank, url, html }) => {
    // A script that is already in the page needs no preload.
    const isLoaded = rank === 'modulepreload' && page.has(`script ${url}`)
    const key = `${rank} ${url}`
    if (isLoaded || page.has(key)) return []
    page.add(key)
    return html
  })
}

function tagsOf(entry: readonly LoadedUrl[], { type, reactRefresh }: EntryOptions) {
  const tags = entry
    .filter(({ as }) => type !== 'classic' || as !== 'modulepreload')
    .filter(({ as, isNeeded }) => as !== 'preamble' || (reactRefresh ?? isNeeded))
    .map(each => tagOf(each, type))
  return inOrder(tags)
}

function tagOf({ as, ...asset }: LoadedUrl, type: EntryOptions['type']): Tag {
  const { url } = asset
  if (as === 'preamble') {
    const code = preambleFrom(escapeInScript(JSON.stringify(url)))
    return { rank: as, url, html: `<script type="module">${code}</script>` }
  }
  if (as === 'stylesheet' || as === 'modulepreload')
    return { rank: as, url, html: assetTag(as, asset) }
  // The entries of plugin-legacy are for some browsers, and others must not run them as well.
  const isForSome = as === 'blocking' || as === 'nomodule'
  const attributes = SCRIPTS[isForSome ? as : (type ?? as)]
  return { rank: 'script', url, html: assetTag('script', asset, attributes) }
}

function filesOf(entry: readonly LoadedUrl[]): EntryFiles {
  const filesAs = (wanted: LoadedUrl['as']) => entry.filter(({ as }) => as === wanted).map(fileOf)
  return {
    scripts: entry.flatMap(({ as, ...asset }) => {
      if (!Object.hasOwn(SCRIPTS, as)) return []
      const { type } = SCRIPTS[as as keyof typeof SCRIPTS]
      return [{ ...fileOf(asset), type, nomodule: as === 'nomodule' }]
    }),
    stylesheets: filesAs('stylesheet'),
    preloads: filesAs('modulepreload')
  }
}

function fileOf({ url, integrity = [] }: AssetUrl): EntryFile {
  const isGuarded = integrity.length > 0
  return {
    href: url,
    integrity: isGuarded ? integrity.join(' ') : undefined,
    crossorigin: isGuarded ? 'anonymous' : undefined
  }
}
