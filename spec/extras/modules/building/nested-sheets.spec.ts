// A stylesheet gets the version of a package that Node finds from its folder, whatever was asked for before.
import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import * as fc from 'fast-check'
import { cases, makeProject, makeSite, readManifest, run, test } from '../../../support/index.ts'
import { writeFiles } from '../../../support/index.ts'
import { dependencies } from '../package-files.ts'

const NAMES = ['kit', 'grid', 'base'] as const

/** The folders in which a version of a package may be, those of other packages behind these. */
const FOLDERS = [
  'node_modules',
  'apps/web/node_modules',
  'node_modules/kit/node_modules',
  'node_modules/grid/node_modules',
  'node_modules/kit/node_modules/grid/node_modules',
  'apps/web/node_modules/kit/node_modules',
  'packages/member/node_modules'
]

interface Tree {
  /** Where there are versions, as `folder/name`. */
  readonly at: readonly string[]
  /** Those of the project's folder that are links to a store, as pnpm has them, with others beside them there. */
  readonly stored: readonly string[]
  /** A package of a workspace in the place of `kit`. */
  readonly isLinked: boolean
  /** The order in which the stylesheets of the app are asked for. */
  readonly order: readonly string[]
}

const places = FOLDERS.flatMap(folder => NAMES.map(name => `${folder}/${name}`))
const TREES: fc.Arbitrary<Tree> = fc.record({
  at: fc.subarray(places),
  stored: fc.subarray([...NAMES]),
  isLinked: fc.boolean(),
  order: fc.shuffledSubarray([...NAMES, 'sass', 'less'], { minLength: 3 })
})

/** Each imports those behind it, so that there is no circle. */
const imported = (name: string) => NAMES.slice(NAMES.findIndex(each => each === name) + 1)

function installAt(folder: string, name: string, mark: string) {
  const imports = (write: (name: string) => string) => imported(name).map(write).join('\n')
  writeFiles(folder, {
    'package.json': JSON.stringify({ name, version: '1.0.0' }),
    'x.css': `${imports(each => `@import '${each}/x.css';`)}\n.x { --at: "${mark}" }`,
    'x.scss': `${imports(each => `@use '${each}/x.scss' as ${each};`)}\n.x { --at: "${mark}" }`,
    'x.less': `${imports(each => `@import (multiple) '${each}/x.less';`)}\n.x { --at: "${mark}" }`
  })
}

function plant(root: string, { at, stored, isLinked }: Tree) {
  const store = join(root, 'node_modules/.pnpm')
  const link = (name: string, to: string) => {
    const from = join(root, 'node_modules', name)
    rmSync(from, { recursive: true, force: true })
    mkdirSync(dirname(from), { recursive: true })
    symlinkSync(to, from, 'dir')
  }
  // Sass and Less fail as a whole where something is missing.
  for (const name of NAMES)
    installAt(join(root, 'node_modules', name), name, `node_modules/${name}`)
  for (const place of at) installAt(join(root, place), posix.basename(place), place)
  for (const name of stored) {
    for (const each of [name, ...imported(name)]) {
      const folder = `${name}@1/node_modules/${each}`
      installAt(join(store, folder), each, `node_modules/.pnpm/${folder}`)
    }
    link(name, join(store, `${name}@1/node_modules/${name}`))
  }
  if (!isLinked) return
  installAt(join(root, 'packages/member'), 'kit', 'packages/member')
  link('kit', join(root, 'packages/member'))
}

function lookUp(root: string, name: string, from: string): string {
  for (let folder = from; folder.startsWith(root); folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name)
    if (existsSync(join(found, 'package.json'))) return realpathSync(found)
  }
  return realpathSync(join(root, 'node_modules', name))
}

/** The marks of a package's stylesheet, and of all that it imports, each as often as it is imported. */
function expectedFrom(root: string, name: string, from: string): string[] {
  const folder = lookUp(root, name, from)
  const below = imported(name).flatMap(each => expectedFrom(root, each, folder))
  return [...below, relative(root, folder).replaceAll('\\', '/')]
}

const marksIn = (text: string) => Array.from(text.matchAll(/--at: "([^"]+)"/g), ([, mark]) => mark)

test('every stylesheet gets the version that Node finds, under the same name in all modes', async t => {
  const property = fc.asyncProperty(TREES, async tree => {
    const root = makeProject(t, { 'package.json': dependencies(...NAMES) })
    plant(root, tree)
    const css = 'apps/web/assets/css'
    for (const name of NAMES)
      writeFiles(root, { [`${css}/${name}.css`]: `@import '${name}/x.css';` })
    writeFiles(root, {
      [`${css}/sass.css.scss`]: "@use 'kit/x.scss';",
      [`${css}/less.css.less`]: "@import (multiple) 'kit/x.less';"
    })
    const site = await makeSite(t, {}, { root, sourceMaps: false })
    const reached = new Set<string>()
    const textOf = async (url: string): Promise<string> => {
      const { status, text } = await site.ask(url)
      t.is(status, 200, `${url}: ${text}`)
      reached.add(url)
      const below: string[] = []
      for (const [, to = ''] of text.matchAll(/@import ["']([^"']+)/g)) below.push(await textOf(to))
      return [...below, text].join('\n')
    }
    for (const name of [...tree.order, ...NAMES]) {
      const named = NAMES.find(each => each === name) ?? 'kit'
      const expected = expectedFrom(root, named, join(root, css))
      const marks = marksIn(await textOf(`/assets/${name}.css`))
      // Sass writes a module once.
      t.deepEqual(marks, name === 'sass' ? [...new Set(expected)] : expected)
    }
    await run({ root, bundle: false })
    const { assets } = readManifest(root)
    const built = Object.keys(assets).filter(path => !/sass|less/.test(path))
    const asked = [...reached].filter(path => !/sass|less/.test(path))
    t.deepEqual(built, asked.toSorted())
    for (const path of asked) {
      const precompiled = site.read(`/public${assets[path]?.target}`) ?? ''
      t.deepEqual(marksIn(precompiled), marksIn((await site.ask(path)).text), path)
    }
  })
  await fc.assert(property, { numRuns: cases(6, 100) })
})
