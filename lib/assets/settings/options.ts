// The options as a person writes them. Defaults and complaints are in settings.ts.
import type { IntegrityAlgorithm } from '../../files/checksums.ts'
import type { Compiler } from '../compilers/compiler.ts'

/** What may stand at the top, in an app, and in either's `configure`; the later wins, `sources` append. */
export interface LayeredOptions {
  /** Copy or preprocess a source when it is asked for. Default: true in `development` and `test`. */
  compile?: boolean | undefined
  /** Checksum names: helpers emit `app-<32 hex>.css`. Default: true in `production`. */
  fingerprint?: boolean | undefined
  /**
   * Extra source directories, searched after the app's own `assets`; relative ones start at the
   * app's directory. Error at start when one does not exist. Default: none.
   */
  sources?: string | readonly string[] | undefined
  /** Subresource Integrity. Default: `sha384` with `fingerprint`, else false. */
  integrity?: false | IntegrityAlgorithm | readonly IntegrityAlgorithm[] | undefined
  /** More preprocessors; one of these beats a built-in one of the same extension. */
  compilers?: readonly Compiler[] | undefined
  /** What to do when a referenced asset does not exist. Default: `warn`; `error` in precompile. */
  missing?: 'ignore' | 'warn' | 'error' | undefined
  /**
   * precompile makes stylesheets and scripts smaller with esbuild, and publishes a source map of each
   * at `<name>.map`; `*.min.*` stays as it is. Error in precompile when esbuild is not installed.
   * Default: false.
   */
  minify?: boolean | undefined
}

/** Options that hold in the environment of that name only. */
export type Configure = Readonly<Record<string, LayeredOptions | undefined>>

export interface AppOptions extends LayeredOptions {
  /** The app's directory, relative to `root`. Default: `apps/<name>`. */
  dir?: string | undefined
  /** Where the app is mounted; its assets live at `<prefix><path>`. Default: `/` for `web` or an only app, else `/<name>`. */
  path?: string | undefined
  configure?: Configure | undefined
}

export interface KoaAssetsOptions extends LayeredOptions {
  /** The project's root; relative paths start here. Error at start when it does not exist. Default: `process.cwd()`. */
  root?: string | undefined
  /** Names the environment. Default: `NODE_ENV`, else `development`. */
  env?: string | undefined
  /** Serve over HTTP; off, there are only the view helpers. Default: `SERVE_STATIC_ASSETS === 'true'`. */
  serve?: boolean | undefined
  /**
   * The public directory, created on demand. Everything in it is served: error at start when it is
   * `root`, holds a `package.json`, or holds or lies in a source directory. Default: `public`.
   */
  public?: string | undefined
  /** URL prefix, and folder under `public`. Default: `/assets`. */
  prefix?: string | undefined
  /** Scheme and host of a CDN, put before every emitted URL. Default: none. */
  host?: string | undefined
  /**
   * `ctx.preload` sends `103 Early Hints` as well. Switch it on when everything in front of this
   * process passes 103 on: nginx before 1.29 over `proxy_http_version 1.1` lets the page hang instead.
   * Default: false.
   */
  earlyHints?: boolean | undefined
  /**
   * Default: every `apps/<name>` that has an `assets` folder. Where there is none: with fingerprints
   * and without `compile` those of the manifest; else one app, `web`, whose directory is `root` where
   * that has an `assets` folder.
   */
  apps?: Readonly<Record<string, AppOptions | undefined>> | undefined
  /** Bound of the representations kept in memory, in bytes. Default: 64 MiB in all, files up to 1 MiB. */
  memory?: { maxBytes?: number | undefined; maxFileBytes?: number | undefined } | undefined
  /** Bound of the mtime index, in entries. Default: 10,000. */
  index?: { max?: number | undefined } | undefined
  /** Seconds for which a target's stat is trusted. Default: 0 while compiling, else 1. */
  revalidate?: number | undefined
  /** `inside`: a link may not leave its source or `public`. Default: `inside`. */
  symlinks?: 'inside' | 'follow' | 'deny' | undefined
  /**
   * An asset may be asked for under every tail of its path that no other has: `admin/menu.css` as
   * `menu.css`. `false`: under its name alone, so that a guard on `/assets/admin/` holds. Default: true.
   */
  tails?: boolean | undefined
  configure?: Configure | undefined
}
