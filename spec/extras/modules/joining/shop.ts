// A shop with packages and modules of its own, precompiled.
import type { KoaAssetsOptions } from '../../../../lib/runtime/settings/options.ts'
import { makeProject, placed, readManifest, readPublic, run } from '../../../support/index.ts'
import { targetOf, type ExecutionContext, type Files } from '../../../support/index.ts'
import { pkg as packageOf } from '../package-files.ts'

export const pkg = (name: string, files: Files, json: object = {}): Files =>
  packageOf(name, { type: 'module', sideEffects: false, ...json }, files)

export const SHOP: Files = {
  ...pkg('big', {
    'index.js': `/* ${'x'.repeat(20_000)} */
import { low } from './low.js'
export const used = () => low() + ' used'
export const unused = () => 'not called'`,
    'low.js': "export const low = () => globalThis.low ?? 'low'"
  }),
  ...pkg('tiny', { 'index.js': "export const tiny = 'tiny'" }),
  ...pkg('wee', { 'index.js': "import { tiny } from 'tiny'\nexport const wee = `wee ${tiny}`" }),
  'javascripts/app.js': `import { used } from 'big'
import { wee } from 'wee'
import { count } from './count.js'
import { picture } from './widgets/picture.js'
export const shown = [used(), wee, count(), picture]
export const later = () => import('./later.js')
export const work = () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })`,
  'javascripts/admin.js': "import { count } from './count.js'\nexport const admin = count()",
  'javascripts/count.js': 'let counted = 0\nexport const count = () => ++counted',
  'javascripts/later.js':
    "import { tiny } from 'tiny'\nimport { count } from './count.js'\nexport const late = [tiny, count()]",
  'javascripts/worker.js': "import { tiny } from 'tiny'\npostMessage(tiny)",
  'javascripts/widgets/picture.js':
    "export const picture = new URL('../../images/star.svg', import.meta.url).pathname",
  'javascripts/classic.js': "document.title = 'classic'",
  'images/star.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>'
}

export const ALL = { packages: ['big', 'tiny', 'wee'], bundle: true } as const

/** The plain URL paths of scripts below the prefix. */
export const scriptsIn = (root: string) =>
  Object.keys(readManifest(root).assets).flatMap(path =>
    path.endsWith('.js') ? path.replace('/assets/', '') : []
  )

export type Shop = Awaited<ReturnType<typeof makeShop>>

export async function makeShop(
  t: ExecutionContext,
  options: KoaAssetsOptions = ALL,
  files: Files = {}
) {
  const root = makeProject(t, placed({ ...SHOP, ...files }))
  const report = await run({ root, ...options })
  return {
    root,
    report,
    scripts: () => scriptsIn(root),
    targets: () =>
      Object.fromEntries(
        Object.entries(readManifest(root).assets).map(([path, { target }]) => [path, target])
      ),
    text: (name: string) => readPublic(root, targetOf(root, `/assets/${name}`)).toString()
  }
}
