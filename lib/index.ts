// Exports both middleware, and koaFiles. The entry of each half does not load the context types of the other.
import type { Middleware } from 'koa'
import { MOUNT } from './runtime/settings/table.ts'
import type { MountOptions } from './runtime/settings/options.ts'
import { check, checked, isText, record, text } from './runtime/check-options.ts'
import { koaAssets } from './koa-assets.ts'

export * from './koa-assets.ts'
export * from './koa-http-cache.ts'

export interface FilesOptions extends Omit<MountOptions, 'dir' | 'index'> {
  /** The URL path under which the directory is served. Default: `/`. */
  at?: string | undefined
  /** The directory to which the directory and `manifest` are relative. Default: the working directory. */
  root?: string | undefined
  /** The file for a folder, like the option `index` of a mount; `false` for none. Default: `index.html`. */
  index?: string | false | undefined
}

const FILES = {
  ...MOUNT,
  at: {
    expected: "a URL path such as '/static'",
    holds: (value: unknown) => isText(value) && value.startsWith('/')
  },
  root: text,
  index: { ...MOUNT.index, holds: (value: unknown) => value === false || MOUNT.index.holds(value) }
}

/**
 * Serves the files of one directory and nothing else, as koa-static does, and passes any other request on. Files have
 * validators, ranges and compressed copies, and dotfiles are left out, as in a mount of koaAssets. It serves files
 * regardless of `SERVE_STATIC_ASSETS`, has no apps, no `public` and no live channel, and leaves `ctx.assets` to a
 * koaAssets in front.
 * @param dir the directory, relative to `root`
 * @example
 * app.use(koaFiles('dist', { cacheControl: 'public, max-age=600', fallback: 'index.html' }))
 * @throws TypeError for an invalid option
 * @throws AssetError for a directory that may not be served, or a required manifest that is missing
 */
export function koaFiles(dir: string, options: FilesOptions = {}): Middleware {
  check({ ...checked(options, record, 'options'), dir }, FILES)
  const { at = '/', root, index = 'index.html', ...mount } = options
  return koaAssets({
    root,
    serve: true,
    apps: false,
    public: false,
    live: false,
    mounts: { [at]: { ...mount, dir, index: index || undefined } }
  })
}
