// What is logged when a server starts: warnings about settings under which nothing is served, possibly intended,
// more often a mistake; and in development an overview of what a newcomer wants to know first.
import { join, relative } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import { isDirectory, readDirectory, statIfThere } from '../../files/at-start.ts'
import { entriesGiven } from '../../check-options.ts'
import { printable } from '../../printable.ts'
import type { Running } from '../parts.ts'
import { hasSources } from '../settings/app-settings.ts'
import { ENVIRONMENTS } from '../settings/option-table.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import type { Site } from '../parts.ts'
import type { Settings } from '../settings/settings.ts'
import { assetSources } from '../sources/third-party.ts'

/** One message for each problem, with its remedy. */
export function noticesAtStart(
  settings: Settings,
  options: KoaAssetsOptions = {},
  processEnv = process.env
): string[] {
  return [
    noApp(settings, options),
    neitherMode(settings, options),
    notServing(settings, options, processEnv),
    ...missingInMounts(settings)
  ].filter(message => message !== undefined)
}

function noApp(settings: Settings, { apps }: KoaAssetsOptions): string | undefined {
  const { root, publicDir, serve, mounts } = settings
  const isNeeded = settings.apps.some(app => app.compile) && !settings.apps.some(hasSources)
  if (apps || !isNeeded || assetSources.list().length > 0) return undefined
  // Serving files that need no source is a valid use.
  if (mounts.length > 0 || (serve && readDirectory(publicDir).length > 0)) return undefined
  return `no app was found: ${root} contains neither apps/<name>/assets nor assets. Create apps/web/assets, or set the option root or apps`
}

function neitherMode({ env, apps }: Settings, options: KoaAssetsOptions): string | undefined {
  const idle = apps.filter(app => !app.compile && !app.fingerprint)
  const layers = [options, ...entriesGiven(options.apps || {}).map(([, app]) => app)]
  const isNamed = layers.some(layer => Object.hasOwn(layer.configure ?? {}, env))
  // Only these have defaults for `compile` and `fingerprint` that publish something.
  if (ENVIRONMENTS.includes(env) || isNamed || idle.length === 0) return undefined
  const configure = (layer: object) =>
    `configure: ${inspect({ [env]: layer }, { breakLength: Infinity })}`
  const names = idle.map(app => app.name).join(', ')
  return `neither compile nor fingerprint is on in the environment ${inspect(env)}, so no source is published (apps: ${names}). Set ${configure({ compile: true })}, or precompile and set ${configure({ fingerprint: true })}`
}

/** In development also for a variable with another value; elsewhere precompile publishes the sources. */
function notServing(
  { env, serve, apps, mounts }: Settings,
  options: KoaAssetsOptions,
  { SERVE_STATIC_ASSETS: given }: NodeJS.ProcessEnv
): string | undefined {
  const isDevelopment = env === 'development'
  if (serve || options.serve === false || (given && !isDevelopment)) return undefined
  const what = [
    ...(isDevelopment && apps.some(hasSources) ? ['assets'] : []),
    ...(mounts.some(({ isServed }) => isServed) ? ['mounts'] : [])
  ]
  if (what.length === 0) return undefined
  const reason = given ? `is ${inspect(given)}, not 'true'` : 'is not set'
  return `${what.join(' and ')} are not served, because SERVE_STATIC_ASSETS ${reason}. Set it to 'true' or set serve: true; if a front web server serves them, set serve: false`
}

function missingInMounts({ root, serve, mounts }: Settings): (string | undefined)[] {
  const served = mounts.filter(({ isServed }) => serve && isServed)
  return served.map(({ urlPath, dir, fallback, manifest }) => {
    if (!isDirectory(dir)) {
      // Before the first build a page says what is missing, and in production it is an error.
      if (manifest !== undefined) return undefined
      return `the directory ${relative(root, dir)} of the mount ${urlPath || '/'} does not exist: its files are a 404 until it does`
    }
    if (fallback === undefined || statIfThere(join(dir, fallback))?.isFile()) return undefined
    const file = relative(root, join(dir, fallback))
    return `the mount ${urlPath || '/'} has the fallback ${fallback}, but there is no file ${file}: until it is built, navigations end in a 404`
  })
}

async function statesOf(running: readonly Running[]): Promise<MountStates> {
  const states = await Promise.all(running.flatMap(each => each.states?.() ?? []))
  return new Map(states.flatMap(of => [...of]))
}

const printed = new Set<string>()

/** What extras say of mounts, by URL path. */
type MountStates = ReadonlyMap<string, string>

interface Printing {
  readonly running?: readonly Running[]
  readonly processEnv?: NodeJS.ProcessEnv
  readonly print?: (text: string) => void
}

/**
 * Prints the overview once the application has been set up, so it names what packages added since. Not in specs,
 * whose output it would flood, and not for a second identical one.
 */
export async function printOverview(
  settings: Site,
  { live, env }: KoaAssetsOptions,
  { running = [], processEnv = process.env, print = console.warn }: Printing = {}
): Promise<void> {
  const isSpec = processEnv.NODE_ENV === 'test' || processEnv.NODE_TEST_CONTEXT !== undefined
  if (settings.env !== 'development' || live === false || isSpec) return
  const source = env === undefined && !processEnv.NODE_ENV ? ', as NODE_ENV is not set' : ''
  await setImmediate()
  const block = overview(settings, `development${source}`, await statesOf(running))
  if (printed.has(block)) return
  printed.add(block)
  print(block)
}

/** @param environment its name, and where it comes from */
export function overview(
  settings: Site,
  environment: string,
  states: MountStates = new Map()
): string {
  const { root, apps, mounts, serve, servesPublic, extras } = settings
  const shown = (path: string) => printable(relative(root, path) || '.')
  const places: [path: string, from: string][] = [
    ...apps.map((app): [string, string] => {
      const { urlPrefix, sources } = app
      const own = [...sources.map(({ dir }) => dir), ...assetSources.list()]
      const more = extras.map(extra => extra.origin?.(app)).filter(each => each !== undefined)
      const from = [...own.filter(isDirectory).map(shown), ...more].join(', ')
      return [urlPrefix, from || 'no source directory exists']
    }),
    ...mounts.map(({ urlPath, dir, isServed }): [string, string] => {
      const from = isDirectory(dir) ? shown(dir) : `${shown(dir)}, which does not exist yet`
      const state = states.get(urlPath)
      if (!isServed) return [urlPath, state ?? 'another server']
      return [urlPath, state === undefined ? from : `${from}; ${state}`]
    })
  ]
  const paths = places.map(([path]) => `${printable(path)}/…`)
  const width = Math.max(...paths.map(path => path.length))
  const publicDir = shown(settings.publicDir)
  const rest = servesPublic ? `everything in ${publicDir}` : 'nothing else'
  const task = servesPublic ? `serve ${publicDir}` : 'do so'
  return [
    `koa-fresh-assets: ${environment}, in ${printable(root)}`,
    ...places.map(([, from], at) => `  ${paths[at]?.padEnd(width)}  ${from}`),
    serve
      ? `  This process serves ${places.length > 0 ? 'them, and ' : ''}${rest}.`
      : `  This process does not serve them (serve is off): a front web server must ${task}.`,
    ...extras.flatMap(extra => extra.hint?.(settings) ?? []).map(hint => `  ${hint}`)
  ].join('\n')
}
