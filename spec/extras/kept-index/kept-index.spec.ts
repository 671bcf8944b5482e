// A server that restarts knows what the last one has published: node_modules/.cache keeps the index.

import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize } from 'node:v8'
import { precompile } from '../../../lib/index.ts'
import { digestOf } from '../../../lib/runtime/files/digest.ts'
import { cases, filesBelow, makeCounter, makeProject, makeSite } from '../../support/index.ts'
import { messagesOf, serial as test, until, writeFiles } from '../../support/index.ts'
import type { ExecutionContext, Files, SiteOptions } from '../../support/index.ts'

const FILES = {
  'css/app.css.scss': '@use "part"; a { color: part.$color }',
  'css/theme/_part.scss': '$color: red;',
  'css/other.css.less': 'b { color: red }',
  'css/plain.css': 'c { color: red }',
  '/node_modules/x.txt': ''
}
const PATHS = ['/assets/app.css', '/assets/other.css', '/assets/plain.css']
const OPTIONS = { apps: { web: { sources: ['assets/css/theme'] } } }

const memory = (root: string) => {
  const folder = join(root, 'node_modules/.cache/koa-fresh-assets')
  const file = filesBelow(folder).find(name => !name.endsWith('.tmp'))
  return file === undefined ? undefined : join(folder, file)
}

/** The entries in the cache, by path. */
function keptIn(root: string): ReadonlyMap<string, { readonly isReproducible: boolean }> {
  const file = memory(root)
  if (file === undefined) return new Map()
  const { entries } = deserialize(readFileSync(file).subarray(digestOf('').length)) as {
    entries: [string, { isReproducible: boolean }][]
  }
  return new Map(entries)
}

/**
 * A project whose server has published everything, and has kept its index.
 * @param kept is asked for as well, and awaited in the cache
 */
async function makeKept(
  t: ExecutionContext,
  options: SiteOptions = OPTIONS,
  kept = PATHS,
  files: Files = FILES
) {
  const { root, ask } = await makeSite(t, files, options)
  const isKept = (path: string) => keptIn(root).get(path)?.isReproducible === true
  await until(async () => {
    // What was edited a moment ago is compiled once more.
    for (const path of new Set([...PATHS, ...kept])) t.is((await ask(path)).status, 200, path)
    return kept.every(isKept)
  }, 'the index has been kept')
  return root
}

/** What the next server publishes, and how often it compiles. */
async function restart(
  t: ExecutionContext,
  root: string,
  options: SiteOptions = OPTIONS,
  asked = PATHS
) {
  const [published, compiled] = [messagesOf(t, 'published'), messagesOf(t, 'compiled')]
  const site = await makeSite(t, {}, { ...options, root })
  const texts: string[] = []
  for (const path of asked) texts.push((await site.ask(path)).text)
  return { published: published.map(({ path }) => path), compiled, texts }
}

test('a server that restarts compiles and publishes nothing again, even if options are no JSON', async t => {
  const own = { extensions: '.own', target: '.js', compile: () => ({ code: '' }), caches: {} }
  own.caches = { own }
  const options = { ...OPTIONS, compilers: [own] }
  const root = await makeKept(t, options)
  const { ino } = statSync(join(root, 'public/assets/app.css'))
  const { published, compiled, texts } = await restart(t, root, options)
  t.deepEqual([published, compiled], [[], []])
  t.regex(texts[0] ?? '', /a \{\s*color: red/)
  t.is(statSync(join(root, 'public/assets/app.css')).ino, ino)
})

const KIT = {
  '/package.json': '{ "dependencies": { "kit": "1" } }',
  '/node_modules/kit/package.json': '{ "style": "a.css" }',
  '/node_modules/kit/a.css': "@import 'in'; .a { src: url(f.woff2) }",
  '/node_modules/kit/b.css': '.b { color: red }',
  '/node_modules/kit/f.woff2': 'font',
  '/node_modules/in/package.json': '{ "style": "a.css" }',
  '/node_modules/in/a.css': '.in { color: red }',
  'css/kit.css': "@import 'kit';"
}
const ASKED = ['kit.css', 'npm/kit/a.css', 'npm/kit/f.woff2', 'npm/in/a.css']
const KIT_PATHS = [...PATHS, ...ASKED.map(name => `/assets/${name}`)]

/** What is written while no server runs, and what the next one then has in which stylesheet. */
const UPDATES: readonly (readonly [files: Files, path: string, has: string])[] = [
  [{ 'kit/package.json': '{ "style": "b.css" }' }, '/assets/kit.css', '"/assets/npm/kit/b.css"'],
  [
    { 'kit/node_modules/in/package.json': '{}', 'kit/node_modules/in/index.css': '' },
    '/assets/npm/kit/a.css',
    '"/assets/npm/-/kit/node_modules/in/index.css"'
  ]
]

test('a server that restarts publishes stylesheets of packages again only after an update', async t => {
  const kept = await makeKept(t, OPTIONS, KIT_PATHS, { ...FILES, ...KIT })
  t.deepEqual((await restart(t, kept, OPTIONS, KIT_PATHS)).published, [])
  for (const [files, path, has] of UPDATES) {
    const root = await makeKept(t, OPTIONS, KIT_PATHS, { ...FILES, ...KIT })
    writeFiles(join(root, 'node_modules'), files)
    const { published, texts } = await restart(t, root, OPTIONS, KIT_PATHS)
    t.true(published.includes(path), path)
    t.true(texts[KIT_PATHS.indexOf(path)]?.includes(has), texts.join('\n'))
  }
})

const CSS = 'apps/web/assets/css'

test('precompile leaves what a person has put in the place of a published file', async t => {
  const root = await makeKept(t)
  rmSync(join(root, CSS, 'plain.css'))
  writeFiles(root, { 'public/assets/plain.css': 'by hand' })
  await precompile({ root, ...OPTIONS })
  t.is(readFileSync(join(root, 'public/assets/plain.css'), 'utf8'), 'by hand')
})

test('a restart compiles files of a custom compiler again, and removes those without a source', async t => {
  const { compiler } = makeCounter('.less')
  const options = { ...OPTIONS, compilers: [compiler] }
  const root = await makeKept(t, options, ['/assets/app.css', '/assets/plain.css'])
  await until(() => keptIn(root).has('/assets/other.css'), 'what is not trusted is kept, too')
  // The code of the compiler may be another.
  t.deepEqual((await restart(t, root, options)).published, ['/assets/other.css'])
  writeFileSync(join(root, 'public/assets/own.css'), 'by hand')
  for (const name of ['plain.css', 'other.css.less']) rmSync(join(root, CSS, name))
  const { ask } = await makeSite(t, {}, { ...options, root })
  const statuses = PATHS.map(async path => (await ask(path)).status)
  t.deepEqual(await Promise.all(statuses), [200, 404, 404])
  const left = filesBelow(join(root, 'public/assets'))
  t.deepEqual(left, ['app.css', 'own.css'])
})

/** What is written while no server runs, `undefined` for a removal, and whose target is published again. */
const CHANGES: [what: string, file: string, text: string | undefined, path: string][] = [
  ['a source was edited', `${CSS}/plain.css`, 'c { color: BLUE }', '/assets/plain.css'],
  ['a partial was put before another', `${CSS}/_part.scss`, '$color: BLUE;', '/assets/app.css'],
  ['a published file was removed', 'public/assets/app.css', undefined, '/assets/app.css'],
  ['a published file was edited', 'public/assets/other.css', 'by hand', '/assets/other.css'],
  ['a partial was edited', `${CSS}/theme/_part.scss`, '$color: BLUE;', '/assets/app.css']
]

for (const [what, file, text, path] of CHANGES.slice(-cases(2, CHANGES.length))) {
  test(`what changed while the server was down is published again: ${what}`, async t => {
    const root = await makeKept(t)
    if (text === undefined) rmSync(join(root, file))
    else writeFiles(root, { [file]: text })
    const { published, texts } = await restart(t, root)
    t.deepEqual(published, [path])
    const written = readFileSync(join(root, 'public', path), 'utf8')
    t.is(texts[PATHS.indexOf(path)], written)
    t.is(written.includes('BLUE'), text?.includes('BLUE') === true)
    t.false(written.includes('by hand'))
  })
}

const circumstances: Record<string, (root: string) => SiteOptions> = {
  'another environment': () => ({ ...OPTIONS, env: 'test' }),
  'another value of define': () => ({ ...OPTIONS, define: { __A__: '1' } }),
  'a compiler of the application': () => ({
    ...OPTIONS,
    compilers: [{ extensions: '.less', target: '.css', compile: () => ({ code: 'own{}' }) }]
  }),
  'a source took the place of another': root => {
    writeFiles(root, { 'apps/web/assets/a/plain.css': 'new { color: red }' })
    return OPTIONS
  },
  'a damaged cache': root => {
    const file = memory(root) ?? ''
    writeFileSync(file, readFileSync(file, 'latin1').replace('app.css', 'APP.css'), 'latin1')
    return OPTIONS
  }
}

const ways = Object.entries(circumstances)

for (const [what, change] of ways.slice(-cases(2, ways.length))) {
  test(`nothing that the last server kept is trusted after ${what}`, async t => {
    const root = await makeKept(t)
    const { published, texts } = await restart(t, root, change(root))
    t.deepEqual(published, PATHS)
    t.is(texts[2]?.startsWith('new {'), what.startsWith('a source'))
  })
}

test('a compiler that is installed while a server runs is another one to the next server', async t => {
  const path = '/assets/plain.css'
  const { root, ask } = await makeSite(t, FILES, OPTIONS)
  t.is((await ask(path)).status, 200)
  writeFiles(root, { 'node_modules/esbuild/package.json': '{}' })
  const isKept = async () => {
    await ask(path)
    return keptIn(root).get(path)?.isReproducible === true
  }
  await until(isKept, 'the index has been kept')
  t.deepEqual((await restart(t, root, OPTIONS, [path])).published, [path])
})

test('a server that cannot keep its index, as without node_modules, serves its files all the same', async t => {
  const { '/node_modules/x.txt': _, ...files } = FILES
  const bare = await makeSite(t, files, OPTIONS)
  const blocked = await makeSite(t, { ...files, '/node_modules/.cache': 'a file' }, OPTIONS)
  const kept = await makeSite(t, FILES, { ...OPTIONS, root: makeProject(t) })
  for (const { ask } of [bare, blocked, kept])
    for (const path of PATHS) t.is((await ask(path)).status, 200)
  await until(() => memory(kept.root) !== undefined, 'the last one has kept its index')
  t.false(existsSync(join(bare.root, 'node_modules')))
  t.is(readFileSync(join(blocked.root, 'node_modules/.cache'), 'utf8'), 'a file')
  t.is((await blocked.ask(PATHS[0] ?? '')).status, 200)
})
