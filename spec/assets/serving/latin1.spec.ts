// Fields with characters beyond ASCII, byte for byte: HTTP has them as one byte each (RFC 9110 section 5.5).
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import type { Middleware } from 'koa'
import { ask } from '../../support/raw.ts'
import { makeSite, type Site, type SiteOptions } from '../../support/site.ts'
import { WAYS } from '../../support/ways.ts'

const FIELDS = {
  'Content-Disposition': 'attachment; filename="Käse.pdf"; filename*=UTF-8\'\'K%C3%A4se.pdf',
  'X-City': 'Århus \u0080\u00ff',
  Link: '</ä.css>; rel=preload'
}
const SIZES = [1, 100, 5000, 16 * 1024, 17 * 1024, 300_000]

/** The lines of these fields as Node itself writes them, in order. */
async function linesOfNode(t: ExecutionContext): Promise<string[]> {
  const server = createServer((_, res) => {
    for (const [name, value] of Object.entries(FIELDS)) res.setHeader(name, value)
    res.writeHead(200).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return linesOf((await ask((server.address() as AddressInfo).port, 'GET', '/')).head)
}

// One character for each byte.
const linesOf = (head: string) =>
  head
    .split('\r\n')
    .filter(line => /^(?:content-disposition|x-city|link):/i.test(line))
    .toSorted()

async function areSame(
  t: ExecutionContext,
  { port, errors }: Site,
  pathOf: (size: number) => string
) {
  const expected = await linesOfNode(t)
  t.is(expected.length, 3)
  t.true(expected[0]?.includes('K\u00e4se'))
  for (const size of SIZES) {
    const path = pathOf(size)
    const etag = (await ask(port, 'HEAD', path)).headers['etag'] ?? ''
    for (const [method, headers, status, length] of [
      ['GET', {}, 200, size],
      ['GET', {}, 200, size],
      ['HEAD', {}, 200, 0],
      ['GET', { Range: 'bytes=0-0' }, 206, 1],
      ['GET', { 'If-None-Match': etag }, 304, 0],
      ['GET', { 'If-Match': '"x"' }, 412, 0],
      ['GET', { Range: 'bytes=999999-' }, 416, 0]
    ] as const) {
      const answer = await ask(port, method, path, headers)
      const about = `${method} ${status}, ${size} bytes`
      t.deepEqual([answer.status, answer.body.length], [status, length], about)
      t.true(
        answer.body.every(byte => byte === 0xe4),
        about
      )
      t.deepEqual(linesOf(answer.head), expected, about)
    }
  }
  t.deepEqual(errors, [])
}

const FILES = Object.fromEntries(SIZES.map(size => [`/dist/${size}.pdf`, Buffer.alloc(size, 0xe4)]))
const PRODUCTION: SiteOptions = { env: 'production', fingerprint: false }

const setAll: Middleware = (ctx, next) => {
  ctx.set(FIELDS)
  return next()
}

for (const [way, options] of WAYS) {
  test(`WAY-04 the option headers is sent as Node sends it, ${way}`, async t => {
    const mounts = { '/m': { dir: 'dist', headers: FIELDS } }
    const site = await makeSite(t, FILES, { ...PRODUCTION, ...options, mounts })
    await areSame(t, site, size => `/m/${size}.pdf`)
  })

  test(`WAY-04 what was set before a file is sent as Node sends it, ${way}`, async t => {
    const site = await makeSite(t, FILES, {
      ...PRODUCTION,
      ...options,
      mounts: { '/m': 'dist' },
      ...(options.front && { front: setAll })
    })
    if (!options.front) {
      site.server.prependListener('request', (_, res) => {
        for (const [name, value] of Object.entries(FIELDS)) res.setHeader(name, value)
      })
    }
    await areSame(t, site, size => `/m/${size}.pdf`)
  })

  test(`WAY-04 what a route sets for ctx.sendFile is sent as Node sends it, ${way}`, async t => {
    const site = await makeSite(t, FILES, {
      ...PRODUCTION,
      ...options,
      async routes(ctx) {
        ctx.set(FIELDS)
        await ctx.sendFile(ctx.path, { root: 'dist' })
      }
    })
    await areSame(t, site, size => `/${size}.pdf`)
  })

  test(`WAY-04 Set-Cookie and several values are sent as Node sends them, ${way}`, async t => {
    const cookies = ['a=ä', 'b=ÿ; path=/']
    const site = await makeSite(t, { '/public/a.txt': 'text' }, { ...PRODUCTION, ...options })
    site.server.prependListener('request', (_, res) => res.setHeader('Set-Cookie', cookies))
    for (const method of ['GET', 'HEAD', 'GET']) {
      const { head } = await ask(site.port, method, '/a.txt')
      t.deepEqual(
        head.split('\r\n').filter(line => /^set-cookie/i.test(line)),
        cookies.map(cookie => `Set-Cookie: ${cookie}`)
      )
    }
  })
}

test('WAY-04 ctx.attachment with an umlaut gives the name of the file', async t => {
  const site = await makeSite(t, FILES, {
    ...PRODUCTION,
    async routes(ctx) {
      ctx.attachment('Käse.pdf')
      await ctx.sendFile('100.pdf', { root: 'dist' })
    }
  })
  for (const method of ['HEAD', 'GET']) {
    const { head } = await ask(site.port, method, '/x')
    t.true(head.includes('Content-Disposition: attachment; filename="Käse.pdf"'), head)
  }
})
