// Declares the options of a mount as users write them, with the check of each one.
import { types } from 'node:util'
import type { Context } from 'koa'
import {
  globs,
  isRecord,
  isText,
  listOf,
  oneOf,
  seconds,
  text,
  type Expectation
} from '../check-options.ts'
import { isDirectives } from '../http/cache-control.ts'
import { MOUNT_EXTRAS, type MountExtras } from './extra-options.ts'

/** Response fields, by name. */
export type HeaderValues = Readonly<Record<string, string>>

/** A value that is the same for every file, or chosen by its decoded URL path, such as `/static/app.js`. */
export type ByPath<Value> = Value | ((path: string) => Value | undefined)

/**
 * Returns the page of a navigation, as HTML; undefined leaves the response as it is. `ctx.assets` is available;
 * `ctx.fresh` is not, because koaHttpCache is further in.
 */
export type FallbackPage = (ctx: Context) => string | undefined | Promise<string | undefined>

/** A directory that something else filled, served under a URL path. */
export interface MountOptions extends MountExtras {
  /**
   * The directory, relative to `root`. Everything in it is served except dotfiles and the manifest.
   * If it is a link, the link may be switched while the server runs, to another directory inside `root` that
   * could be a mount as well; nothing is served from any other, unless `symlinks` is `follow`.
   *
   * An AssetError at start if there is a `manifest` and it does not exist (unless `dev` is in force), if it is
   * or contains `root`, is all of `node_modules`, contains a `package.json` (unless it belongs to a package in
   * `node_modules`) or a source directory, or is inside a source directory.
   */
  dir: string
  /**
   * The files that never change at their URL, and are sent as `public, max-age=31536000, immutable` (RFC 8246): all,
   * those whose decoded URL path matches, or none. Default: those that the manifest names and whose URL contains a
   * hash. `true` and the default leave out pages, service workers (`sw.js`) and web app manifests (`.webmanifest`),
   * which browsers request again at the same URL; a RegExp or a function decides alone.
   */
  immutable?: RegExp | ByPath<boolean> | undefined
  /**
   * The value of Cache-Control for files that are not immutable. The page of `fallback` is always `no-cache`, unless
   * this contains `no-store`. Default: that of a plain file in `public`. A function that returns anything but such a
   * value or undefined is a TypeError, and the response a 500.
   */
  cacheControl?: ByPath<string> | undefined
  /**
   * Additional response fields, like the option `headers` of `koaAssets`, over which they take precedence. An object
   * gives the file of `fallback` no lifetime. Default: none.
   */
  headers?: ByPath<HeaderValues> | undefined
  /**
   * The file that is the response to the URL of a directory: with `index.html`, `/docs/` gets
   * `docs/index.html`, and `/docs` a 301 to `/docs/`. Default: none.
   */
  index?: string | undefined
  /**
   * Extensions that a URL may lack, in the order in which they are tried: with `['html']`, `/about` gets
   * `about.html`, unless there is a file `about`. `/about.html` gets it as well. Default: none.
   */
  extensions?: readonly string[] | undefined
  /**
   * The page of a single-page application: a file, relative to `dir`, or a function that returns its HTML.
   * It is the response to a navigation that would otherwise end in a 404: GET or HEAD that a browser sends to
   * open a page; from a client without `Sec-Fetch-Dest` with an `Accept` that names `text/html`, or accepts any
   * type, as curl does, for a path whose last segment has no dot, or has an `@`. A path with the extension of a script,
   * stylesheet, source map, image, font, media, archive or data file remains a 404, and so do those that
   * `except` names: a RegExp, or a function of the decoded URL path. Default: none.
   *
   * @example
   * { file: 'index.html', except: /^\/api\// }
   * @example
   * async ctx => `<!doctype html><title>Shop</title>${ctx.assets.entry('src/main.tsx')}<div id="root"></div>`
   */
  fallback?: string | FallbackPage | FallbackOptions | undefined
  /**
   * Globs of paths below `dir` that are not served, files and whole folders; one without a slash matches in any
   * folder: `*.md`. As in .gitignore, `/drafts` is in `dir` itself, and `drafts/` is any folder of that name. Default:
   * none.
   */
  exclude?: string | readonly string[] | undefined
  /**
   * Seconds for which a stat result, including "not found", is reused. Default: 0, so a file that was
   * overwritten is sent at once; with a `manifest` the value of `koaAssets`.
   */
  revalidate?: number | undefined
  /** Like the option `symlinks` of `koaAssets`. Default: the value of that. */
  symlinks?: 'inside' | 'follow' | 'deny' | undefined
}

export interface FallbackOptions {
  readonly file: string | FallbackPage
  /** Paths that remain a 404. Default: none. */
  readonly except?: RegExp | ((path: string) => boolean) | undefined
}

const byPath = (holds: (value: unknown) => boolean) => (value: unknown) =>
  typeof value === 'function' || holds(value)

/** Tells whether a value is a path below a directory, without dotfiles. */
function isPathBelow(value: unknown): boolean {
  return isText(value) && value.split('/').every(segment => /^[^.\\:][^\\:]*$/.test(segment))
}

export const headers: Expectation = {
  expected: "an object such as { 'X-Robots-Tag': 'noindex' }, or a function of the path",
  holds: byPath(isRecord)
}

const page = {
  expected: "a path such as 'index.html' or a function",
  holds: byPath(isPathBelow)
}

/** An extension is accepted with or without its dot, but without an inner one. */
export function isExtension(value: unknown): boolean {
  return isText(value) && /^\.?[^./\\]+$/.test(value)
}

const FALLBACK = {
  file: { ...page, isRequired: true },
  except: {
    expected: 'a RegExp or a function of the path',
    holds: byPath(value => types.isRegExp(value))
  }
} satisfies Record<string, Expectation>

export const MOUNT = {
  dir: { ...text, isRequired: true },
  ...MOUNT_EXTRAS,
  immutable: {
    expected: 'true, false, a RegExp or a function of the path',
    holds: byPath(value => typeof value === 'boolean' || types.isRegExp(value))
  },
  cacheControl: {
    expected: "directives, such as 'public, max-age=3600', or a function of the path",
    holds: byPath(isDirectives)
  },
  headers,
  index: {
    expected: "a file name such as 'index.html'",
    holds: value => isPathBelow(value) && !String(value).includes('/')
  },
  extensions: listOf("a list of extensions, such as ['html']", isExtension),
  exclude: globs,
  fallback: {
    expected: `${page.expected}, or { file, except }`,
    holds: value => isRecord(value) || page.holds(value),
    fields: FALLBACK
  },
  revalidate: seconds,
  symlinks: oneOf('inside', 'follow', 'deny')
} satisfies Record<keyof MountOptions, Expectation>

const COPIES = 'compressed copies are sent wherever they are beside a file'
const LIFETIME = "write cacheControl: 'public, max-age=<seconds>'"

/** Options of koa-static, koa-static-cache and sirv, each with its counterpart here. */
export const ELSEWHERE = {
  maxage: LIFETIME,
  maxAge: LIFETIME,
  hidden: 'dotfiles are never served',
  defer: 'register this middleware behind the router',
  format: "with index, '/docs' is a redirect to '/docs/'",
  gzip: COPIES,
  br: COPIES,
  brotli: COPIES,
  single: "write fallback: 'index.html'"
}
