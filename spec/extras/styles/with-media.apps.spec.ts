// An app has what its own options say, whatever those of another app are.
import type { AppOptions } from '../../../lib/koa-assets.ts'
import { LAYERED_EXTRAS } from '../../../lib/runtime/settings/extra-options.ts'
import { makeProject, readManifest, run, test } from '../../support/index.ts'
import { pkg } from '../modules/package-files.ts'

const FILES = {
  ...pkg('tiny', { type: 'module' }, { 'index.js': 'export const tiny = 1' }),
  'apps/web/assets/app.css': '@import "base.css";\na {\n  user-select: none;\n}\n',
  'apps/web/assets/base.css': 'b {\n  color: red;\n}\n',
  'apps/web/assets/app.js':
    "import { tiny } from 'tiny'\nimport { part } from './part.js'\npart(tiny)",
  'apps/web/assets/part.js': 'export const part = console.log',
  'apps/web/assets/icon.svg': '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 1"/>',
  'apps/admin/assets/admin.css': 'a {\n  user-select: none;\n}\n',
  'apps/admin/assets/admin.js': 'export const admin = console.log'
}
const ON = {
  inline: 'icon.svg',
  packages: 'tiny',
  bundle: true,
  minify: true,
  target: 'safari13'
} satisfies Required<Pick<AppOptions, keyof typeof LAYERED_EXTRAS>>
const OFF = { bundle: false, minify: false }

test('the options of an app have the same effect, whatever another app sets', async t => {
  const root = makeProject(t, FILES)
  const publish = async (apps: Record<string, AppOptions>) => {
    await run({ root, apps })
    const { assets } = readManifest(root)
    return Object.entries(assets).filter(([path]) => !path.startsWith('/assets/admin/'))
  }
  const alone = await publish({ web: ON })
  t.deepEqual(await publish({ web: ON, admin: OFF }), alone)
  // Each of them makes a difference to these files.
  for (const name of Object.keys(ON)) {
    const imports = name === 'packages' ? { tiny: 'https://esm.sh/tiny' } : {}
    t.notDeepEqual(await publish({ web: { ...ON, imports, [name]: undefined } }), alone, name)
  }
})
