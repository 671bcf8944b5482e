// What cannot serve anything, said once at start: right perhaps, but more often a slip.
import { inspect } from 'node:util'
import { isDirectory, readDirectory } from '../../files/at-start.ts'
import { entriesGiven } from '../../options.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import { assetSources } from '../sources/third-party.ts'

// Only these have a default for `compile` and `fingerprint` that publishes something.
const KNOWN = new Set(['development', 'test', 'production'])

/** A sentence for each, with what to write. */
export function noticesAtStart(
  settings: Settings,
  options: KoaAssetsOptions = {},
  processEnv = process.env
): string[] {
  const notices = [
    noApp(settings, options),
    neitherMode(settings, options),
    notServing(settings, options, processEnv)
  ]
  return notices.filter(notice => notice !== undefined)
}

function noApp(settings: Settings, { apps }: KoaAssetsOptions): string | undefined {
  const { root, publicDir, serve } = settings
  const isNeeded = settings.apps.some(app => app.compile) && !settings.apps.some(hasSources)
  if (apps || !isNeeded || assetSources.list().length > 0) return undefined
  // Files that need no source are reason enough to be here.
  if (serve && readDirectory(publicDir).length > 0) return undefined
  return `no app was found: there is neither apps/<name>/assets nor assets in ${root}. Create apps/web/assets, or say with root or apps where the assets are`
}

function neitherMode({ env, apps }: Settings, options: KoaAssetsOptions): string | undefined {
  const idle = apps.filter(app => !app.compile && !app.fingerprint)
  const layers = [options, ...entriesGiven(options.apps).map(([, app]) => app)]
  const isNamed = layers.some(layer => Object.hasOwn(layer.configure ?? {}, env))
  if (KNOWN.has(env) || isNamed || idle.length === 0) return undefined
  const write = (layer: object) =>
    `configure: ${inspect({ [env]: layer }, { breakLength: Infinity })}`
  return `in the environment ${inspect(env)} neither compile nor fingerprint is on, so that no source is published (${idle.map(app => app.name).join(', ')}). Write ${write({ compile: true })}, or precompile and write ${write({ fingerprint: true })}`
}

function notServing(
  { env, serve, apps }: Settings,
  options: KoaAssetsOptions,
  { SERVE_STATIC_ASSETS: given }: NodeJS.ProcessEnv
): string | undefined {
  if (env !== 'development' || serve || options.serve === false || !apps.some(hasSources)) {
    return undefined
  }
  const reason = given ? `is ${inspect(given)}, not 'true'` : 'is not set'
  return `assets are not served, since SERVE_STATIC_ASSETS ${reason}. Set it to true or write serve: true; where a front web server serves them, write serve: false`
}

function hasSources({ sources }: AppSettings): boolean {
  return sources.some(isDirectory)
}
