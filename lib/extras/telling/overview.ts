// Prints an overview when a server starts in development, with the first facts that a newcomer needs.
import { setImmediate } from 'node:timers/promises'
import type { Project, Running } from '../../runtime/app/extra.ts'
import { assetSources } from '../../runtime/settings/third-party.ts'
import { printable } from '../../runtime/errors.ts'
import { isDirectory } from '../../runtime/files/at-start.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'
import { bundlesIn } from '../vite/bundles.ts'
import { namesOf } from '../modules/options.ts'

const printed = new Set<string>()

/** Prints it once the application is set up, as packages may add sources; not in specs, whose output it would flood. */
export async function printOverview(
  { settings, running = [] }: { readonly settings: Project; readonly running?: readonly Running[] },
  processEnv = process.env,
  print: (text: string) => void = console.warn
): Promise<void> {
  const isSpec = processEnv.NODE_ENV === 'test' || processEnv.NODE_TEST_CONTEXT !== undefined
  const { live, env } = settings.options
  if (settings.env !== 'development' || live === false || isSpec) return
  const source = env === undefined && !processEnv.NODE_ENV ? ', as NODE_ENV is not set' : ''
  await setImmediate()
  const block = overview(settings, `development${source}`, await bundlesIn(running)?.states())
  if (!printed.has(block)) print(block)
  printed.add(block)
}

export function overview(settings: Project, env: string, states?: ReadonlyMap<string, string>) {
  const { root, apps, mounts, serve, servesPublic, live, base, prefix, extras } = settings
  const where = base === '' ? 'on this server' : `behind the proxy that removes ${base}`
  const shown = (path: string) => printable(pathFrom(root, path) || '.')
  const ofApps = apps.map(app => {
    const own = [...app.sources.map(({ dir }) => dir), ...assetSources.list()]
    const packages = [...namesOf(app)].join(', ')
    const more = packages === '' ? [] : [`npm: ${packages}`]
    const from = [...own.filter(isDirectory).map(shown), ...more].join(', ')
    return { path: app.urlPrefix, from: from || 'no source directory exists' }
  })
  const ofMounts = mounts.map(({ urlPath, dir, isServed }) => {
    const state = states?.get(urlPath)
    if (!isServed) return { path: urlPath, from: state ?? 'another server' }
    const from = isDirectory(dir) ? shown(dir) : `${shown(dir)}, which does not exist yet`
    return { path: urlPath, from: state === undefined ? from : `${from}; ${state}` }
  })
  const places = [...ofApps, ...ofMounts]
  const paths = places.map(({ path }) => `${printable(path)}/…`)
  const width = Math.max(...paths.map(path => path.length))
  const publicDir = shown(settings.publicDir)
  const others = places.length > 0 ? 'nothing else' : 'no files by itself'
  const rest = servesPublic ? `everything in ${publicDir}` : others
  const task = servesPublic ? `serve ${publicDir}` : 'do so'
  const isInspected = live && extras.some(({ name }) => name === 'inspector')
  const hasFiles = places.length > 0 || servesPublic
  return [
    `koa-fresh-assets: ${env}, in ${printable(root)}`,
    ...places.map(({ from }, at) => `  ${paths[at]?.padEnd(width)}  ${from}`),
    serve
      ? `  This process serves ${places.length > 0 ? 'them, and ' : ''}${rest}.`
      : `  This process does not serve them (serve is off): a front web server must ${task}.`,
    ...(isInspected && hasFiles
      ? [`  To inspect them, open ${base}${encodePath(prefix)}/-/ ${where}.`]
      : [])
  ].join('\n')
}
