// Declares the options of koaAssets as users write them. Each has a row in table.ts.
import type { Context } from 'koa'
import type { IntegrityAlgorithm } from '../files/digest.ts'
import type { Compiler } from './compiler.ts'
import type { LayeredExtras, MountExtras, ProjectExtras } from './extra-options.ts'

/** A source directory that is published under its own layout, or in part. */
export interface SourceOptions {
  /** The directory, relative to the app's directory; `assets` gives the app's own an `exclude`. */
  dir: string
  /**
   * The folder below the URL prefix, such as `icons`, under which the tree is published with its layout: names keep all
   * folders, and no tail finds them. `/`: the URL prefix itself. Default: none; names are as for any source directory.
   */
  at?: string | undefined
  /** Globs of paths below `dir`; one without a slash matches files in any folder: `*.svg`. Default: all files. */
  include?: string | readonly string[] | undefined
  /** Globs of files to leave out. A folder that matches one is not read at all. Default: none. */
  exclude?: string | readonly string[] | undefined
}

/**
 * Options that may be set at four levels, each of which overrides the one before: at the top, in its
 * `configure`, in an app, in the app's `configure`. Lists of sources are appended instead.
 */
export interface LayeredOptions extends LayeredExtras {
  /** Copy or compile a source when its asset is requested. Default: true in `development` and `test`. */
  compile?: boolean | undefined
  /** Emit and serve fingerprinted names, `app-<32 hex>.css`. Default: true in `production`. */
  fingerprint?: boolean | undefined
  /**
   * Additional source directories, searched after the app's own `assets`. Relative paths start at the
   * app's directory. Default: none.
   *
   * With `compile`, a directory that does not exist is an AssetError at start.
   * @example
   * ['../../packages/theme', { dir: '../../node_modules/bootstrap-icons/icons', at: 'icons', include: '*.svg' }]
   */
  sources?: string | SourceOptions | readonly (string | SourceOptions)[] | undefined
  /**
   * Algorithms of the `integrity` attribute (W3C Subresource Integrity): one, a list, or `false` for none.
   * Default: `false` in development and test without `fingerprint`, else `sha384`.
   */
  integrity?: false | IntegrityAlgorithm | readonly IntegrityAlgorithm[] | undefined
  /** Additional compilers. They replace built-in ones with the same extension. Default: none. */
  compilers?: readonly Compiler[] | undefined
  /**
   * Bare module specifiers, each with the name of an asset or an absolute URL. `importMap()` contains them in
   * every environment; with `fingerprint`, imports of them in modules are rewritten as well. Default: none.
   * @example
   * { confetti: 'vendor/confetti.js' }
   */
  imports?: Readonly<Record<string, string | undefined>> | undefined
  /**
   * JSON values of expressions in scripts and packages, in every environment; strings stand for themselves.
   * `process.env.NODE_ENV` and `MODE`, `DEV`, `PROD`, `SSR` and `BASE_URL` of `import.meta.env` are set. Default: none.
   * @example
   * { __VERSION__: '1.2.0', 'import.meta.env.VITE_API': process.env.VITE_API }
   */
  define?: Readonly<Record<string, unknown>> | undefined
  /**
   * The reaction to a reference to a missing asset, and to an import of a bare specifier that nothing maps. Default:
   * `error` in `development`, where the page shows it, and in precompile, which then publishes nothing; else `warn`.
   */
  missing?: 'ignore' | 'warn' | 'error' | undefined
  /**
   * The source maps of files that precompile joins and minifies. `hidden`: in `source-maps` below `root`, for error
   * trackers, neither served nor named by a file. `true`: published beside the files, with your sources, for
   * everybody. `false`: none. Default: `hidden`.
   */
  sourceMaps?: boolean | 'hidden' | undefined
}

/**
 * Options by the name of the environment in which they apply.
 * @example
 * { staging: { fingerprint: true } }
 */
export type Configure = Readonly<Record<string, LayeredOptions | undefined>>

/** The options of one app. */
export interface AppOptions extends LayeredOptions {
  /** The app's directory, relative to `root`. Default: `apps/<name>`. */
  dir?: string | undefined
  /**
   * The URL path where the app is mounted; its assets are at `<prefix><path>`. Two apps may not share one.
   * Default: `/` for `web` and for a single app, else `/<name>`.
   */
  path?: string | undefined
  /** Options that apply in one environment only, by its name. Default: none. */
  configure?: Configure | undefined
}

/** Options of the pages below `<prefix>/-/` in development. */
export interface LiveOptions {
  /**
   * Host names, without port, that are trusted like `localhost`, whatever address a request comes from: for
   * a server in a container, or a phone in the same network. Default: none.
   * @example
   * ['my-machine.local']
   */
  hosts?: readonly string[] | undefined
  /**
   * Directories, relative to `root`, of files from which pages are made, such as templates: an edit reloads the
   * pages that have `ctx.assets.live()`. Default: none.
   *
   * Where the live channel is on, a directory that does not exist is an AssetError at start.
   */
  watch?: readonly string[] | undefined
  /** The editor for links from an error to its place in the source. Default: none, so there are no links. */
  editor?: 'vscode' | 'vscode-insiders' | 'vscodium' | 'cursor' | 'windsurf' | 'zed' | undefined
  /** The terminal shows errors, rejections, `console.error` and refusals of the CSP in pages. Default: `true`. */
  console?: boolean | undefined
}

/** Response fields, by name. */
export type HeaderValues = Readonly<Record<string, string>>

/** A value that is the same for every file, or chosen by its decoded URL path, such as `/static/app.js`. */
export type ByPath<Value> = Value | ((path: string) => Value | undefined)

/**
 * Returns the page of a navigation, as HTML; undefined leaves the response unchanged. `ctx.assets` is available;
 * `ctx.fresh` is not, because koaHttpCache is further in.
 */
export type FallbackPage = (ctx: Context) => string | undefined | Promise<string | undefined>

/** A directory that another tool fills, served under a URL path. */
export interface MountOptions extends MountExtras {
  /**
   * The directory, relative to `root`. Everything in it is served except dotfiles and the manifest. It may be a link
   * that is switched to another directory inside `root` while the server runs.
   *
   * An AssetError at start if there is a `manifest` and it does not exist (unless `dev` is in force), if it is
   * or contains `root`, is all of `node_modules`, contains a `package.json` (unless it belongs to a package in
   * `node_modules`) or a source directory, or is inside a source directory.
   */
  dir: string
  /**
   * The files that never change at their URL, and are sent as `public, max-age=31536000, immutable` (RFC 8246): all,
   * those whose decoded URL path matches, or none. Default: those that the manifest names and whose URL contains a
   * hash. `true` and the default leave out pages, service workers (`sw.js`) and web app manifests (`.webmanifest`);
   * a RegExp or a function decides alone.
   */
  immutable?: RegExp | ByPath<boolean> | undefined
  /**
   * The value of Cache-Control for files that are not immutable. The page of `fallback` is always `no-cache`, unless
   * this contains `no-store`. Default: that of a plain file in `public`. Any other result of a function is a TypeError,
   * and the response a 500.
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
   * The page of a single-page application: a file, relative to `dir`, or a function that returns its HTML. It is the
   * response to a navigation that would otherwise end in a 404, unless the path has the extension of a file that is no
   * page, or `except` matches it: a RegExp, or a function of the decoded URL path. Default: none.
   * @example
   * { file: 'index.html', except: /^\/api\// }
   */
  fallback?: string | FallbackPage | FallbackOptions | undefined
  /**
   * Globs of paths below `dir`, files or whole folders, that are not served; one without a slash matches in any folder:
   * `*.md`. As in .gitignore, `/drafts` is in `dir` itself, and `drafts/` is any folder of that name. Default: none.
   */
  exclude?: string | readonly string[] | undefined
  /**
   * Seconds for which a stat result, including "not found", is reused. Default: 0, so an overwritten file is
   * sent at once; with a `manifest`, the value of `koaAssets`.
   */
  revalidate?: number | undefined
  /** Like the option `symlinks` of `koaAssets`, whose value is the default. */
  symlinks?: 'inside' | 'follow' | 'deny' | undefined
}

export interface FallbackOptions {
  readonly file: string | FallbackPage
  /** Paths that remain a 404. Default: none. */
  readonly except?: RegExp | ((path: string) => boolean) | undefined
}

/** The options of `koaAssets`. `undefined` means "not set" everywhere. */
export interface KoaAssetsOptions extends LayeredOptions, ProjectExtras {
  /**
   * The project's root directory, at which relative paths start. Default: `process.cwd()`.
   *
   * A directory that does not exist is an AssetError at start.
   */
  root?: string | undefined
  /** The name of the environment. Default: `NODE_ENV`, else `development`; in precompile `production`. */
  env?: string | undefined
  /**
   * Serve `public` over HTTP. `false`: only provide the view helpers. Default:
   * true if the environment variable `SERVE_STATIC_ASSETS` is `true`, else false.
   */
  serve?: boolean | undefined
  /**
   * The public directory, relative to `root`, created on demand. `false`, with `apps: false`: none, so only the
   * mounts are served. Default: `public`. Everything in it is served. It is therefore an AssetError at start if it
   * is or contains `root`, contains a `package.json` or a source directory, or is inside a source directory.
   */
  public?: string | false | undefined
  /** The URL prefix of assets, which is also their folder in `public`. Default: `/assets`. */
  prefix?: string | undefined
  /** Scheme and host of a CDN, `https://cdn.example`, prepended to every emitted URL. Default: none. */
  host?: string | undefined
  /**
   * The URL path that a proxy in front removes, percent-encoded: every emitted URL begins with it, after
   * `host`, and requests arrive without it. Default: none.
   * @example '/shop'
   */
  base?: string | undefined
  /**
   * The apps, by name. `false`: the project has no assets of its own, whatever its folders are called. Default:
   * every `apps/<name>` that has an `assets` folder. Without any, those of the manifest in production; else the app
   * `web`, whose directory is `root` if that has an `assets` folder.
   */
  apps?: false | Readonly<Record<string, AppOptions | undefined>> | undefined
  /**
   * Other directories to serve, by URL path: a directory relative to `root`, or the options of a mount. The
   * longest matching URL path comes first; a file that a mount lacks is looked up in those with shorter paths,
   * then in `public`. A mount of `public` leaves paths under `prefix` to the apps. Default: none.
   * @example
   * { '/static': 'build/app', '/docs': { dir: 'docs/html', index: 'index.html' } }
   */
  mounts?: Readonly<Record<string, string | MountOptions | undefined>> | undefined
  /**
   * Additional response fields for `public` and the mounts: an object, or a function of the file's decoded URL path.
   * They replace the defaults, `Content-Type` included, and fields set by earlier middleware, except for
   * `Cache-Control` and its targeted forms, on which a guard may rely, and `Set-Cookie`. Default: none.
   * Content-Length and other fields that are computed, and invalid ones, are a TypeError: at start, or when a function
   * returns them, with a 500.
   * @example path => (path.endsWith('.pdf') ? { 'X-Robots-Tag': 'noindex' } : undefined)
   */
  headers?: ByPath<HeaderValues> | undefined
  /**
   * Limits for the representations kept in memory, in bytes: `maxBytes` for all together, `maxFileBytes` for one
   * file. Default: 64 MiB and 1 MiB.
   */
  memory?: { maxBytes?: number | undefined; maxFileBytes?: number | undefined } | undefined
  /** The number of assets published on request that are remembered with their stat results. Default: 10,000. */
  index?: { max?: number | undefined } | undefined
  /**
   * Seconds for which a stat result, including "not found", is reused. A mount without a manifest has its own. In
   * development a page checks the manifests of mounts in any case. Default: 0 with `compile`, else 1.
   */
  revalidate?: number | undefined
  /**
   * Symbolic links: `inside` allows those that stay in their source directory, `public` or mount, `follow`
   * allows all, `deny` none. Default: `inside`.
   */
  symlinks?: 'inside' | 'follow' | 'deny' | undefined
  /**
   * An asset may be requested by every unambiguous tail of its path: `admin/menu.css` as `menu.css`.
   * `false`: by its full name only, so a guard on `/assets/admin/` holds. Default: `true`.
   */
  tails?: boolean | undefined
  /**
   * The live channel, `ctx.assets.live()`, and pages for developers under `<prefix>/-/`, only in the environment
   * `development`, with `serve`. They respond only to requests that no proxy forwarded, from a loopback address to
   * a loopback host name (`localhost`, `127.0.0.1`, `[::1]`), or to one of `hosts`. Default: `true`.
   */
  live?: boolean | LiveOptions | undefined
  /** Options that apply in one environment only, by its name. Default: none. */
  configure?: Configure | undefined
}
