// What is logged when a server starts in development: what a newcomer wants to know first.
import { relative } from 'node:path'
import { isDirectory } from '../../files/at-start.ts'
import { printable } from '../../printable.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import type { Settings } from '../settings/settings.ts'
import { assetSources } from '../sources/third-party.ts'
import { encodePath } from '../urls/encode.ts'

const printed = new Set<string>()

/**
 * Prints the block once the application has been set up, so it names what packages added since. Not in specs,
 * whose output it would flood, and not for a second identical block.
 */
export function printOverview(
  settings: Settings,
  { live, env }: KoaAssetsOptions = {},
  processEnv = process.env,
  print: (text: string) => void = console.warn
): void {
  const isSpec = processEnv.NODE_ENV === 'test' || processEnv.NODE_TEST_CONTEXT !== undefined
  if (settings.env !== 'development' || live === false || isSpec) return
  const source = env === undefined && !processEnv.NODE_ENV ? ', as NODE_ENV is not set' : ''
  setImmediate(() => {
    const block = overview(settings, `development${source}`)
    if (printed.has(block)) return
    printed.add(block)
    print(block)
  })
}

/** @param environment its name, and where it comes from */
export function overview(settings: Settings, environment: string): string {
  const { root, prefix, apps, mounts, live, serve, servesPublic } = settings
  const shown = (path: string) => printable(relative(root, path) || '.')
  const places = [
    ...apps.map(({ urlPrefix, sources, packages }) => {
      const own = sources.map(({ dir }) => dir)
      const all = [...own, ...assetSources.list()].filter(isDirectory).map(shown)
      const names = new Set(packages.map(({ specifier }) => specifier))
      const from = [...all, ...(names.size > 0 ? [`npm: ${[...names].join(', ')}`] : [])].join(', ')
      return { path: urlPrefix, from: from || 'no source directory exists' }
    }),
    ...mounts.map(({ urlPath, dir, dev }) => {
      const from = isDirectory(dir) ? shown(dir) : `${shown(dir)}, which does not exist yet`
      return { path: urlPath, from: dev === undefined ? from : "the bundler's dev server" }
    })
  ].map(({ path, from }) => ({ path: `${printable(path)}/…`, from }))
  const width = Math.max(...places.map(({ path }) => path.length))
  const publicDir = shown(settings.publicDir)
  const rest = servesPublic ? `everything in ${publicDir}` : 'nothing else'
  const task = servesPublic ? `serve ${publicDir}` : 'do so'
  return [
    `koa-fresh-assets: ${environment}, in ${printable(root)}`,
    ...places.map(({ path, from }) => `  ${path.padEnd(width)}  ${from}`),
    serve
      ? `  This process serves ${places.length > 0 ? 'them, and ' : ''}${rest}.`
      : `  This process does not serve them (serve is off): a front web server must ${task}.`,
    ...(live ? [`  To inspect them, open ${encodePath(prefix)}/-/ on this server.`] : [])
  ].join('\n')
}
