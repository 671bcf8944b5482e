// By what a page is compared with that of a restarted server.
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import type { Middleware } from 'koa'
import { cases, makeSite, test, type SiteOptions } from '../../support/index.ts'

const random = (length: number) => randomBytes(length).toString('base64url')

/** What differs in every response, or is told by the version of an asset. */
const VARYING: readonly (() => string)[] = [
  () => {
    const nonce = random(12)
    return `<meta name="csp-nonce" content="${nonce}"><script nonce="${nonce}">start('${nonce}')</script>`
  },
  () => `<input type="hidden" name="_csrf" value="${random(24)}">`,
  () => `<input name='authenticity_token' type=hidden value='${random(24)}'>`,
  () => `<meta name="csrf-token" content="${random(24)}">`,
  () => `<script>window.app = { csrfToken: "${random(24)}" }</script>`,
  () =>
    `<link href="/assets/app-${randomBytes(16).toString('hex')}.css" integrity="sha384-${random(48)}">`,
  () => `<script src="/assets/app.js?t=${Math.floor(Math.random() * 1e9)}"></script>`
]
const LASTING = ['<h1>', '<p class="card-2-columns">', '/books/12/chapters/3', 'ä', '12:30']

type Piece = readonly [isVarying: boolean, at: number]
const piece = fc.tuple(fc.boolean(), fc.nat(34))
const written = (pieces: readonly Piece[]) =>
  pieces
    .map(([isVarying, at]) =>
      isVarying ? VARYING[at % VARYING.length]?.() : LASTING[at % LASTING.length]
    )
    .join('\n')

async function site(...args: Parameters<typeof makeSite>) {
  const { ask } = await makeSite(...args)
  const headers = {
    accept: 'text/html',
    'sec-fetch-dest': 'document',
    'sec-fetch-mode': 'navigate'
  }
  return async (options: Parameters<typeof ask>[1] = {}) =>
    (await ask('/', { headers, ...options })).headers['server-timing']
}

test('a page has the same digest until an edit changes more than nonces, tokens and versions', async t => {
  let body = ''
  const digest = await site(t, {}, { routes: ctx => void ((ctx.body = body), (ctx.type = 'html')) })
  const of = async (pieces: readonly Piece[]) => {
    body = `<!doctype html>${written(pieces)}`
    return digest()
  }
  t.regex(String(await of([])), /^page;desc="[\da-f]{32}"$/)
  const property = fc.asyncProperty(
    fc.array(piece, { maxLength: 8 }),
    fc.nat(8),
    fc.nat(LASTING.length - 1),
    async (pieces, at, added) => {
      const first = await of(pieces)
      const again = await of(pieces)
      const edited = await of(pieces.toSpliced(at, 0, [false, added]))
      return again === first && edited !== first
    }
  )
  await t.notThrowsAsync(fc.assert(property, { numRuns: cases(40, 1000) }))
})

test('in development only a GET for an HTML page whose body is a string gets a digest', async t => {
  const page: Middleware = ctx => void (ctx.body = '<p>')
  const stream: Middleware = ctx => void ((ctx.body = Readable.from(['<p>'])), (ctx.type = 'html'))
  const others: Middleware[] = [
    stream,
    ctx => void (ctx.body = {}),
    ctx => void (ctx.body = 'text')
  ]
  const rows: SiteOptions[] = others.map(routes => ({ routes }))
  for (const options of [{ live: false }, { env: 'test' }]) rows.push({ routes: page, ...options })
  for (const options of rows) t.is(await (await site(t, {}, options))(), undefined)
  const digest = await site(t, {}, { routes: page })
  t.truthy(await digest())
  t.is(await digest({ method: 'POST' }), undefined)
  t.is(await digest({ headers: { 'x-forwarded-for': '1.2.3.4' } }), undefined)
})
