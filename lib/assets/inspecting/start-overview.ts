// The block on the console at the start of a server in development: what a newcomer wants to know first.
import { relative } from 'node:path'
import { isDirectory } from '../../files/at-start.ts'
import { printable } from '../../printable.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import type { Settings } from '../settings/settings.ts'
import { assetSources } from '../sources/third-party.ts'
import { encodePath } from '../urls/encode.ts'

const printed = new Set<string>()

/**
 * Prints the block once the application has been set up, so it names what packages added since. Not for
 * specs, whose output it would flood, and not for a second instance of the same block.
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
  const { root, prefix, mounts, live } = settings
  const shown = (path: string) => printable(relative(root, path) || '.')
  const places = [
    ...settings.apps.map(({ urlPrefix, sources }): [string, string] => {
      const all = [...sources, ...assetSources.list()].filter(isDirectory).map(shown)
      return [urlPrefix, all.join(', ') || 'no source directory exists']
    }),
    ...mounts.map(({ urlPath, dir, dev }): [string, string] => {
      return [urlPath, dev === undefined ? shown(dir) : "the bundler's dev server"]
    })
  ].map(([path, from]): [string, string] => [`${printable(path)}/…`, from])
  const width = Math.max(...places.map(([path]) => path.length))
  return [
    `koa-fresh-assets: ${environment}, in ${printable(root)}`,
    ...places.map(([path, from]) => `  ${path.padEnd(width)}  ${from}`),
    `  ${serving(settings, places.length > 0, shown(settings.publicDir))}`,
    ...(live ? [`  To inspect them, open ${encodePath(prefix)}/-/ on this server.`] : [])
  ].join('\n')
}

function serving({ serve, servesPublic }: Settings, hasPlaces: boolean, publicDir: string): string {
  if (!serve) {
    const task = servesPublic ? `serve ${publicDir}` : 'do so'
    return `This process does not serve them (serve is off): a front web server must ${task}.`
  }
  const rest = servesPublic ? `everything in ${publicDir}` : 'nothing else'
  return `This process serves ${hasPlaces ? 'them, and ' : ''}${rest}.`
}
