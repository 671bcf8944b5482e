import { createHook } from 'node:async_hooks'
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { builtInCompilers } from '../../../lib/assets/compilers/built-in.ts'
import type { Compiler } from '../../../lib/assets/compilers/compiler.ts'
import { sourceAt } from '../../../lib/assets/sources/catalog.ts'
import { Tree } from '../../../lib/assets/sources/tree.ts'
import { makeProject, makeSite, type Site, writeFiles } from '../../support/site.ts'
import { cases } from '../../support/soak.ts'
import { until, untilSettled } from '../../support/until.ts'

type Symlinks = 'inside' | 'follow' | 'deny'

const FILES = { 'css/a.css': '', 'css/deep/b.css': '', 'top.txt': '' }
const ALL = Object.keys(FILES)

async function makeTree(t: ExecutionContext, files = {}, symlinks: Symlinks = 'inside') {
  const directory = makeProject(t, files)
  const tree = new Tree(directory, symlinks)
  await tree.refresh()
  const list = async () => {
    await tree.verify()
    return [...tree.files()].toSorted()
  }
  return { directory, tree, list, at: (path: string) => join(directory, path) }
}

test('a tree lists files of all levels, and the folders of the first', async t => {
  const { tree, list } = await makeTree(t, FILES)
  t.deepEqual(await list(), ['css/a.css', 'css/deep/b.css', 'top.txt'])
  t.deepEqual(tree.folders, ['css'])
})

test('a directory that does not exist has no files, and is read as soon as it exists', async t => {
  const parent = makeProject(t)
  const tree = new Tree(join(parent, 'later'), 'inside')
  await tree.refresh()
  t.deepEqual([...tree.files()], [])
  t.false(tree.isCurrent)
  writeFiles(parent, { 'later/css/a.css': '' })
  await tree.refresh()
  t.deepEqual([...tree.files()], ['css/a.css'])
})

for (const [what, change, expected] of [
  ['an added file', 'write css/new.css', ['css/a.css', 'css/deep/b.css', 'css/new.css', 'top.txt']],
  ['a removed file', 'remove css/a.css', ['css/deep/b.css', 'top.txt']],
  ['a renamed file', 'rename css/a.css css/z.css', ['css/deep/b.css', 'css/z.css', 'top.txt']],
  ['an added folder', 'write x/y/z.css', ['css/a.css', 'css/deep/b.css', 'top.txt', 'x/y/z.css']],
  ['a removed folder', 'remove css', ['top.txt']],
  ['a renamed folder', 'rename css style', ['style/a.css', 'style/deep/b.css', 'top.txt']],
  ['a moved folder', 'rename css/deep deep', ['css/a.css', 'deep/b.css', 'top.txt']],
  [
    'a file that becomes a folder',
    'replace top.txt',
    ['css/a.css', 'css/deep/b.css', 'top.txt/in']
  ],
  ['an added partial, which may shadow another,', 'write css/_x.scss', ALL]
] as const) {
  test(`${what} is reported by events, and found by verify() without them`, async t => {
    const { tree, directory, at, list } = await makeTree(t, FILES)
    const { version } = tree
    const [act = '', from = '', to = ''] = change.split(' ')
    if (act === 'write') writeFiles(directory, { [from]: '' })
    if (act === 'rename') renameSync(at(from), at(to))
    if (act === 'remove' || act === 'replace') rmSync(at(from), { recursive: true })
    if (act === 'replace') writeFiles(directory, { [`${from}/in`]: '' })
    t.deepEqual(await list(), [...expected], 'verified')
    await until(async () => {
      await tree.refresh()
      return tree.isCurrent
    }, 'the events of the change have come')
    t.deepEqual([...tree.files()].toSorted(), [...expected], 'after the events')
    t.true(tree.version > version)
    const settled = tree.version
    await tree.verify()
    t.is(tree.version, settled, 'nothing changed, no new version')
  })
}

test("an edited file and an editor's leftovers do not change the listing", async t => {
  const { tree, directory } = await makeTree(t, FILES)
  const { version } = tree
  writeFiles(directory, { 'css/a.css': 'edited' })
  await untilSettled()
  t.true(tree.isCurrent)
  writeFiles(directory, { 'css/a.css~': '', 'css/.a.css.swp': '', 'css/#a.css#': '' })
  await tree.verify()
  t.is(tree.version, version)
})

for (const [level, way] of [
  ['', 'deleted'],
  ['', 'moved away'],
  ['css/deep', 'deleted'],
  ['css/deep', 'moved away']
] as const) {
  test(`${level || 'the directory'}, ${way} and created again: the next change is reported`, async t => {
    const { tree, directory, at } = await makeTree(t, FILES)
    const isListed = (file: string) => [...tree.files()].includes(join(level, file))
    for (const round of ['one', 'two']) {
      if (way === 'deleted') rmSync(at(level), { recursive: true })
      else renameSync(at(level), join(makeProject(t), 'away'))
      writeFiles(at(level), { [`${round}.css`]: '' })
      await until(async () => {
        await tree.refresh()
        return tree.isCurrent && isListed(`${round}.css`)
      }, 'the new folder is read')
      await untilSettled()
      await tree.refresh()
      writeFiles(directory, { [join(level, `after-${round}.css`)]: '' })
      await until(() => !tree.isCurrent, 'an event of the folder that was made again')
      await tree.refresh()
      t.true(isListed(`after-${round}.css`))
    }
  })
}

test('a swapped release is noticed, even when the served source is the same file', async t => {
  const site = await makeSite(t, { 'x.css': '', '/releases/one/css/app.css.scss': 'a { b: c }' })
  const [one, two] = [site.at('/releases/one/css'), site.at('/releases/two/css')]
  mkdirSync(two, { recursive: true })
  linkSync(join(one, 'app.css.scss'), join(two, 'app.css.scss'))
  writeFiles(two, { 'app.css': 'two{}' })
  symlinkSync('one', site.at('/releases/current'))
  const apps = { web: { sources: [site.at('/releases/current')] } }
  const released = await makeSite(t, {}, { root: site.root, apps })
  t.regex((await released.ask('/assets/app.css')).text, /^a \{/)
  symlinkSync('two', site.at('/releases/next'))
  renameSync(site.at('/releases/next'), site.at('/releases/current'))
  await until(
    async () => (await released.ask('/assets/app.css')).text === 'two{}',
    'the other source of the new release is served',
    5000
  )
  t.pass()
})

test('links that form a cycle are followed once', async t => {
  const { at, list } = await makeTree(t, { 'a/x.css': '', 'b/y.css': '' }, 'follow')
  symlinkSync('..', at('a/up'))
  symlinkSync('../b', at('a/b'))
  symlinkSync('../a', at('b/a'))
  symlinkSync('self', at('self'))
  const files = await list()
  t.deepEqual(files, ['a/b/y.css', 'a/x.css', 'b/a/x.css', 'b/y.css'])
})

// A tree of many files costs as many looks at the disk as it has folders, whatever the number of files.

const FOLDERS = 20
const MANY = cases(1000, 20_000)

let calls = 0
createHook({
  init(_, type) {
    if (type.startsWith('FSREQ')) calls++
  }
}).enable()

function filesIn(count: number): Record<string, string> {
  const names = Array.from({ length: count }, (_, at) => `images/${at % FOLDERS}/file-${at}.txt`)
  return { ...Object.fromEntries(names.map(name => [name, name])), 'css/a.css': 'a{}' }
}

async function callsFor(site: Site, path: string): Promise<number> {
  calls = 0
  const { status } = await site.ask(path)
  if (status !== 200) throw new Error(`${path} is ${status}`)
  return calls
}

async function measure(t: ExecutionContext, count: number) {
  const site = await makeSite(t, filesIn(count))
  const first = await callsFor(site, '/assets/a.css')
  await untilSettled()
  await site.ask('/assets/a.css')
  // Once a second a request looks at the folders, behind its response.
  const later = async () => (await callsFor(site, '/assets/a.css')) < FOLDERS
  await until(later, 'a request without that look')
  site.write('css/late.css', 'late{}')
  const added = await callsFor(site, '/assets/late.css')
  return { first, added }
}

test.serial(`${MANY} sources cost no more disk accesses than ${FOLDERS}`, async t => {
  const few = await measure(t, FOLDERS)
  const many = await measure(t, MANY)
  t.log({ few, many })
  t.true(many.first <= few.first + 3 * FOLDERS, `at first ${many.first}, and ${few.first}`)
  t.true(many.added <= few.added + 3 * FOLDERS, `for a new file ${many.added}, and ${few.added}`)
})

const compilers = new Map<string, Compiler>(
  builtInCompilers.map(compiler => [String(compiler.extensions), compiler])
)

for (const [path, name, compiled] of [
  ['stylesheets/app.css', 'app.css', false],
  ['stylesheets/app.css.scss', 'app.css', true],
  ['stylesheets/app.scss', 'app.css', true],
  ['stylesheets/admin/app.min.css.less', 'admin/app.min.css', true],
  ['javascripts/app.js.tsx', 'app.js', true],
  ['javascripts/app.ts', 'app.js', true],
  ['app.css.sass', 'app.css', true],
  ['favicon.ico', 'favicon.ico', false],
  ['css/css.scss', 'css.css', true],
  ['files/no-extension', 'no-extension', false],
  ['files.scss/no-extension', 'no-extension', false],
  ['css/APP.CSS.SCSS', 'APP.CSS', true]
] as const) {
  test(`CMP-03 ${path} is ${name}, ${compiled ? 'compiled' : 'copied'}`, t => {
    const source = sourceAt({ dir: '/src' }, 0, path, compilers)
    t.like(source, { name, path, file: `/src/${path}`, directory: '/src' })
    t.is(source.compiler !== undefined, compiled)
  })
}
