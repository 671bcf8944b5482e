import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Middleware } from 'koa'
import Koa2 from 'koa2'
import { koaHttpCache, type SendFileOptions } from '../../../lib/index.ts'
import { makeSite, test, withDigest, type ExecutionContext } from '../../support/index.ts'
import type { Files, SiteOptions } from '../../support/index.ts'

const PDF = 'the bytes of a report'
const LARGE = Buffer.alloc(2 * 1024 * 1024, 'film')

interface Sending extends SiteOptions {
  readonly send?: Partial<SendFileOptions>
}

/** A site whose route sends the file that the query names, from `data`. */
function makeSender(t: ExecutionContext, files: Files, { send, ...options }: Sending = {}) {
  const placed = Object.entries(files).map(([path, content]) => [`/data/${path}`, content])
  return makeSite(t, Object.fromEntries(placed), {
    env: 'production',
    fingerprint: false,
    routes: ctx => ctx.sendFile(String(ctx.query['file']), { root: 'data', ...send }),
    ...options
  })
}

/** What Koa's own log passes over. */
const isNotFound = (error: Error) => 'status' in error && error.status === 404

const asked = (file: string) => `/download?file=${encodeURIComponent(file)}`

test('ctx.sendFile sends the whole file with a status that the route has set', async t => {
  const routes: Middleware = ctx => {
    ctx.status = 410
    return ctx.sendFile('gone.html', { root: 'data' })
  }
  for (const bytes of [Buffer.from(PDF), LARGE]) {
    const site = await makeSender(t, { 'gone.html': bytes }, { routes })
    const first = await site.ask('/')
    const headers = { range: 'bytes=0-3', 'if-none-match': String(first.headers['etag']) }
    const page = await site.ask('/', { headers })
    t.is(page.status, 410)
    t.true(page.bytes.equals(bytes))
    const head = await site.ask('/', { method: 'HEAD', headers })
    t.is(head.status, 410)
    t.is(head.headers['content-length'], String(bytes.length))
  }
})

test('ctx.sendFile sends the whole file in response to a PUT or POST, whatever its conditions', async t => {
  const site = await makeSender(t, { 'a.pdf': PDF })
  const { etag } = (await site.ask(asked('a.pdf'))).headers
  for (const method of ['PUT', 'POST', 'PATCH', 'DELETE'])
    for (const headers of [
      { 'if-match': '"before"' },
      { 'if-none-match': '*' },
      { 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT', range: 'bytes=0-3' }
    ]) {
      const { status, text, headers: sent } = await site.ask(asked('a.pdf'), { method, headers })
      t.deepEqual([status, text, sent.etag], [200, PDF, etag], method)
    }
})

test('ctx.sendFile sends a file below its root whether or not koaAssets serves it', async t => {
  const site = await makeSender(t, { 'a.txt': PDF }, { serve: false })
  const { text, headers } = await site.ask(asked('a.txt'))
  t.deepEqual([text, headers['content-type']], [PDF, 'text/plain; charset=utf-8'])
  const mounted = await makeSender(t, { 'a.txt': PDF }, { public: 'data' })
  t.is((await mounted.ask('/a.txt')).headers['cache-control'], 'public, max-age=0, must-revalidate')
  t.is((await mounted.ask(asked('a.txt'))).headers['cache-control'], 'private, no-cache')
  t.is((await mounted.ask('/a.txt')).headers['cache-control'], 'public, max-age=0, must-revalidate')
})

const REFUSED = [
  ...['../secret.txt', '..', '.', '', 'sub/../../secret.txt', './a.txt', 'sub//a.txt', 'a.txt/'],
  ...['/etc/passwd', '//a.txt', '/', '/../secret.txt', '/sub/../a.txt', '/.env', '/out.txt'],
  ...['%2e%2e/secret.txt', '..%2fsecret.txt', 'a.txt\0', '\0', '..\\secret.txt'],
  ...['C:/secret.txt', 'C:secret.txt', 'CON', 'aux.txt', 'a.txt::$DATA', 'a.txt.', 'a.txt '],
  ...['.env', 'sub/.env', '.well-known/x', 'out.txt', 'outside/secret.txt', 'sub', 'fifo'],
  ...['none.txt', 'none/none.txt', 'a.txt/b', 'x'.repeat(64 * 1024), `${'x/'.repeat(8 * 1024)}x`]
]

test('a path that leads out, is hidden or is not a file is a 404 like any missing file', async t => {
  const hidden = { '.env': 'secret', 'sub/.env': 'secret', '.well-known/x': 'x' }
  // A path of 64 KiB is longer than a header may be.
  const asking: string[] = []
  const routes: Middleware = ctx => ctx.sendFile(asking.at(-1) ?? '', { root: 'data' })
  const site = await makeSender(t, { 'a.txt': PDF, 'sub/a.txt': PDF, ...hidden }, { routes })
  const at = (path: string) => join(site.root, path)
  writeFileSync(at('secret.txt'), 'secret')
  mkdirSync(at('outside'))
  writeFileSync(at('outside/secret.txt'), 'secret')
  symlinkSync(at('secret.txt'), at('data/out.txt'))
  symlinkSync(at('outside'), at('data/outside'))
  execFileSync('mkfifo', [at('data/fifo')])
  const send = (file: string) => {
    asking.push(file)
    return site.ask('/download')
  }
  t.is((await send('sub/a.txt')).text, PDF)
  t.is((await send('/sub/a.txt')).text, PDF, 'the same file in root')
  const missing = await send('none.txt')
  t.is(missing.status, 404)
  for (const file of [...REFUSED, at('secret.txt'), at('data/a.txt')]) {
    const answer = await send(file)
    const told = [answer.status, answer.text, answer.headers['content-type']]
    t.deepEqual(told, [404, 'Not Found', 'text/plain; charset=utf-8'], file.slice(0, 40))
    t.deepEqual(Object.keys(answer.headers).toSorted(), Object.keys(missing.headers).toSorted())
  }
  t.true(site.errors.every(isNotFound))
})

test('a missing file is an error with status 404 that the route can catch', async t => {
  const routes: Middleware = async ctx => {
    try {
      await ctx.sendFile('none.pdf', { root: 'data', download: true, cacheControl: 'public' })
    } catch (error) {
      const { status, expose } = error as { status: number; expose: boolean }
      ctx.body = { status, expose, fields: Object.keys(ctx.response.headers) }
    }
  }
  const site = await makeSender(t, {}, { routes })
  t.deepEqual(JSON.parse((await site.ask('/')).text), { status: 404, expose: true, fields: [] })
})

const DISPOSITIONS: [download: boolean | string, expected: string | undefined][] = [
  [false, undefined],
  [true, 'attachment; filename="a.txt"'],
  ['Größe 1.pdf', `attachment; filename="Gr__e 1.pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%201.pdf`],
  ['a"b.txt', 'attachment; filename="a\\"b.txt"'],
  ['..\\c.txt', 'attachment; filename="c.txt"'],
  ['../../etc/passwd', 'attachment; filename="passwd"'],
  ['a\r\nSet-Cookie: x', 'attachment; filename="a__Set-Cookie: x"'],
  ['😀.txt', `attachment; filename="_.txt"; filename*=UTF-8''%F0%9F%98%80.txt`],
  ['a\uD83D.txt', 'attachment; filename="a_.txt"'],
  ['a\0b.txt', 'attachment; filename="a_b.txt"'],
  ['', 'attachment'],
  ['/', 'attachment']
]

test('download says under which name the browser saves the file', async t => {
  const routes: Middleware = ctx => {
    const download = DISPOSITIONS[Number(ctx.path.slice(1))]?.[0]
    return ctx.sendFile('/sub/a.txt', { root: 'data', download })
  }
  const site = await makeSender(t, { 'sub/a.txt': PDF }, { routes })
  for (const [at, [download, expected]] of DISPOSITIONS.entries()) {
    const { status, headers } = await site.ask(`/${at}`)
    t.deepEqual([status, headers['content-disposition']], [200, expected], String(download))
    t.is(headers['set-cookie'], undefined)
  }
})

test('a type that the route has set stays, unless the option gives another', async t => {
  const page = '<script>alert(1)</script>'
  const files = { 'evil.html': page, 'large.html': Buffer.alloc(2 * 1024 * 1024, page) }
  const routes: Middleware = ctx => {
    ctx.type = 'application/octet-stream'
    const type = ctx.path === '/typed' ? 'text/plain' : undefined
    return ctx.sendFile(String(ctx.query['file']), { root: 'data', type })
  }
  const site = await makeSender(t, files, { koa: Koa2, routes })
  for (const file of ['evil.html', 'large.html']) {
    const { headers: sent } = await site.ask(asked(file), { method: 'HEAD' })
    for (const [headers, status, type] of [
      [{}, 200, 'application/octet-stream'],
      [{ range: 'bytes=0-3' }, 206, 'application/octet-stream'],
      [{ 'if-none-match': String(sent['etag']) }, 304, undefined]
    ] as const) {
      const answer = await site.ask(asked(file), { headers })
      t.deepEqual([answer.status, answer.headers['content-type']], [status, type])
    }
    t.is((await site.ask(`/typed?file=${file}`)).headers['content-type'], 'text/plain')
  }
  t.deepEqual(site.errors, [])
})

test('ctx.sendFile respects what the route has said with ctx.cacheControl and ctx.fresh', async t => {
  let version = 'a'
  const cache = koaHttpCache({ cacheControl: 'public', autoEtag: true })
  const routes: Middleware = ctx =>
    cache(ctx, async () => {
      if (ctx.path === '/said') ctx.cacheControl('private', { maxAge: 60 })
      if (ctx.path === '/fresh') await ctx.fresh(version)
      await ctx.sendFile('a.pdf', { root: 'data', cacheControl: 'no-store' })
    })
  const { root, ask } = await makeSender(t, { 'a.pdf': PDF }, { routes })
  t.is((await ask('/silent')).headers['cache-control'], 'no-store')
  const said = await ask('/said')
  t.is(said.headers['cache-control'], 'private, max-age=60')
  t.regex(String(said.headers['etag']), withDigest(/^"DIGEST"$/))
  const headers = { 'if-none-match': '"a"' }
  t.is((await ask('/fresh', { headers })).status, 304)
  version = 'b'
  rmSync(join(root, 'data/a.pdf'))
  t.is((await ask('/fresh', { headers })).status, 404)
})

test('the options of ctx.sendFile set type, caching and date, also with an Authorization', async t => {
  const lastModified = new Date('2020-02-02T02:02:02.345Z')
  const send = { type: 'text/x-log', cacheControl: 'public, max-age=60', lastModified }
  const site = await makeSender(t, { 'a.bin': PDF, 'b.bin': LARGE }, { send })
  for (const file of ['a.bin', 'b.bin']) {
    const authorized = { headers: { authorization: 'Basic YTpi' } }
    const { status, headers } = await site.ask(asked(file), authorized)
    t.is(status, 200)
    t.is(headers['content-type'], 'text/x-log')
    t.is(headers['cache-control'], 'public, max-age=60')
    t.is(headers['last-modified'], 'Sun, 02 Feb 2020 02:02:02 GMT')
    const since = { 'if-modified-since': 'Sun, 02 Feb 2020 02:02:02 GMT' }
    const unchanged = await site.ask(asked(file), { headers: since })
    t.is(unchanged.status, 304)
    t.is(unchanged.headers['last-modified'], 'Sun, 02 Feb 2020 02:02:02 GMT')
    t.is(unchanged.headers['content-type'], undefined)
    const part = await site.ask(asked(file), { headers: { range: 'bytes=4-8' } })
    t.is(part.headers['content-type'], 'text/x-log')
    t.is(part.text, file === 'a.bin' ? 'bytes' : 'filmf')
  }
  const sendUndated = { lastModified: false, immutable: true } as const
  const undated = await makeSender(t, { 'a.bin': PDF }, { send: sendUndated })
  const { headers } = await undated.ask(asked('a.bin'))
  t.is(headers['last-modified'], undefined)
  t.is(headers['cache-control'], 'private, max-age=31536000, immutable')
})
