import { once } from 'node:events'
import {
  connect,
  constants,
  createServer,
  type ClientHttp2Stream,
  type IncomingHttpHeaders
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { askHttp2, type Question } from '../../support/ask.ts'
import { makeSite, type Files, type SiteOptions } from '../../support/site.ts'
import { WAYS } from '../../support/ways.ts'

async function makeHttp2Site(t: ExecutionContext, options: SiteOptions = {}, more: Files = {}) {
  const files = { 'stylesheets/a.css': 'a { color: red }', '/public/empty.txt': '', ...more }
  const { app, errors } = await makeSite(t, files, options)
  const handle = app.callback()
  const server = createServer((req, res) => void handle(req, res))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const ask = (path: string, question?: Question) => askHttp2(port, path, question)
  return { errors, ask, port }
}

/**
 * A site with a file of 200 kB, and a session on which streams for it can be opened.
 * @param window bytes of each body that are sent before the client has read any; HTTP/2's default is 65,535
 */
async function makeBigSite(t: ExecutionContext, options: SiteOptions, window?: number) {
  const body = Buffer.alloc(200_000, '0123456789')
  const files = { '/public/big.txt': body }
  const site = await makeHttp2Site(t, { ...options, revalidate: 60 }, files)
  const { status, headers } = await site.ask('/big.txt')
  t.deepEqual([status, headers['content-length']], [200, '200000'])
  const settings = { initialWindowSize: window }
  const session = connect(`http://127.0.0.1:${site.port}`, { settings })
  t.teardown(() => session.destroy())
  return { ...site, body, request: () => session.request({ ':path': '/big.txt' }) }
}

/** Undefined for a stream that was reset. */
async function statusOf(stream: ClientHttp2Stream): Promise<unknown> {
  const [headers] = await Promise.race([once(stream, 'response'), once(stream, 'close')])
  return (headers as IncomingHttpHeaders | undefined)?.[':status']
}

test('HTTP/2 GET has the complete response', async t => {
  const { ask, errors } = await makeHttp2Site(t)
  const { status, text, headers } = await ask('/assets/a.css')
  const { date, etag, 'last-modified': lastModified, 'server-timing': timing, ...others } = headers
  t.is(status, 200)
  t.is(text, 'a { color: red }')
  t.regex(String(timing), /^publish;/)
  t.truthy(date)
  t.regex(etag ?? '', /^"[^"]+"$/)
  t.truthy(lastModified)
  t.deepEqual(Object.fromEntries(Object.entries(others)), {
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'content-type': 'text/css; charset=utf-8',
    'content-length': '16',
    'accept-ranges': 'bytes'
  })
  t.deepEqual(errors, [])
})

test('HTTP/2 HEAD has the headers of GET and no body', async t => {
  const { ask } = await makeHttp2Site(t)
  const get = await ask('/assets/a.css')
  const head = await ask('/assets/a.css', { method: 'HEAD' })
  t.is(head.status, 200)
  t.is(head.text, '')
  // The first one has waited until it was published.
  const changing = { date: '', 'server-timing': '' }
  t.deepEqual({ ...head.headers, ...changing }, { ...get.headers, ...changing })
})

test('HTTP/2 a client that has the current representation gets 304', async t => {
  const { ask } = await makeHttp2Site(t)
  const { headers } = await ask('/assets/a.css')
  const again = await ask('/assets/a.css', { headers: { 'if-none-match': headers.etag } })
  t.is(again.status, 304)
  t.is(again.text, '')
  t.is(again.headers.etag, headers.etag)
  t.is(again.headers['content-type'], undefined)
  t.is(again.headers['content-length'], undefined)
})

test('HTTP/2 a range is a 206, one beyond the end a 416', async t => {
  const { ask } = await makeHttp2Site(t)
  const part = await ask('/assets/a.css', { headers: { range: 'bytes=4-8' } })
  t.deepEqual([part.status, part.text], [206, 'color'])
  t.is(part.headers['content-range'], 'bytes 4-8/16')
  t.is(part.headers['content-length'], '5')
  const beyond = await ask('/assets/a.css', { headers: { range: 'bytes=16-' } })
  t.is(beyond.status, 416)
  t.is(beyond.headers['content-range'], 'bytes */16')
})

test('HTTP/2 an empty file, a miss, another method and a failed condition', async t => {
  const { ask } = await makeHttp2Site(t)
  t.deepEqual([(await ask('/empty.txt')).status, (await ask('/empty.txt')).text], [200, ''])
  const miss = await ask('/assets/b.css')
  t.deepEqual([miss.status, miss.headers['cache-control']], [404, 'no-store'])
  const post = await ask('/assets/a.css', { method: 'POST' })
  t.deepEqual([post.status, post.headers.allow], [405, 'GET, HEAD, OPTIONS'])
  const failed = await ask('/assets/a.css', { headers: { 'if-match': '"x"' } })
  t.deepEqual([failed.status, failed.text], [412, ''])
})

for (const [way, options] of WAYS.slice(0, 2)) {
  // Node resets a stream that begins while 10 MB wait to be sent on others of its session.
  test(`HTTP/2 256 streams of which nothing is read leave room for more on their session, ${way}`, async t => {
    const { request, errors } = await makeBigSite(t, options, 1000)
    const waiting = Array.from({ length: 256 }, request)
    t.deepEqual(new Set(await Promise.all(waiting.map(statusOf))), new Set([200]))
    const more = Array.from({ length: 8 }, request)
    t.deepEqual(new Set(await Promise.all(more.map(statusOf))), new Set([200]))
    t.true([...waiting, ...more].every(({ rstCode }) => rstCode === constants.NGHTTP2_NO_ERROR))
    t.deepEqual(errors, [])
  })

  test(`HTTP/2 a body that its client resets halfway is no error, ${way}`, async t => {
    const { ask, request, body, errors } = await makeBigSite(t, options, 1000)
    for (let at = 0; at < 20; at++) {
      const stream = request()
      await once(stream, 'data')
      stream.close(constants.NGHTTP2_CANCEL)
      await once(stream, 'close')
    }
    t.is((await ask('/big.txt')).bytes.length, body.length)
    t.deepEqual(errors, [])
  })

  test(`HTTP/2 a hundred bodies on one session are complete, ${way}`, async t => {
    const { request, body, errors } = await makeBigSite(t, options)
    const streams = Array.from({ length: 100 }, request)
    const bodies = await Promise.all(streams.map(buffer))
    t.true(bodies.every(each => each.equals(body)))
    t.deepEqual(errors, [])
  })
}
