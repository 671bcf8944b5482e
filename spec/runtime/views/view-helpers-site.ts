/** View helpers over a pipeline of two apps, without and with fingerprints. */

import { plainAddress, type AppAssets, type Helpers } from '../../../lib/runtime/views/asset-url.ts'
import { type Located } from '../../../lib/runtime/views/asset-url.ts'
import { makeViewHelpers, type ViewHelpers } from '../../../lib/runtime/views/view-helpers.ts'
import { type ViewHelperSettings } from '../../../lib/runtime/views/view-helpers.ts'

const apps = [
  { name: 'web', path: '/' },
  { name: 'admin', path: '/admin' }
]

const manifest = new Map<string, Omit<Located, 'path'>>([
  ['app.js', { target: `/assets/app-${'a'.repeat(32)}.js`, integrity: ['sha384-aaaa'] }],
  [
    'app.css',
    { target: `/assets/app-${'b'.repeat(32)}.css`, integrity: ['sha256-bb+/', 'sha512-bbbb'] }
  ],
  ['logo.png', { target: `/assets/logo-${'c'.repeat(32)}.png`, integrity: ['sha384-cccc'] }],
  ['logo@2x.png', { target: `/assets/logo@2x-${'d'.repeat(32)}.png`, integrity: [] }],
  ['inter.woff2', { target: `/assets/inter-${'e'.repeat(32)}.woff2`, integrity: ['sha384-eeee'] }],
  ['lib/dial.mjs', { target: `/assets/lib/dial-${'f'.repeat(32)}.mjs`, integrity: ['sha384-ffff'] }]
])

export function makeHelpers(
  settings: Partial<ViewHelperSettings> = {},
  assetsOf: (app: string) => Partial<AppAssets> = () => ({}),
  added: readonly Helpers[] = []
): (app: string, isLive?: boolean) => ViewHelpers {
  const assets = ({ name: app }: { name: string }): AppAssets => ({
    imports: new Map(),
    moduleAt: () => undefined,
    resolve: name => plainAddress(app === 'web' ? '/assets' : `/assets/${app}`, name),
    modules: () => [],
    version: () => 'v7',
    ...assetsOf(app)
  })
  return makeViewHelpers({ apps, ...settings }, assets, added)
}

export function fingerprinted(
  settings: Partial<ViewHelperSettings> = {},
  added: readonly Helpers[] = []
) {
  const assetsOf = (): Partial<AppAssets> => ({
    resolve: name => {
      const address = manifest.get(name)
      if (!address) throw new Error(`${name} is not in public/assets.json`)
      return { ...address, path: `/assets/${name}` }
    },
    modules: () =>
      Array.from(manifest, ([name, address]) => ({ ...address, path: `/assets/${name}` }))
  })
  return makeHelpers(settings, assetsOf, added)
}

/** The tags as helpers write them, by the name of a file at the prefix. */
export const script = (file: string, attributes = ' type="text/javascript"') =>
  `<script src="/assets/${file}"${attributes}></script>`
export const sheet = (file: string, more = '') =>
  `<link href="/assets/${file}" type="text/css" rel="stylesheet"${more}>`
export const icon = (file: string, more = ' rel="shortcut icon" type="image/x-icon"') =>
  `<link href="/assets/${file}"${more}>`
