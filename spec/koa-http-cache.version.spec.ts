// versionOf: an edited template changes every ETag.
import { readFileSync, renameSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'

import test, { type ExecutionContext } from 'ava'
import Koa from 'koa'

import { koaHttpCache, versionOf } from '../lib/index.ts'
import { open, openRoute } from './support/cached-site.ts'
import { makeProject, writeFiles, type Files } from './support/site.ts'

const VIEWS = { 'views/page.ejs': 'page', 'views/books/index.ejs': 'index', 'layout.ejs': 'layout' }

/** How versionOf reads depends on the environment in which it is called. */
function within<T>(env: string | undefined, make: () => T): T {
  const before = process.env.NODE_ENV
  try {
    if (env === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = env
    return make()
  } finally {
    process.env.NODE_ENV = before
  }
}

/** The version that a route sees. */
async function versions(t: ExecutionContext, root: string, env = 'development') {
  const version = within(env, () => versionOf('views', 'layout.ejs', { root }))
  const site = await openRoute(t, ctx => void (ctx.body = version()))
  return async () => (await site.get()).body
}

for (const env of ['development', '', undefined]) {
  test(`HLT-12a an edited template is a 200 where NODE_ENV is ${env}`, async t => {
    const root = makeProject(t, VIEWS)
    const version = within(env, () => versionOf('views', { root }))
    const site = await openRoute(t, ctx => ctx.fresh('x'), { version })
    const { etag = '' } = (await site.get()).headers
    t.regex(etag, /^"x-[0-9a-f]{16}"$/)
    t.is((await site.get({ 'if-none-match': etag })).status, 304)
    writeFiles(root, { 'views/books/index.ejs': 'edited' })
    const edited = await site.get({ 'if-none-match': etag })
    t.not(edited.status, 304)
    t.not(edited.headers.etag, etag)
    writeFiles(root, { 'views/books/index.ejs': 'index' })
    t.is((await site.get({ 'if-none-match': etag })).status, 304)
  })
}

test('HLT-12a it can be combined with another version, and with a date', async t => {
  const root = makeProject(t, VIEWS)
  const views = within('development', () => versionOf('views', { root }))
  const date = new Date(0)
  const version = () => `1${views()}`
  const site = await openRoute(t, ctx => ctx.fresh(date), { version })
  const { etag = '' } = (await site.get()).headers
  t.is((await site.get({ 'if-none-match': etag })).status, 304)
  writeFiles(root, { 'views/page.ejs': 'edit' })
  const headers = { 'if-none-match': etag, 'if-modified-since': date.toUTCString() }
  t.not((await site.get(headers)).status, 304)
})

test('HLT-12a in production it is read once', async t => {
  const root = makeProject(t, VIEWS)
  const version = within('production', () => versionOf('views', { root }))
  const app = new Koa()
  app.use(koaHttpCache({ version }))
  app.use(koaHttpCache({ version }))
  app.use(ctx => ctx.fresh('x'))
  const site = await open(t, app)
  const { etag = '' } = (await site.get()).headers
  writeFiles(root, { 'views/page.ejs': 'edited' })
  t.is((await site.get({ 'if-none-match': etag })).status, 304)
  rmSync(join(root, 'views'), { recursive: true })
  t.is((await site.get({ 'if-none-match': etag })).status, 304)
  t.deepEqual(site.errors, [])
})

test('HLT-12a every change of the bytes and names is seen by the next request', async t => {
  const root = makeProject(t, VIEWS)
  const version = await versions(t, root)
  const seen = new Set([await version()])
  const changes: Record<string, () => void> = {
    edited: () => writeFiles(root, { 'views/page.ejs': 'PAGE' }),
    'edited with its mtime set back': () => {
      const { atime, mtime } = statSync(join(root, 'views/page.ejs'))
      writeFiles(root, { 'views/page.ejs': 'Page' })
      utimesSync(join(root, 'views/page.ejs'), atime, mtime)
    },
    'a file that was named': () => writeFiles(root, { 'layout.ejs': 'another' }),
    added: () => writeFiles(root, { 'views/new/_partial.ejs': 'page' }),
    renamed: () => renameSync(join(root, 'views/new'), join(root, 'views/old')),
    removed: () => rmSync(join(root, 'views/old'), { recursive: true }),
    'all gone': () => rmSync(join(root, 'views'), { recursive: true })
  }
  for (const [name, change] of Object.entries(changes)) {
    change()
    const now = await version()
    t.is(await version(), now)
    if (name === 'removed') t.true(seen.has(now), 'as before it was added')
    else t.false(seen.has(now), name)
    seen.add(now)
  }
})

test('HLT-12a many edits at once: no request sees a version older than itself', async t => {
  const root = makeProject(t, VIEWS)
  const version = await versions(t, root)
  const before = await version()
  const old = [version(), version(), version()]
  writeFiles(root, { 'views/page.ejs': 'PAGE' })
  const after = await Promise.all([version(), version(), version()])
  t.is(new Set(after).size, 1)
  t.not(after[0], before)
  // Those were on their way.
  for (const each of await Promise.all(old)) t.true(each === before || each === after[0])
})

test('HLT-12a the same files have the same version, wherever and whenever they were written', async t => {
  let seconds = 0
  const write = async (files: Files, env = 'development') => {
    const root = makeProject(t, files)
    utimesSync(join(root, 'layout.ejs'), 1, ++seconds)
    return (await versions(t, root, env))()
  }
  const version = await write(VIEWS)
  t.regex(version, /^[0-9a-f]{32}$/)
  t.is(await write(VIEWS), version)
  t.is(await write(VIEWS, 'production'), version)
  const leftovers = { 'views/.page.ejs.swp': 'x', 'views/page.ejs~': 'x', 'views/.git/config': 'x' }
  t.is(await write({ ...VIEWS, ...leftovers }), version)
  t.not(await write({ ...VIEWS, 'views/another.ejs': '' }), version)
})

test('HLT-12a links are followed, also in a cycle', async t => {
  const root = makeProject(t, { ...VIEWS, 'shared/part.ejs': 'part' })
  symlinkSync('..', join(root, 'views/books/up'))
  symlinkSync(join(root, 'shared'), join(root, 'views/shared'))
  symlinkSync('nowhere', join(root, 'views/dangling'))
  const version = await versions(t, root)
  const before = await version()
  t.is(await version(), before)
  writeFiles(root, { 'shared/part.ejs': 'edited' })
  t.not(await version(), before)
  t.is(readFileSync(join(root, 'views/shared/part.ejs'), 'utf8'), 'edited')
})

test('versionOf starts at the current directory', async t => {
  const version = within('production', () => versionOf('package.json'))
  t.throws(version, {
    message: /package\.json has not been read yet: call it in a route behind koaHttpCache/
  })
  const site = await openRoute(t, ctx => void (ctx.body = version()))
  t.regex((await site.get()).body, /^[0-9a-f]{32}$/)
})

test('versionOf rejects missing files and wrong arguments at start', t => {
  const root = makeProject(t)
  const missing = /^versionOf: .*views does not exist; relative names start at /
  t.throws(() => versionOf('views', { root }), { message: missing })
  const wrong = /^the arguments of versionOf must be files and directories, such as 'views', got /
  for (const args of [[], [{ root }], [7], [''], ['views', 7], [['views']]]) {
    t.throws(() => versionOf(...(args as unknown as ['views'])), {
      instanceOf: TypeError,
      message: wrong
    })
  }
  t.throws(() => versionOf('views', { rot: root } as never), {
    message: /^unknown option 'rot': did you mean 'root'\?$/
  })
  t.throws(() => versionOf('views', { root: 7 as never }), {
    message: /^root must be a string, got 7$/
  })
})
