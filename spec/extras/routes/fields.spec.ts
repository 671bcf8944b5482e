// Fields that an option, a middleware in front or a route sets: their values stay, beyond ASCII too (WAY-04).

import { createServer } from 'node:http'

import test, { type ExecutionContext } from 'ava'
import type { Middleware } from 'koa'
import { ask } from '../../support/raw.ts'
import { makeSite, open, type Site, type SiteOptions } from '../../support/site.ts'
import { cases } from '../../support/soak.ts'
import { WAYS } from '../../support/ways.ts'

test('PRV-01 what a route sets for its file stays, beside an Authorization too', async t => {
  const routes: Middleware = ctx =>
    ctx.sendFile('a.css', { root: 'dist', cacheControl: 'public, max-age=6' })
  const options = { env: 'production', apps: false, mounts: { '/m': 'dist' }, routes } as const
  const site = await makeSite(t, { '/dist/a.css': 'a { b: c }' }, options)
  const headers = { authorization: 'Basic YTpi' }
  t.is((await site.ask('/route', { headers })).headers['cache-control'], 'public, max-age=6')
})

const BEYOND_ASCII = {
  'Content-Disposition': 'attachment; filename="Käse.pdf"; filename*=UTF-8\'\'K%C3%A4se.pdf',
  'X-City': 'Århus \u0080\u00ff',
  Link: '</ä.css>; rel=preload'
}
const SIZES = [1, 100, 5000, 16 * 1024, 17 * 1024, 300_000]

/** The lines of these fields as Node itself writes them, in order. */
async function linesOfNode(t: ExecutionContext): Promise<string[]> {
  const server = createServer((_, res) => {
    for (const [name, value] of Object.entries(BEYOND_ASCII)) res.setHeader(name, value)
    res.writeHead(200).end()
  })
  return linesOf((await ask(await open(t, server), 'GET', '/')).head)
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
      const isOf = (byte: number) => byte === 0xe4
      t.true(answer.body.every(isOf), about)
      t.deepEqual(linesOf(answer.head), expected, about)
    }
  }
  t.deepEqual(errors, [])
}

const PDFS = Object.fromEntries(SIZES.map(size => [`/dist/${size}.pdf`, Buffer.alloc(size, 0xe4)]))
const PRODUCTION: SiteOptions = { env: 'production', fingerprint: false }

for (const [way, options] of WAYS.filter((_, at) => at % cases(3, 1) === 0)) {
  test(`WAY-04 what an option, a middleware in front or a route sets is sent as Node sends it, ${way}`, async t => {
    const mounts = { '/said': { dir: 'dist', headers: BEYOND_ASCII }, '/m': 'dist' }
    const site = await makeSite(t, PDFS, {
      ...PRODUCTION,
      ...options,
      mounts,
      async routes(ctx) {
        ctx.set(BEYOND_ASCII)
        await ctx.sendFile(ctx.path, { root: 'dist' })
      }
    })
    site.server.prependListener('request', ({ url = '' }, res) => {
      if (!url.startsWith('/m/')) return
      for (const [name, value] of Object.entries(BEYOND_ASCII)) res.setHeader(name, value)
    })
    for (const at of ['/said', '/m', '']) await areSame(t, site, size => `${at}/${size}.pdf`)
  })
}

test('WAY-04 ctx.attachment with an umlaut gives the name of the file', async t => {
  const site = await makeSite(t, PDFS, {
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
