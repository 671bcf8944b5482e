// Files too big for memory that change while they are found, opened or sent.
import { appendFileSync, closeSync, openSync, renameSync, utimesSync, writeSync } from 'node:fs'
import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2 } from 'node:http2'
import { connect, type AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import test from 'ava'
import compress from 'koa-compress'
import { withFingerprint } from '../../../lib/assets/urls/fingerprint.ts'
import { openDescriptors } from '../../support/descriptors.ts'
import { makeSite, type Site } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { SENDERS } from '../../support/ways.ts'
import { digestOf } from '../../../lib/files/digest.ts'

const MIB = 1024 * 1024
const OLD = Buffer.alloc(32 * MIB, 'old.')
const NPM = 499_162_500 // What npm packs is of October 1985.
const PRODUCTION = { env: 'production', compile: false, fingerprint: false } as const

/** Writes over a file's bytes, the last one first, and leaves its name, size and inode as they are. */
function overwrite(path: string): void {
  const fd = openSync(path, 'r+')
  const piece = Buffer.alloc(MIB, 'NEW!')
  for (let at = OLD.length - MIB; at >= 0; at -= MIB) writeSync(fd, piece, 0, MIB, at)
  closeSync(fd)
}

/** Reads a beginning, lets something happen, and reads what else comes. */
async function download(port: number, headers: string, meanwhile: () => void) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`GET /big.bin HTTP/1.1\r\nHost: x\r\n${headers}\r\n`)
  await once(socket, 'readable')
  meanwhile()
  const chunks: Buffer[] = []
  socket.on('data', chunk => chunks.push(chunk))
  // One that is not cut stays open.
  socket.setTimeout(3000, () => socket.destroy())
  await once(socket, 'close')
  const bytes = Buffer.concat(chunks)
  const end = bytes.indexOf('\r\n\r\n') + 4
  return { head: bytes.toString('latin1', 0, end), body: bytes.subarray(end) }
}

for (const [what, headers, length] of [
  ['whole', '', OLD.length],
  ['in part', 'Range: bytes=4-25165827\r\n', 24 * MIB]
] as const) {
  for (const [sender, options] of SENDERS) {
    test(`ANS-11 a file that is overwritten in place while it is sent ${what} does not arrive at full length, ${sender}`, async t => {
      const site = await makeSite(t, { '/public/big.bin': OLD }, { ...PRODUCTION, ...options })
      const path = site.at('/public/big.bin')
      const { head, body } = await download(site.port, headers, () => overwrite(path))
      t.regex(head, new RegExp(`\\r\\nContent-Length: ${length}\\r\\n`))
      t.true(body.length < length, `${body.length} bytes`)
      t.deepEqual(site.errors, [])
      await until(() => openDescriptors(site.root) === 0, 'the file is closed')
    })
    test(`FPR-19 a file whose mtime is set again while it is sent ${what} arrives, as a precompile does it, ${sender}`, async t => {
      const site = await makeSite(t, { '/public/big.bin': OLD }, { ...PRODUCTION, ...options })
      const path = site.at('/public/big.bin')
      utimesSync(path, NPM, NPM)
      const { body } = await download(site.port, `${headers}Connection: close\r\n`, () =>
        utimesSync(path, NPM, NPM)
      )
      t.is(body.length, length)
    })
  }
}

for (const [sender, options] of SENDERS) {
  test(`ANS-11 over HTTP/2 a file that is overwritten in place ends in a stream that is reset, ${sender}`, async t => {
    const site = await makeSite(t, { '/public/big.bin': OLD }, { ...PRODUCTION, ...options })
    const server = createHttp2((req, res) => void site.app.callback()(req, res))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const stream = session.request({ ':path': '/big.bin' })
    await once(stream, 'response')
    overwrite(site.at('/public/big.bin'))
    stream.resume()
    const [error] = (await once(stream, 'error')) as [NodeJS.ErrnoException]
    t.is(error.code, 'ERR_HTTP2_STREAM_ERROR')
    session.close()
    await until(() => openDescriptors(site.root) === 0, 'the file is closed')
    t.deepEqual(site.errors, [])
  })
}

test('ANS-11 a file that is overwritten while koa-compress compresses it does not arrive to its end', async t => {
  const site = await makeSite(
    t,
    { '/public/big.txt': Buffer.concat(Array.from({ length: 32 }, () => randomBytes(MIB))) },
    { ...PRODUCTION, front: compress() }
  )
  const socket = connect(site.port, '127.0.0.1')
  socket.write('GET /big.txt HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n')
  await once(socket, 'readable')
  overwrite(site.at('/public/big.txt'))
  const bytes = await buffer(socket)
  t.regex(bytes.toString('latin1', 0, 500), /\r\nContent-Encoding: gzip\r\n/i)
  // The last chunk of a chunked body has no bytes (RFC 9112 section 7.1).
  t.false(bytes.subarray(-5).equals(Buffer.from('0\r\n\r\n')))
  await until(() => openDescriptors(site.root) === 0, 'the file is closed')
  t.deepEqual(site.errors, [])
})

for (const [what, change] of [
  ['grows', (path: string) => appendFileSync(path, 'more')],
  ['is replaced', replace]
] as const) {
  for (const [sender, options] of SENDERS) {
    test(`ANS-11 a file that ${what} whenever it is looked at is 200, of the size that it has when it is opened, ${sender}`, async t => {
      const unkept = { revalidate: 0, memory: { maxFileBytes: 100 } }
      const files = { '/public/big.bin': 'x'.repeat(5000) }
      const site = await makeSite(t, files, { ...PRODUCTION, ...unkept, ...options })
      site.server.prependListener('request', changing(site.at('/public/big.bin'), change))
      for (let round = 0; round < 20; round++) {
        const { status, headers, bytes } = await site.ask('/big.bin')
        t.is(status, 200)
        t.is(Number(headers['content-length']), bytes.length)
        t.true(bytes.length >= 5000)
      }
      await until(() => openDescriptors(site.root) === 0, 'the file is closed')
      t.deepEqual(site.errors, [])
    })
  }
}

function replace(path: string): void {
  const next = `${path}.next`
  appendFileSync(next, 'y'.repeat(6000))
  renameSync(next, path)
}

/** Changes the file in every turn of the event loop until its download begins. */
function changing(path: string, change: (path: string) => void): RequestListener {
  return (_, res) => {
    const again = () => {
      if (res.headersSent || res.destroyed) return
      change(path)
      setImmediate(again)
    }
    again()
  }
}

/** The same size and the same mtime, as two versions from npm have them. */
async function makeVersions(t: Parameters<typeof makeSite>[0]) {
  const site = await makeSite(
    t,
    {},
    { ...PRODUCTION, revalidate: 0, memory: { maxFileBytes: 100 } }
  )
  const install = (text: string) => {
    site.write('/public/next.js', text, NPM)
    renameSync(site.at('/public/next.js'), site.at('/public/lib.js'))
  }
  install('1'.repeat(1000))
  const etag = await etagOf(site)
  install('2'.repeat(1000))
  return { site, etag }
}

async function etagOf(site: Site): Promise<string> {
  const { headers } = await site.ask('/lib.js', { method: 'HEAD' })
  return headers.etag ?? ''
}

test('a version of the same size and mtime beyond memory has another ETag', async t => {
  const { site, etag } = await makeVersions(t)
  t.regex(etag, /^"[^"]+"$/)
  const response = await site.ask('/lib.js', { headers: { 'if-none-match': etag } })
  t.deepEqual([response.status, response.text], [200, '2'.repeat(1000)])
  t.not(await etagOf(site), etag)
  t.is(await etagOf(site), await etagOf(site))
})

test('If-Range mixes no two versions of the same size and mtime beyond memory', async t => {
  const { site, etag } = await makeVersions(t)
  const headers = { range: 'bytes=500-', 'if-range': etag }
  const response = await site.ask('/lib.js', { headers })
  t.deepEqual([response.status, response.text], [200, '2'.repeat(1000)])
  const current = { range: 'bytes=500-', 'if-range': await etagOf(site) }
  const part = await site.ask('/lib.js', { headers: current })
  t.deepEqual([part.status, part.text], [206, '2'.repeat(500)])
})

test('ANS-01 a fingerprinted file beyond memory has its digest as ETag, the same on two replicas', async t => {
  const bytes = Buffer.alloc(2 * MIB, 'film')
  const name = withFingerprint('/assets/film.mp4', digestOf(bytes))
  for (const mtime of [1e9, 1.5e9]) {
    const site = await makeSite(t, {}, PRODUCTION)
    site.write(`/public${name}`, bytes, mtime)
    const { status, headers } = await site.ask(name, { method: 'HEAD' })
    t.deepEqual([status, headers.etag], [200, `"${digestOf(bytes)}"`])
    t.is(headers['cache-control'], 'public, max-age=31536000, immutable')
  }
})
