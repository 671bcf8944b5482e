// Makes the view helpers, which write the URLs of assets. They use neither Koa nor the disk.
import { unknownName } from '../check-options.ts'
import type { LiveHelpers } from '../../extras/live/tag.ts'
import type { MediaHelpers } from '../../extras/media/media.ts'
import type { PreloadHelpers } from '../../extras/routes/preload-links.ts'
import type { EntryHelpers } from '../../extras/vite/entry.ts'
import type { AppName } from './asset-names.ts'
import {
  makeMemory,
  makeUrlOf,
  urlHelpers,
  type AppAssets,
  type AppView,
  type Helpers
} from './asset-url.ts'
import { importMapHelpers } from './modules.ts'
import { tagHelpers } from './tags.ts'

interface HelperExtras extends EntryHelpers, LiveHelpers, MediaHelpers, PreloadHelpers {}

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
   * @example
   * app('admin').path('menu.css') // /assets/admin/menu.css
   * @throws {TypeError} for an app that does not exist
   */
  readonly app: (name: AppName) => ViewHelpers
}

interface PageOptions {
  /** The tags that the page already contains, each of which is written once. */
  readonly page: Set<string>
  readonly isLive: boolean
}

type MakeHelpers = (options: PageOptions) => ViewHelpers

/** The page of helpers that all pages share; no helper adds to it. */
const NO_PAGE = new Set<string>()

interface App {
  readonly name: string
}

export interface ViewHelperSettings<A extends App = App> {
  readonly host?: string | undefined
  readonly base?: string
  readonly apps: readonly A[]
}

/** Makes the helpers of each app once, so a request only looks them up; or for each page, if an extra needs that. */
export function makeViewHelpers<A extends App>(
  settings: ViewHelperSettings<A>,
  assetsOf: (app: A) => AppAssets,
  added: readonly Helpers[] = []
): (app: string, isLive?: boolean) => ViewHelpers {
  const makers = new Map<string, MakeHelpers>()
  // The app without a name stands in when there are no others.
  const names = settings.apps.map(({ name }) => name).filter(Boolean)
  const pick = (given: unknown, options: PageOptions): ViewHelpers => {
    const app = String(given)
    const helpers = makers.get(app)?.(options)
    if (helpers) return helpers
    throw unknownName('app', app, names, { advice: `the apps are: ${names.join(', ') || 'none'}` })
  }
  for (const app of settings.apps)
    makers.set(app.name, helpersFor(settings, assetsOf(app), added, pick))
  const isPerPage = added.some(each => each.isPerPage)
  return (app, isLive = false) => pick(app, { page: isPerPage ? new Set() : NO_PAGE, isLive })
}

function helpersFor(
  { host: given = '', base = '' }: ViewHelperSettings,
  assets: AppAssets,
  added: readonly Helpers[],
  pick: (app: unknown, options: PageOptions) => ViewHelpers
): MakeHelpers {
  const host = given.replace(/\/+$/, '') + base
  const urlOf = makeUrlOf(host, assets)
  const memory: AppView['memory'] = max => makeMemory(() => assets.version(), max)
  const view: AppView = { host, assets, urlOf, memory }
  const helpers = {
    ...urlHelpers(urlOf, makeUrlOf(base, assets)),
    ...tagHelpers(view),
    ...importMapHelpers(view)
  }
  // Accessors are inherited: defining them on the helpers of each page would cost a microsecond per page.
  const versioned = {
    get version() {
      return assets.version()
    }
  }
  for (const { shared = {} } of added)
    Object.defineProperties(versioned, Object.getOwnPropertyDescriptors(shared))
  const ofPage = added.filter(each => each.isPerPage).map(each => each.of(view))
  const ofApp = added.filter(each => !each.isPerPage).map(each => each.of(view))
  const fixed = (isLive: boolean) =>
    Object.assign({}, helpers, ...ofApp.map(make => make(NO_PAGE, isLive))) as object
  const [plain, live] = [fixed(false), fixed(true)]
  const make: MakeHelpers = options =>
    Object.assign(
      Object.create(versioned) as typeof versioned & HelperExtras,
      options.isLive ? live : plain,
      ...ofPage.map(each => each(options.page, options.isLive)),
      { app: (name: string) => pick(name, options) }
    ) as ViewHelpers
  if (ofPage.length > 0) return make
  const shared = Object.freeze(make({ page: NO_PAGE, isLive: false }))
  const sharedLive = Object.freeze(make({ page: NO_PAGE, isLive: true }))
  return ({ isLive }) => (isLive ? sharedLive : shared)
}
