/** What views call to write the URLs of assets. Knows neither Koa nor the disk. */

import { inspect } from 'node:util'
import { nearest } from '../../nearest.ts'
import { locator, readName, type AppAssets, type Locate } from './asset-url.ts'
import { readAttributes, type Attributes } from './html.ts'
import { importMap } from './import-map.ts'
import { preload } from './preload.ts'
import {
  faviconTag,
  imageTag,
  mediaTag,
  scriptTag,
  stylesheetTag,
  type MediaAttributes
} from './tags.ts'
import type { MediaHelper, NamesThenAttributes, ViewHelpers } from './view-helpers-api.ts'

export { plainAddress, type AppAssets, type AssetAddress, type Module } from './asset-url.ts'
export type { Attributes, AttributeValue } from './html.ts'
export type { ImportMapOptions } from './import-map.ts'
export type { PreloadDestination, PreloadOptions } from './preload.ts'
export type { ImageAttributes, MediaAttributes, MediaSource, Srcset } from './tags.ts'
export type { MediaHelper, NamesThenAttributes, ViewHelpers } from './view-helpers-api.ts'

interface App {
  readonly name: string
  readonly path: string
}

export interface ViewHelperSettings<A extends App = App> {
  /** Scheme and host of a CDN, put before every emitted URL. */
  readonly host?: string | undefined
  readonly apps: readonly A[]
}

/** The helpers of each app are made once, so a request only looks them up. */
export function makeViewHelpers<A extends App>(
  settings: ViewHelperSettings<A>,
  assetsOf: (app: A) => AppAssets
): (app: string) => ViewHelpers {
  const host = settings.host?.replace(/\/+$/, '') ?? ''
  const byApp = new Map<string, ViewHelpers>()
  const pick = (app: string): ViewHelpers => byApp.get(app) ?? throwUnknownApp(app, settings.apps)
  for (const app of settings.apps) byApp.set(app.name, helpersOf(host, assetsOf(app), pick))
  return pick
}

function helpersOf(host: string, assets: AppAssets, pick: ViewHelpers['app']): ViewHelpers {
  const locate = locator(host, assets)
  const locatePath = locator('', assets)

  return Object.freeze<ViewHelpers>({
    javascript: (...args) =>
      eachName('javascript', args, (name, given) => scriptTag(locate(name, '.js'), given)),
    stylesheet: (...args) =>
      eachName('stylesheet', args, (name, given) => stylesheetTag(locate(name, '.css'), given)),
    image: (name, attributes = {}) => imageTag(locate, name, attributes),
    favicon: (name = 'favicon.ico', attributes = {}) =>
      faviconTag(locate(name), readAttributes(attributes)),
    video: mediaHelper('video', locate),
    audio: mediaHelper('audio', locate),
    path: name => locatePath(name).url,
    url: name => locate(name).url,
    importMap: (options = {}) => importMap(host, assets.modules(), locate, options),
    preload: (name, options = {}) => preload(locate, name, options),
    get version() {
      return assets.version()
    },
    app: pick
  })
}

function mediaHelper(kind: 'audio' | 'video', locate: Locate): MediaHelper {
  return (first?: string | MediaAttributes, attributes: MediaAttributes = {}) =>
    typeof first === 'string'
      ? mediaTag(kind, locate, first, attributes)
      : mediaTag(kind, locate, undefined, first ?? attributes)
}

function eachName(
  helper: string,
  args: NamesThenAttributes,
  write: (name: string, given: Attributes) => string
): string {
  const last = args.at(-1)
  const [names, given] = typeof last === 'string' ? [args, {}] : [args.slice(0, -1), last ?? {}]
  if (names.length === 0) throw new TypeError(`${helper}() needs the name of an asset`)
  const attributes = readAttributes(given)
  return names.map(name => write(readName(name), attributes)).join('\n')
}

function throwUnknownApp(app: unknown, apps: readonly App[]): never {
  const near = nearest(String(app), new Set(apps.map(({ name }) => name)))
  const hint = near === undefined ? '' : `; did you mean ${inspect(near)}?`
  const known = apps.map(({ name, path }) => `${name} (${path})`).join(', ') || 'none'
  throw new TypeError(`there is no app ${inspect(app)} among ${known}${hint}`)
}
