import { linkSync, renameSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Middleware } from 'koa'
import { Tree } from '../../../lib/publishing/sources/tree.ts'
import { precompile } from '../../../lib/koa-assets.ts'
import { ask } from '../../support/raw.ts'
import { AS_WRITTEN, ENVIRONMENTS, makeFront, makeProject, makeSite } from '../../support/index.ts'
import { removeFolder, test, until, untilSettled, writeFiles } from '../../support/index.ts'
import type { ExecutionContext } from '../../support/index.ts'

const FILES = { 'css/a.css': '', 'css/deep/b.css': '', 'top.txt': '' }
const ALL = Object.keys(FILES)

async function makeTree(t: ExecutionContext, files = {}) {
  const directory = makeProject(t, files)
  const tree = new Tree(directory, 'inside')
  await tree.refresh()
  const list = async () => {
    await tree.verify()
    return [...tree.files()].toSorted()
  }
  return { directory, tree, list, at: (path: string) => join(directory, path) }
}

for (const [what, change, expected] of [
  ['an added file', 'write css/new.css', ['css/a.css', 'css/deep/b.css', 'css/new.css', 'top.txt']],
  ['a removed file', 'remove css/a.css', ['css/deep/b.css', 'top.txt']],
  ['a renamed file', 'rename css/a.css css/z.css', ['css/deep/b.css', 'css/z.css', 'top.txt']],
  ['an added folder', 'write x/y/z.css', [...ALL, 'x/y/z.css']],
  ['a removed folder', 'remove css', ['top.txt']],
  ['a renamed folder', 'rename css style', ['style/a.css', 'style/deep/b.css', 'top.txt']],
  ['a moved folder', 'rename css/deep deep', ['css/a.css', 'deep/b.css', 'top.txt']],
  ['a file that becomes a folder', 'replace top.txt', [...ALL.slice(0, 2), 'top.txt/in']],
  ['an added partial that may shadow another', 'write css/_x.scss', ALL]
] as const) {
  test(`${what} is noticed with and without file system events`, async t => {
    const { tree, directory, at, list } = await makeTree(t, FILES)
    const { version } = tree
    const [act = '', from = '', to = ''] = change.split(' ')
    if (act === 'write') writeFiles(directory, { [from]: '' })
    if (act === 'rename') renameSync(at(from), at(to))
    if (act === 'remove' || act === 'replace') removeFolder(at(from))
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

for (const [level, way] of [
  ['', 'deleted'],
  ['', 'moved away'],
  ['css/deep', 'deleted'],
  ['css/deep', 'moved away']
] as const) {
  test(`${level || 'the directory'}, ${way} and created again: the next change is reported`, async t => {
    const { tree, directory, at } = await makeTree(t, FILES)
    const isListed = (file: string) => [...tree.files()].includes(posix.join(level, file))
    for (const round of ['one', 'two']) {
      if (way === 'deleted') removeFolder(at(level))
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

// Names whose accents are composed (NFC) or not (NFD), as APFS keeps and finds them.

const ASSETS = 'apps/web/assets'
const encoded = encodeURIComponent
const DECOMPOSED = 'E\u0301t\u00e9.svg'
const COMPOSED = '\u00c9t\u00e9.svg'

test('a view finds a source whose accents macOS has stored decomposed', async t => {
  const root = makeProject(t, { [`${ASSETS}/images/${DECOMPOSED}`]: '<svg/>' })
  const path = `/assets/${encoded(COMPOSED)}`
  const routes: Middleware = ctx => {
    if (ctx.path === '/page') ctx.body = ctx.assets.path(COMPOSED)
  }
  const development = await makeSite(t, {}, { root, env: 'development', routes })
  t.is((await development.ask('/page')).text, path)
  t.is((await development.ask(path)).text, '<svg/>')
  t.is((await development.ask(`/assets/${encoded(DECOMPOSED)}`)).status, 404, 'one spelling')
  const { manifest } = await precompile({ root, ...AS_WRITTEN })
  t.true(readFileSync(manifest, 'utf8').includes(`"${path}"`))
  const production = await makeSite(t, {}, { root, env: 'production', routes })
  const named = (await production.ask('/page')).text
  t.regex(named, /^\/assets\/%C3%89t%C3%A9-\w{32}\.svg$/)
  t.is((await production.ask(named)).text, '<svg/>')
})

test('two sources whose names differ only in how accents are written are an error', async t => {
  const images = `${ASSETS}/images`
  const root = makeProject(t, { [`${images}/${DECOMPOSED}`]: '1', [`${images}/${COMPOSED}`]: '2' })
  const message = new RegExp(`several sources in .* are published as ${COMPOSED}:`)
  await t.throwsAsync(precompile({ root }), { message })
})

test('a file that has both spellings, as on macOS, is found under the composed one', async t => {
  const root = makeProject(t, { [`public/${COMPOSED}`]: 'composed', 'public/e\u0301.txt': 'other' })
  linkSync(join(root, 'public', COMPOSED), join(root, 'public', DECOMPOSED))
  for (const revalidate of [0, 3600]) {
    const { production } = ENVIRONMENTS
    const { port } = await makeFront(t, { ...production, root, revalidate })
    for (let times = 0; times < 2; times++) {
      t.is((await ask(port, 'GET', `/${encoded(COMPOSED)}`)).text, 'composed')
      t.is((await ask(port, 'GET', `/${encoded(DECOMPOSED)}`)).status, 404)
      t.is((await ask(port, 'GET', '/e%CC%81.txt')).text, 'other', 'where it is another name')
    }
  }
})
