import { brotliCompressSync, gzipSync } from 'node:zlib'
import { utimesSync } from 'node:fs'
import { rename, truncate, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { chooseCoding } from '../../../lib/http/coding/content-coding.ts'
import { growsInProportion } from '../../support/cost.ts'
import { exchange, readAnswer, request } from '../../support/raw.ts'
import { makeSite, type SiteOptions } from '../../support/site.ts'
import { SENDERS } from '../../support/ways.ts'

const TEXT = 'body { color: red }\n'.repeat(50)
const THEN = 1_700_000_000
const FORMS = {
  '/public/a.css': TEXT,
  '/public/a.css.br': brotliCompressSync(TEXT),
  '/public/a.css.gz': gzipSync(TEXT)
}

async function makeCoded(t: ExecutionContext, options: SiteOptions = {}, files: object = FORMS) {
  const site = await makeSite(t, { ...files }, { env: 'staging', ...options })
  for (const path of Object.keys(files)) utimesSync(site.at(path), THEN, THEN)
  const get = (acceptEncoding: string | undefined, headers = {}) =>
    site.ask('/a.css', {
      headers: {
        ...(acceptEncoding !== undefined && { 'accept-encoding': acceptEncoding }),
        ...headers
      }
    })
  return { ...site, get }
}

// Brotli makes the smallest of these.
const CHOICES: ReadonlyArray<
  readonly [acceptEncoding: string | undefined, coding: string | undefined]
> = [
  ['br;q=0.1, gzip;q=1', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['gzip;q=0', undefined],
  ['gzip;q=0, br', 'br'],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['*;q=0', undefined],
  ['identity;q=0, *;q=0', undefined],
  ['identity, gzip;q=0.5', undefined],
  ['gzip;q=0.001', 'gzip'],
  ['GZIP', 'gzip'],
  ['x-gzip', 'gzip'],
  ['gzipped, brotli', undefined],
  ['gzip;q=nonsense', undefined],
  ['', undefined],
  [undefined, undefined]
]

for (const [acceptEncoding, coding] of CHOICES) {
  test(`ANS-06 Accept-Encoding ${acceptEncoding} gets ${coding ?? 'identity'}`, async t => {
    const { get } = await makeCoded(t)
    const { status, headers, bytes } = await get(acceptEncoding)
    t.is(status, 200)
    t.is(headers['content-encoding'], coding)
    const file = { br: '.br', gzip: '.gz' }[coding ?? ''] ?? ''
    t.deepEqual(bytes, Buffer.from(FORMS[`/public/a.css${file}` as keyof typeof FORMS]))
    t.is(headers['content-type'], 'text/css; charset=utf-8')
  })
}

test('ANS-07 each coding has its own ETag, and every response varies', async t => {
  const { get } = await makeCoded(t)
  const tags = new Set<string | undefined>()
  for (const coding of ['br', 'gzip', 'identity']) {
    const { headers } = await get(coding)
    tags.add(headers.etag)
    const etag = headers.etag ?? ''
    for (const [condition, status] of [
      [{}, 200],
      [{ range: 'bytes=0-4' }, 206],
      [{ 'if-none-match': etag }, 304],
      [{ 'if-match': '"another"' }, 412]
    ] as const) {
      const response = await get(coding, condition)
      t.is(response.status, status)
      t.is(response.headers.vary, 'Accept-Encoding', `${coding} ${status}`)
    }
  }
  t.is(tags.size, 3)
  for (const tag of tags) t.regex(tag ?? '', /^"[^"]+"$/)
})

test('ANS-07 a file with one representation does not vary', async t => {
  const { get } = await makeCoded(t, {}, { '/public/a.css': TEXT })
  for (const headers of [{}, { range: 'bytes=0-4' }, { 'if-match': '"another"' }]) {
    t.is((await get('br, gzip', headers)).headers.vary, undefined)
  }
})

test('ANS-07 a Vary that was set in front is kept', async t => {
  const front: SiteOptions['front'] = (ctx, next) => {
    ctx.vary('Origin')
    return next()
  }
  const { get } = await makeCoded(t, { front })
  t.is((await get('br')).headers.vary, 'Origin, Accept-Encoding')
})

test('a range counts the bytes of the chosen coding', async t => {
  const { get } = await makeCoded(t)
  const { status, headers, bytes } = await get('gzip', { range: 'bytes=0-1' })
  t.is(status, 206)
  t.is(headers['content-range'], `bytes 0-1/${FORMS['/public/a.css.gz'].length}`)
  t.deepEqual([...bytes], [0x1f, 0x8b])
})

test('a compressed copy that is older than its file is not used', async t => {
  const site = await makeCoded(t, { revalidate: 0 })
  t.is((await site.get('br')).headers['content-encoding'], 'br')
  utimesSync(site.at('/public/a.css'), THEN + 1, THEN + 1)
  const { headers, text } = await site.get('br, gzip')
  t.is(headers['content-encoding'], undefined)
  t.is(headers.vary, undefined)
  t.is(text, TEXT)
})

test('a compressed copy that is added or removed while the server runs is noticed', async t => {
  const site = await makeCoded(t, { revalidate: 0 }, { '/public/a.css': TEXT })
  t.is((await site.get('gzip')).headers['content-encoding'], undefined)
  site.write('/public/a.css.gz', FORMS['/public/a.css.gz'], THEN)
  t.is((await site.get('gzip')).headers['content-encoding'], 'gzip')
  await rename(site.at('/public/a.css.gz'), site.at('/public/b.gz'))
  t.is((await site.get('gzip')).headers['content-encoding'], undefined)
})

test('while sources are compiled on request no compressed copy is used', async t => {
  const { get } = await makeCoded(t, { env: 'development' })
  const { headers } = await get('br')
  t.is(headers['content-encoding'], undefined)
  t.is(headers.vary, undefined)
})

for (const [sender, options] of SENDERS) {
  test(`ANS-11 a file that is replaced while it is sent arrives complete, with the old bytes, ${sender}`, async t => {
    const size = 20_000_000
    const site = await makeSite(t, { '/public/film.bin': Buffer.alloc(size, 'a') }, options)
    const response = new Promise<Buffer>((resolve, reject) => {
      const chunks: Buffer[] = []
      const socket = connect(site.port, '127.0.0.1')
      socket.write(request('GET', '/film.bin'))
      socket.once('data', () => {
        socket.pause()
        writeFile(site.at('/public/new.bin'), Buffer.alloc(size, 'b'))
          .then(() => rename(site.at('/public/new.bin'), site.at('/public/film.bin')))
          .then(() => socket.resume(), reject)
      })
      socket.on('data', chunk => chunks.push(chunk))
      socket.on('error', reject)
      socket.on('close', () => resolve(Buffer.concat(chunks)))
    })
    const { body } = readAnswer(await response)
    t.is(body.length, size)
    t.true(body.every(byte => byte === 0x61))
    const { body: next } = readAnswer(await exchange(site.port, request('GET', '/film.bin')))
    t.true(next.every(byte => byte === 0x62))
  })

  test(`ANS-11 a file that is truncated while it is sent ends in an aborted connection, ${sender}`, async t => {
    const size = 20_000_000
    const site = await makeSite(t, { '/public/film.bin': Buffer.alloc(size, 'a') }, options)
    const received = await new Promise<Buffer>((resolve, reject) => {
      const chunks: Buffer[] = []
      const socket = connect(site.port, '127.0.0.1')
      socket.write('GET /film.bin HTTP/1.1\r\nHost: localhost\r\n\r\n')
      socket.once('data', () => {
        socket.pause()
        truncate(site.at('/public/film.bin'), 1000).then(() => socket.resume(), reject)
      })
      socket.on('data', chunk => chunks.push(chunk))
      socket.on('error', reject)
      socket.on('close', () => resolve(Buffer.concat(chunks)))
    })
    t.true(readAnswer(received).body.length < size)
    t.deepEqual(site.errors, [])
  })
}

test('S29 an Accept-Encoding of 16 KiB takes time proportional to its length', t => {
  const offers = ['identity', 'br', 'gzip'].map((coding, at) => ({ coding, size: 300 - at }))
  for (const part of ['gzip;q=0.1,', ',', ' ', ';', 'q=', 'gzip;;', '\t,']) {
    const headerOf = (bytes: number) => part.repeat(Math.ceil(bytes / part.length))
    t.true(
      growsInProportion(16_384, bytes => chooseCoding(headerOf(bytes), offers)),
      JSON.stringify(part)
    )
  }
})

test('S29 the first of two weights of one coding counts', t => {
  const offers = [
    { coding: 'identity', size: 3 },
    { coding: 'gzip', size: 1 }
  ]
  t.is(chooseCoding('gzip;q=0, gzip', offers)?.coding, 'identity')
  t.is(chooseCoding('gzip, gzip;q=0', offers)?.coding, 'gzip')
})
