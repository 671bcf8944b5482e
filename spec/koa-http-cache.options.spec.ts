// The options of koaHttpCache, versionOf, and what is reported in development.
import { renameSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import Koa, { type Middleware } from 'koa'
import { DIGEST_PATTERN } from '../lib/runtime/files/digest.ts'
import { koaHttpCache, versionOf } from '../lib/index.ts'
import { type HttpCacheOptions } from '../lib/koa-http-cache.ts'
import { open, type Headers } from './support/cached-site.ts'
import { makeProject, test, within, writeFiles, type ExecutionContext } from './support/index.ts'
import type { Files } from './support/index.ts'

const DATE = new Date('2020-01-01T00:00:00.789Z')
const HTTP_DATE = 'Wed, 01 Jan 2020 00:00:00 GMT'

const page: Koa.Middleware = async ctx => {
  await ctx.fresh('x')
  ctx.body = 'page'
}

function siteOf(t: ExecutionContext, options: HttpCacheOptions, ...behind: readonly Middleware[]) {
  const app = new Koa().use(koaHttpCache(options))
  for (const each of behind) app.use(each)
  return open(t, app)
}

test('another version makes another ETag, unless it is empty', async t => {
  let version: string | undefined = '1'
  const site = await siteOf(t, { version: () => version }, async ctx => {
    await ctx.fresh(ctx.path === '/dated' ? DATE : { etag: 'x', weak: ctx.path === '/weak' })
    ctx.body = 'page'
  })
  for (const path of ['/', '/weak', '/dated']) {
    version = '1'
    const { etag = '' } = (await site.get({}, path)).headers
    t.is((await site.get({ 'if-none-match': etag }, path)).status, 304, path)
    version = '2'
    const next = await site.get({ 'if-none-match': etag, 'if-modified-since': HTTP_DATE }, path)
    t.is(next.status, 200, path)
    t.not(next.headers.etag, etag)
  }
  for (version of ['', undefined]) {
    t.is((await site.get()).headers.etag, '"x"')
    const { headers } = await site.get({}, '/dated')
    t.deepEqual([headers.etag, headers['last-modified']], [undefined, HTTP_DATE])
  }
  t.deepEqual(site.errors, [])
})

test('an edit of an unchanged resource is not refused because of a new version', async t => {
  let [version, state] = ['1', 'x-7'] as [string, string | Date | null]
  const site = await siteOf(t, { version: () => version, trace: true }, async ctx => {
    await ctx.fresh(state)
    ctx.body = 'page'
  })
  for (const [before, edited] of [
    ['x-0123456789abcdef', 'x-fedcba9876543210'],
    [DATE, new Date(DATE.getTime() + 1000)]
  ] as const) {
    ;[version, state] = ['1', before]
    const { etag = '', 'last-modified': date = HTTP_DATE } = (await site.get()).headers
    version = '2'
    const isRefused = async (method: string, headers: Record<string, string>) =>
      (await site.ask(method, headers)).status === 412
    for (const list of [etag, `"y", ${etag}`, etag.slice(1, -1)]) {
      t.false(await isRefused('PUT', { 'if-match': list }), list)
      t.true(await isRefused('PUT', { 'if-none-match': list }), list)
    }
    t.false(await isRefused('DELETE', { 'if-unmodified-since': date }))
    for (const method of ['GET', 'HEAD', 'QUERY']) {
      t.true(await isRefused(method, { 'if-match': etag }), method)
      t.not((await site.ask(method, { 'if-none-match': etag })).status, 304, method)
    }
    state = edited
    const failed = await site.ask('PUT', { 'if-match': etag })
    t.is(failed.headers['x-http-cache'], '412: If-Match does not name the ETag')
    t.is(failed.headers.etag, (await site.get()).headers.etag)
    if (before === DATE) t.true(await isRefused('PUT', { 'if-unmodified-since': date }))
  }
  state = null
  t.is((await site.ask('PUT', { 'if-match': '*' })).status, 412)
})

test('a version that is not a string is an error of the route', async t => {
  for (const wrong of [7, null, Promise.resolve('1')]) {
    const site = await siteOf(t, { version: () => wrong as never }, ctx => ctx.fresh('x'))
    t.is((await site.get()).status, 500)
    t.regex(site.errors[0]?.message ?? '', /version\(ctx\) must be a string or undefined, got/)
  }
})

test('autoEtag responds 304 and 412 for text, bytes and JSON, by an ETag of the content', async t => {
  for (const body of ['page', Buffer.from('page'), { page: true }]) {
    const site = await siteOf(t, { autoEtag: true }, ctx => void (ctx.body = body))
    for (const method of ['GET', 'QUERY']) {
      const { status, headers } = await site.ask(method)
      t.is(status, 200)
      t.regex(headers.etag ?? '', new RegExp(`^W/"${DIGEST_PATTERN}"$`))
      const again = await site.ask(method, { 'if-none-match': headers.etag ?? '' })
      t.deepEqual([again.status, again.headers.etag, again.body], [304, headers.etag, ''])
      t.is(again.headers['content-type'], undefined)
      t.is((await site.ask(method, { 'if-match': '"y"' })).status, 412)
    }
  }
})

test('autoEtag adds an ETag only where ctx.fresh was given no date', async t => {
  const site = await siteOf(t, { autoEtag: true }, async ctx => {
    await ctx.fresh(ctx.path === '/null' ? null : DATE)
    ctx.body = 'page'
  })
  for (const condition of [{}, { 'if-modified-since': HTTP_DATE }]) {
    const { status, headers } = await site.get(condition)
    t.is(status, 'if-modified-since' in condition ? 304 : 200)
    t.deepEqual([headers.etag, headers['last-modified']], [undefined, HTTP_DATE])
  }
  const { etag = '' } = (await site.get({}, '/null')).headers
  t.regex(etag, /^W\//)
  t.is((await site.get({ 'if-none-match': etag }, '/null')).status, 304)
})

test('autoEtag leaves streams, empty content, other statuses and methods, and existing ETags alone', async t => {
  const bodies: Record<string, () => unknown> = {
    '/stream': () => Readable.from(['page']),
    '/blob': () => new Blob(['page']),
    '/web-stream': () => new Blob(['page']).stream(),
    '/response': () => new Response('page'),
    '/empty': () => null,
    '/empty-200': () => null,
    '/201': () => 'page',
    '/tagged': () => 'page'
  }
  const site = await siteOf(t, { autoEtag: true }, ctx => {
    // The ETag of GET is not known.
    if (ctx.method === 'HEAD') ctx.body = ''
    else ctx.body = ctx.path in bodies ? bodies[ctx.path]?.() : 'page'
    if (ctx.path === '/tagged') ctx.set('ETag', '"own"')
    if (/\d$/.test(ctx.path)) ctx.status = Number(ctx.path.slice(-3))
  })
  for (const path of Object.keys(bodies)) {
    const { headers, body } = await site.get({}, path)
    t.is(headers.etag, path === '/tagged' ? '"own"' : undefined, path)
    t.is(body, path.startsWith('/empty') ? '' : 'page')
  }
  for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])
    t.is((await site.ask(method)).headers.etag, undefined, method)
  t.regex((await site.get()).headers.etag ?? '', /^W\//)
})

const VIEWS = { 'views/page.ejs': 'page', 'views/books/index.ejs': 'index', 'layout.ejs': 'layout' }

/** The version that a route sees. */
async function versions(t: ExecutionContext, root: string, env: string | undefined) {
  const version = within(env, () => versionOf('views', 'layout.ejs', { root }))
  const site = await siteOf(t, {}, ctx => void (ctx.body = version()))
  return async () => (await site.get()).body
}

test('in production versionOf reads its files once', async t => {
  const root = makeProject(t, VIEWS)
  const version = within('production', () => versionOf('views', { root }))
  const site = await siteOf(t, { version }, koaHttpCache({ version }), page)
  const { etag = '' } = (await site.get()).headers
  t.regex(etag, /^"x-[0-9a-f]{16}"$/)
  writeFiles(root, { 'views/page.ejs': 'edited' })
  t.is((await site.get({ 'if-none-match': etag })).status, 304)
  rmSync(join(root, 'views'), { recursive: true })
  t.is((await site.get({ 'if-none-match': etag })).status, 304)
  t.deepEqual(site.errors, [])
})

for (const env of ['development', '', undefined]) {
  test(`with NODE_ENV '${env}' versionOf sees every change of bytes and names`, async t => {
    const root = makeProject(t, VIEWS)
    const version = await versions(t, root, env)
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
      // As before it was added.
      t.is(seen.has(now), name === 'removed', name)
      seen.add(now)
    }
  })
}

test('the same files have the same version, wherever and whenever they were written', async t => {
  let seconds = 0
  const write = async (files: Files, env = 'development') => {
    const root = makeProject(t, files)
    utimesSync(join(root, 'layout.ejs'), 1, ++seconds)
    return (await versions(t, root, env))()
  }
  const version = await write(VIEWS)
  t.regex(version, new RegExp(`^${DIGEST_PATTERN}$`))
  t.is(await write(VIEWS), version)
  t.is(await write(VIEWS, 'production'), version)
  const leftovers = { 'views/.page.ejs.swp': 'x', 'views/page.ejs~': 'x', 'views/.git/config': 'x' }
  t.is(await write({ ...VIEWS, ...leftovers }), version)
  t.not(await write({ ...VIEWS, 'views/another.ejs': '' }), version)
})

test('versionOf follows links, also in a cycle', async t => {
  const root = makeProject(t, { ...VIEWS, 'shared/part.ejs': 'part' })
  symlinkSync('..', join(root, 'views/books/up'))
  symlinkSync(join(root, 'shared'), join(root, 'views/shared'))
  symlinkSync('nowhere', join(root, 'views/dangling'))
  const version = await versions(t, root, 'development')
  const before = await version()
  t.is(await version(), before)
  writeFiles(root, { 'shared/part.ejs': 'edited' })
  t.not(await version(), before)
})

test('versionOf rejects missing files and wrong arguments at start', t => {
  const root = makeProject(t)
  const missing = /^versionOf: .*views does not exist; relative names start at /
  t.throws(() => versionOf('views', { root }), { message: missing })
  const rejects = (message: RegExp, ...args: readonly unknown[]) =>
    t.throws(() => versionOf(...(args as ['views'])), { instanceOf: TypeError, message })
  const files = /^the arguments of versionOf must be files and directories, such as 'views', got /
  for (const args of [[], [{ root }], [7], [''], ['views', 7], [['views']]]) rejects(files, ...args)
  rejects(/^unknown option 'rot': did you mean 'root'\?$/, 'views', { rot: root })
  rejects(/^root must be a non-empty string without NUL, got 7$/, 'views', { root: 7 })
})

// Validators that nobody gave to ctx.fresh: of a route, of a middleware behind, and of the content.

const COMPARED_DATE = 'Wed, 01 May 2024 10:00:00 GMT'
const EARLIER = 'Wed, 01 May 2024 09:59:59 GMT'
const VALIDATORS = { ETag: '"v1"', 'Last-Modified': COMPARED_DATE }
const HAS_V1 = { 'if-none-match': '"v1"' }

const assigning: Middleware = ctx => {
  ctx.etag = 'v1'
  ctx.lastModified = new Date(COMPARED_DATE)
  ctx.body = 'page'
}

/** Each sets the tag "v1" and the date in another way. */
const WAYS: Readonly<Record<string, Middleware>> = {
  'ctx.etag and ctx.lastModified': assigning,
  'fields of a response that was passed on': ctx => {
    ctx.set(VALIDATORS)
    ctx.status = 203
    ctx.body = Readable.from(['page'])
  },
  'Node’s own response': ctx => {
    for (const [name, value] of Object.entries(VALIDATORS)) ctx.res.setHeader(name, value)
    ctx.status = 204
  },
  'a web stream': ctx => {
    ctx.body = new Response('page', { headers: VALIDATORS })
  },
  'a part': ctx => {
    ctx.set({ ...VALIDATORS, 'Content-Range': 'bytes 0-3/8' })
    ctx.body = 'page'
    ctx.status = 206
  }
}

for (const [way, route] of Object.entries(WAYS)) {
  test(`with autoEtag a route’s own validators are compared: ${way}`, async t => {
    const site = await siteOf(t, { autoEtag: true }, route)
    const { status: ok, headers } = await site.get()
    t.deepEqual([headers.etag, headers['last-modified']], ['"v1"', COMPARED_DATE])
    t.is(Math.trunc(ok / 100), 2)
    // How lists and weak tags are compared is in spec/runtime/http/preconditions.spec.ts.
    for (const [conditions, expected] of [
      [HAS_V1, 304],
      [{ 'if-none-match': '"v2"', 'if-modified-since': COMPARED_DATE }, ok],
      [{ 'if-modified-since': COMPARED_DATE }, 304],
      [{ 'if-modified-since': EARLIER }, ok],
      [{ 'if-match': '"v1"' }, ok],
      [{ ...HAS_V1, 'if-match': '"v2"' }, 412],
      [{ 'if-unmodified-since': COMPARED_DATE }, ok],
      [{ 'if-unmodified-since': EARLIER }, 412]
    ] as readonly (readonly [Headers, number])[]) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await site.ask(method, conditions)
        t.is(answer.status, expected, `${method} ${JSON.stringify(conditions)}`)
        t.deepEqual([answer.headers.etag, answer.headers['last-modified']], ['"v1"', COMPARED_DATE])
        if (expected === 304)
          t.deepEqual([answer.body, answer.headers['content-type']], ['', undefined])
        if (expected === 412) t.is(answer.headers['cache-control'], 'no-store')
      }
    }
    t.is((await site.ask('POST', HAS_V1)).status, ok, 'only what reads')
    t.deepEqual(site.errors, [])
  })
}

test('with autoEtag a route’s weak ETag matches If-None-Match alone, and only if the route succeeds', async t => {
  const route: Middleware = ctx => {
    ctx.etag = 'W/"v1"'
    ctx.body = 'page'
    if (ctx.path !== '/') ctx.status = Number(ctx.path.slice(1))
  }
  const site = await siteOf(t, { autoEtag: true }, route)
  t.is((await site.get(HAS_V1)).status, 304)
  t.is((await site.get({ 'if-match': '"v1"' })).status, 412)
  for (const status of [302, 404, 503]) t.is((await site.get(HAS_V1, `/${status}`)).status, status)
  const without = await siteOf(t, {}, route)
  const { status, headers, body } = await without.get({ ...HAS_V1, 'if-match': '"v2"' })
  t.deepEqual([status, headers.etag, body], [200, 'W/"v1"', 'page'])
})

test('autoEtag compares nothing a second time, after ctx.fresh or an inner koaHttpCache', async t => {
  const site = await siteOf(t, { autoEtag: true }, async ctx => {
    await ctx.fresh('v1', { halt: false })
    if (ctx.path === '/changed') ctx.etag = 'v2'
    ctx.body = 'page'
  })
  t.is((await site.get(HAS_V1)).status, 200, 'the route has its own response')
  t.is((await site.get({ 'if-none-match': '"v2"' }, '/changed')).status, 200)
  const outer = { autoEtag: true, ifModifiedSince: 'before' } as const
  const nested = await siteOf(t, outer, koaHttpCache({ autoEtag: true }), assigning)
  const later = { 'if-modified-since': 'Thu, 02 May 2024 10:00:00 GMT' }
  t.is((await nested.get(later)).status, 200, 'by the options of the inner one')
})

test('with autoEtag a route’s own date in the future, or before 1990, is not sent', async t => {
  let date = ''
  const site = await siteOf(t, { autoEtag: true, ifModifiedSince: 'before' }, ctx => {
    ctx.set('Last-Modified', date)
    ctx.body = Readable.from(['page'])
  })
  for (const time of [Date.now() + 60_000, Date.UTC(1985, 9, 26)]) {
    date = new Date(time).toUTCString()
    for (const since of [date, COMPARED_DATE]) {
      const { status, headers } = await site.get({ 'if-modified-since': since })
      t.deepEqual([status, headers['last-modified']], [200, undefined])
    }
    t.is((await site.get({ 'if-unmodified-since': COMPARED_DATE })).status, 200)
  }
})
