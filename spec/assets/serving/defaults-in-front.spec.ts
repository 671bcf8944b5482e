// Fields that a middleware in front set for its own body, before a file is sent: NBR-03.
import { createServer as createHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import type { Middleware } from 'koa'
import { askHttp2 } from '../../support/ask.ts'
import { ask } from '../../support/raw.ts'
import { makeSite, type Site, type SiteOptions } from '../../support/site.ts'

const DEFAULT = {
  'Content-Type': 'text/x-default',
  'Content-Language': 'x-default',
  'Content-Encoding': 'x-default',
  'Content-Range': 'bytes 0-1/9999',
  'Content-Length': '9999',
  ETag: '"default"',
  'Last-Modified': 'Sat, 01 Jan 2000 00:00:00 GMT'
}

/** A page for every other path. */
const defaultPage: Middleware = (ctx, next) => {
  ctx.status = 404
  ctx.body = 'no such page'
  ctx.set(DEFAULT)
  ctx.set({ 'X-Frame-Options': 'DENY', 'Content-Disposition': 'inline' })
  return next()
}

/** A status alone: Koa writes its reason phrase down at once. */
const notFoundFirst: Middleware = (ctx, next) => {
  ctx.status = 404
  return next()
}

const TEXT = '0123456789'

const CASES: ReadonlyArray<
  readonly [line: string, headers: (etag: string) => Readonly<Record<string, string>>]
> = [
  ['200 OK', () => ({})],
  ['206 Partial Content', () => ({ Range: 'bytes=0-3' })],
  ['304 Not Modified', etag => ({ 'If-None-Match': etag })],
  ['412 Precondition Failed', () => ({ 'If-Match': '"another"' })],
  ['416 Range Not Satisfiable', () => ({ Range: 'bytes=100-' })]
]

// The epoch stands for "unknown": no Last-Modified of ours takes the place of the default's.
const makeFile = async (t: ExecutionContext, options: SiteOptions) => {
  const site = await makeSite(t, {}, { env: 'production', fingerprint: false, ...options })
  site.write('/public/a.txt', TEXT, 0)
  return site
}

async function etagOf({ port }: Site): Promise<string> {
  return (await ask(port, 'GET', '/a.txt')).headers['etag'] ?? ''
}

for (const [way, options] of [
  ['from memory', {}],
  ['streamed', { memory: { maxFileBytes: 0 } }]
] as const) {
  for (const [line, headersFor] of CASES) {
    test(`NBR-03 a default body in front leaves no trace on ${line}, ${way}`, async t => {
      const site = await makeFile(t, { ...options, front: defaultPage })
      const etag = await etagOf(site)
      t.regex(etag, /^"[^"]+"$/)
      for (const method of line.startsWith('2') ? ['GET'] : ['GET', 'HEAD']) {
        if (method === 'HEAD' && line.startsWith('416')) continue
        const response = await ask(site.port, method, '/a.txt', headersFor(etag))
        t.is(response.statusLine, `HTTP/1.1 ${line}`)
        for (const [name, value] of Object.entries(DEFAULT)) {
          t.not(response.headers[name.toLowerCase()], value, name)
        }
        t.is(response.headers['x-frame-options'], 'DENY')
        t.is(response.headers['content-disposition'], 'inline')
        t.false(response.text.includes('no such page'))
      }
      t.deepEqual(site.errors, [])
    })

    test(`NBR-03 a status in front leaves no reason phrase on ${line}, ${way}`, async t => {
      const site = await makeFile(t, { ...options, front: notFoundFirst })
      const bare = await makeFile(t, options)
      const response = await ask(site.port, 'GET', '/a.txt', headersFor(await etagOf(site)))
      const expected = await ask(bare.port, 'GET', '/a.txt', headersFor(await etagOf(bare)))
      t.is(response.statusLine, `HTTP/1.1 ${line}`)
      t.deepEqual(Object.keys(response.headers), Object.keys(expected.headers))
    })
  }

  test(`NBR-03 ANS-08 a 304 has no content fields at all, over HTTP/1 and HTTP/2, ${way}`, async t => {
    const site = await makeFile(t, { ...options, front: defaultPage })
    const handle = site.app.callback()
    const server = createHttp2((req, res) => void handle(req, res))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const headers = { 'If-None-Match': await etagOf(site) }
    for (const response of [
      await ask(site.port, 'GET', '/a.txt', headers),
      await askHttp2(port, '/a.txt', { headers })
    ]) {
      t.is(response.status, 304)
      const content = Object.keys(response.headers).filter(name => /^content-(?!disp)/.test(name))
      t.deepEqual([content, response.headers['last-modified']], [[], undefined])
    }
    t.deepEqual(site.errors, [])
  })
}
