// A shop with packages and modules of its own, precompiled.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from '../../../support/test.ts'
import type { KoaAssetsOptions } from '../../../../lib/runtime/settings/options.ts'
import { placed, readManifest, run, targetOf } from '../../../support/fingerprinted.ts'
import { makeProject, type Files } from '../../../support/site.ts'

/** A package of modules in `node_modules`. */
export function pkg(name: string, files: Files, json: object = {}): Files {
  const manifest = { name, version: '1.0.0', type: 'module', sideEffects: false, ...json }
  const all = { 'package.json': JSON.stringify(manifest), ...files }
  return Object.fromEntries(
    Object.entries(all).map(([path, text]) => [`/node_modules/${name}/${path}`, text])
  )
}

const BIG = `/* ${'x'.repeat(20_000)} */\n`

const PACKAGES: Files = {
  ...pkg('big', {
    'index.js': `${BIG}import { low } from './low.js'\nexport const used = () => low() + ' used'\nexport const unused = () => 'not called'`,
    'low.js': "export const low = () => globalThis.low ?? 'low'"
  }),
  ...pkg('tiny', { 'index.js': "export const tiny = 'tiny'" }),
  ...pkg('wee', { 'index.js': "import { tiny } from 'tiny'\nexport const wee = `wee ${tiny}`" })
}

export const SHOP: Files = {
  ...PACKAGES,
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

export interface Shop {
  readonly root: string
  readonly report: Awaited<ReturnType<typeof run>>
  /** Plain URL paths of scripts below the prefix. */
  readonly scripts: () => string[]
  readonly targets: () => Record<string, string>
  readonly text: (name: string) => string
}

export async function makeShop(
  t: ExecutionContext,
  options: KoaAssetsOptions = ALL,
  files: Files = {}
): Promise<Shop> {
  const root = makeProject(t, placed({ ...SHOP, ...files }))
  const report = await run({ root, ...options })
  const targets = () =>
    Object.fromEntries(
      Object.entries(readManifest(root).assets).map(([path, { target }]) => [path, target])
    )
  return {
    root,
    report,
    targets,
    scripts: () =>
      Object.keys(targets())
        .filter(path => path.endsWith('.js'))
        .map(path => path.replace('/assets/', '')),
    text: name => readFileSync(join(root, 'public', targetOf(root, `/assets/${name}`)), 'utf8')
  }
}
