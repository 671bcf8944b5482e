/** The view helpers, which write the URLs of assets. They use neither Koa nor the disk. */

import { unknownName } from '../../check-options.ts'
import type { HelperExtras } from '../settings/extra-options.ts'
import type { AppName } from './asset-names.ts'
import {
  makeNameMemory,
  makePageMemory,
  makeUrlOf,
  urlHelpers,
  type AppAssets,
  type AppView,
  type Helpers
} from './asset-url.ts'
import { importMapHelpers, makeWeigh } from './modules.ts'
import { tagHelpers } from './tags.ts'

// The families are `as const` rather than Readonly<…>: editors do not show JSDoc through a mapped type.
/**
 * The helpers of one app. Each may be taken off the object: `const { javascript } = ctx.assets`.
 * The host is that of the option `host`, never that of the request.
 *
 * A name is a path without prefix, not encoded: `vendor/my film.mp4`. Its `?query` and `#fragment` are appended to
 * the URL; a file whose own name contains `?` or `#` cannot be referred to. An absolute URL (`https:`, `http:`,
 * `data:`, `blob:`) or one that starts with `//` is emitted unchanged, without integrity.
 *
 * Every helper throws a TypeError for a name that no asset can have (a leading or trailing slash,
 * `..`, a colon …) and for an attribute that HTML does not allow, and, with fingerprints, an
 * AssetError for a name that is not in the manifest.
 */
export interface ViewHelpers
  extends
    ReturnType<typeof urlHelpers>,
    ReturnType<typeof tagHelpers>,
    ReturnType<typeof importMapHelpers>,
    HelperExtras {
  /** A digest of everything that is published: it changes whenever the URLs in a page may. */
  readonly version: string
  /**
   * The helpers of another app.
   *
   * @example
   * app('admin').path('menu.css') // /assets/admin/menu.css
   * @throws {TypeError} for an app that does not exist
   */
  readonly app: (name: AppName) => ViewHelpers
}

/** What the helpers of a page depend on, beside its app. */
interface PageOptions {
  /** What is in it already, of which a tag is written once. */
  readonly page: Set<string>
  readonly isLive: boolean
}

type MakeHelpers = (options: PageOptions) => ViewHelpers

/** Of helpers that all pages share: none of them adds to it. */
const NO_PAGE = new Set<string>()

/** For which a helper remembers what it wrote: a site names fewer in its templates. */
const MAX_NAMES = 200

interface App {
  readonly name: string
  readonly path: string
}

export interface ViewHelperSettings<A extends App = App> {
  /** Scheme and host of a CDN, put before every emitted URL. */
  readonly host?: string | undefined
  /** Put before the path of every emitted URL. */
  readonly base?: string
  readonly apps: readonly A[]
  /** Told when the tags of a page are heavy. */
  readonly warn?: ((message: string) => void) | undefined
}

/**
 * The helpers of an app, made once, so a request only looks them up; made for each page where those of an extra
 * are.
 */
export function makeViewHelpers<A extends App>(
  settings: ViewHelperSettings<A>,
  assetsOf: (app: A) => AppAssets,
  added: readonly Helpers[] = []
): (app: string, isLive?: boolean) => ViewHelpers {
  const makers = new Map<string, MakeHelpers>()
  const [shared, sharedLive] = [new Map<string, ViewHelpers>(), new Map<string, ViewHelpers>()]
  // Where there is no app, one without a name stands in.
  const names = settings.apps.map(({ name }) => name).filter(Boolean)
  const pick = (given: unknown, options: PageOptions): ViewHelpers => {
    const app = String(given)
    const known = options.page === NO_PAGE && (options.isLive ? sharedLive : shared).get(app)
    const helpers = known || makers.get(app)?.(options)
    if (helpers) return helpers
    const advice = `the apps are: ${names.join(', ') || 'none'}`
    throw unknownName('app', app, names, { advice })
  }
  for (const app of settings.apps)
    makers.set(app.name, helpersFor(settings, assetsOf(app), added, pick))
  if (added.some(each => each.isPerPage))
    return (app, isLive = false) => pick(app, { page: new Set(), isLive })
  for (const [app, make] of makers) {
    shared.set(app, Object.freeze(make({ page: NO_PAGE, isLive: false })))
    sharedLive.set(app, Object.freeze(make({ page: NO_PAGE, isLive: true })))
  }
  return (app, isLive = false) =>
    (isLive ? sharedLive : shared).get(app) ?? pick(app, { page: NO_PAGE, isLive })
}

function helpersFor(
  { host: given = '', base = '', warn = () => undefined }: ViewHelperSettings,
  assets: AppAssets,
  added: readonly Helpers[],
  pick: (app: unknown, options: PageOptions) => ViewHelpers
): MakeHelpers {
  const host = given.replace(/\/+$/, '') + base
  const urlOf = makeUrlOf(host, assets)
  const version = () => assets.version()
  const view: AppView = {
    ...{ host, assets, urlOf },
    remembered: makePageMemory(version),
    weigh: makeWeigh(warn),
    byName: () => makeNameMemory(version, MAX_NAMES)
  }
  const helpers = {
    ...urlHelpers(urlOf, makeUrlOf(base, assets)),
    ...tagHelpers(view),
    ...importMapHelpers(view)
  }
  // Inherited: defining accessors on the helpers of each page would cost a microsecond per page.
  const versioned = {
    get version() {
      return assets.version()
    }
  }
  for (const { shared } of added)
    Object.defineProperties(versioned, Object.getOwnPropertyDescriptors(shared))
  const makers = added.map(each => ({ make: each.of(view), isPerPage: each.isPerPage }))
  const fixed = (isLive: boolean) => {
    const made = makers.filter(each => !each.isPerPage).map(({ make }) => make(NO_PAGE, isLive))
    return Object.assign({}, helpers, ...made) as object
  }
  const [shared, sharedLive] = [fixed(false), fixed(true)]
  const ofPage = makers.filter(each => each.isPerPage).map(({ make }) => make)
  return options =>
    Object.assign(
      Object.create(versioned) as typeof versioned & HelperExtras,
      options.isLive ? sharedLive : shared,
      ...ofPage.map(make => make(options.page, options.isLive)),
      { app: (name: string) => pick(name, options) }
    ) as ViewHelpers
}
