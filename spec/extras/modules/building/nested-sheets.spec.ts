// A stylesheet gets the version of a package that Node finds from its folder, whatever was asked for before.
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeProject, makeSite, readManifest, run, test } from '../../../support/index.ts'
import { writeFiles } from '../../../support/index.ts'
import { dependencies } from '../package-files.ts'

/** What each package imports. */
const IMPORTED = { kit: ['grid', 'base'], grid: ['base'], base: [] } as const
type Name = keyof typeof IMPORTED

const [MEMBER, STORE] = ['apps/web/node_modules/kit', 'node_modules/.pnpm/grid@1/node_modules']
/** Where there are versions: of the project, of a member of its workspace, in another package, in a store, and linked. */
const PLACES: readonly (readonly [Name, folder: string])[] = [
  ['kit', 'node_modules/kit'],
  ['kit', MEMBER],
  ['grid', `${MEMBER}/node_modules/grid`],
  ['grid', `${STORE}/grid`],
  ['base', `${STORE}/base`],
  ['base', 'packages/base']
]
const LINKS = { 'node_modules/grid': `${STORE}/grid`, 'node_modules/base': 'packages/base' }

/** The places of all that a stylesheet of the app imports, each as often as it is imported. */
const OF_KIT = ['packages/base', `${MEMBER}/node_modules/grid`, 'packages/base', MEMBER]
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  kit: OF_KIT,
  grid: [`${STORE}/base`, `${STORE}/grid`],
  base: ['packages/base'],
  // Sass writes a module once.
  sass: [...new Set(OF_KIT)],
  less: OF_KIT
}

/** Makes a version whose stylesheets import those of other packages, and then say where they lie. */
function install(root: string, name: Name, folder: string) {
  const written = (write: (name: Name) => string) =>
    `${IMPORTED[name].map(write).join('\n')}\n.x { --at: "${folder}" }`
  writeFiles(join(root, folder), {
    'package.json': JSON.stringify({ name, version: '1.0.0' }),
    'x.css': written(each => `@import '${each}/x.css';`),
    'x.scss': written(each => `@use '${each}/x.scss' as ${each};`),
    'x.less': written(each => `@import (multiple) '${each}/x.less';`)
  })
}

/** Where the stylesheets in a text lie, as each says. */
const placesIn = (text: string) => Array.from(text.matchAll(/--at: "([^"]+)"/g), ([, at]) => at)

test('a stylesheet gets the version of a package that Node finds, live or precompiled', async t => {
  const names = ['kit', 'grid', 'base']
  const sheets = names.map(name => [`${name}.css`, `@import '${name}/x.css';`])
  const root = makeProject(t, { 'package.json': dependencies(...names) })
  writeFiles(join(root, 'apps/web/assets/css'), {
    ...Object.fromEntries(sheets),
    'sass.css.scss': "@use 'kit/x.scss';",
    'less.css.less': "@import (multiple) 'kit/x.less';"
  })
  for (const [name, folder] of PLACES) install(root, name, folder)
  for (const [link, to] of Object.entries(LINKS)) {
    mkdirSync(dirname(join(root, link)), { recursive: true })
    symlinkSync(join(root, to), join(root, link), 'dir')
  }
  await run({ root, bundle: false })
  const { assets } = readManifest(root)
  // What was asked for first decides nothing.
  for (const order of [Object.keys(EXPECTED), Object.keys(EXPECTED).toReversed()]) {
    const site = await makeSite(t, {}, { root, sourceMaps: false })
    const reached = new Set<string>()
    const textOf = async (url: string): Promise<string> => {
      const { status, text } = await site.ask(url)
      t.is(status, 200, `${url}: ${text}`)
      const precompiled = site.read(`/public${assets[url]?.target}`) ?? ''
      t.deepEqual(placesIn(precompiled), placesIn(text), url)
      reached.add(url)
      const below: string[] = []
      for (const [, to = ''] of text.matchAll(/@import ["']([^"']+)/g)) below.push(await textOf(to))
      return [...below, text].join('\n')
    }
    for (const name of order)
      t.deepEqual(placesIn(await textOf(`/assets/${name}.css`)), EXPECTED[name])
    t.deepEqual([...reached].toSorted(), Object.keys(assets))
  }
})
