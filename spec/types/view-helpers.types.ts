/** What compiles is a promise, too. Checked by `tsc -p spec/types`, never run. */
import { plainAddress, type AppAssets } from '../../lib/runtime/views/asset-url.ts'
import type { Attributes } from '../../lib/runtime/views/html.ts'
import { makeViewHelpers, type ViewHelpers } from '../../lib/runtime/views/view-helpers.ts'

declare const assets: ViewHelpers
const site: AppAssets = {
  imports: new Map([['dial', 'dial.js']]),
  resolve: name => plainAddress('/assets', name),
  modules: () => [{ path: '/a.js', target: '/a-1.js', integrity: ['sha384-a'] }],
  moduleAt: () => ({ path: '/a.js', target: '/a-1.js', imports: ['/b.js'] }),
  version: () => ''
}
declare const maybe: boolean | undefined
declare const attributes: Attributes | undefined

assets.javascript('a') satisfies string
assets.javascript('a', 'b', { async: true, defer: maybe, 'data-n': 1, nonce: null })
assets.javascript('a', { type: 'module', modulepreload: maybe })
assets.stylesheet('a', attributes)
assets.image('a.png', { srcset: { 'b.png': '2x' }, width: 10, alt: '' })
assets.inline('icons/a.svg', { class: 'icon', 'aria-hidden': 'true' }) satisfies string
assets.favicon()
assets.video('a.mp4', { controls: true, poster: 'a.png' })
assets.audio({ sources: ['a.ogg', { src: 'a.mp3', type: 'audio/mpeg' }] })
assets.importMap({ nonce: 'r4nd0m', imports: { dial: 'dial.js' } }) satisfies string
assets.importMap({ entry: ['app', 'locales/fi'] })
assets.preload('a', { as: 'style', fetchpriority: 'high' }) satisfies string
assets.entry('src/main.tsx', 'src/print.css', {
  mount: '/',
  nonce: maybe ? 'n' : undefined
}) satisfies string
assets.entry('main', { type: 'classic', reactRefresh: maybe })
declare const names: string[]
assets.entry(...names) satisfies string
assets.entry('main', ...names, { mount: '/' }) satisfies string
assets.app('admin').version satisfies string
assets.devOrigins satisfies readonly string[]

// Helpers do not use `this`: linters accept one that is taken off its object.
const { javascript, video }: { javascript: (name: string) => string; video: unknown } = assets
javascript('a')
void video

// @ts-expect-error a name is needed
assets.javascript()
// @ts-expect-error attributes stand last
assets.javascript({ defer: true }, 'a')
// @ts-expect-error either a name or sources
assets.video()
// @ts-expect-error no such option
assets.entry('main', { mount: '/', once: 'n' })
// @ts-expect-error helpers are read only
assets.version = 'v8'
// @ts-expect-error an address is an object
makeViewHelpers({ apps: [] }, () => ({ ...site, resolve: () => '/a' }))

makeViewHelpers({ host: undefined, apps: [{ name: 'web', path: '/' }] }, () => site) satisfies (
  app: string
) => ViewHelpers
