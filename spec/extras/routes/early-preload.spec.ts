import { connect, createServer } from 'node:http2'
import * as fc from 'fast-check'
import Koa, { type Context } from 'koa'
import { fingerprinted, makeHelpers } from '../../runtime/views/view-helpers-site.ts'
import { isSendable } from '../../../lib/extras/routes/extra.ts'
import { HELPERS } from '../../../lib/extras/routes/preload-links.ts'
import { koaAssets } from '../../../lib/koa-assets.ts'
import { cases, exchange, growsInProportion, makeProject, makeSite } from '../../support/index.ts'
import { open, request, test, type ExecutionContext } from '../../support/index.ts'
import type { SiteOptions } from '../../support/index.ts'
import { anyText } from '../../support/any-text.ts'

const NAVIGATION = { 'Sec-Fetch-Mode': 'navigate' }
const HINTS = `HTTP/1.1 103 Early Hints\r
Link: </assets/app.css>; rel=preload; as=style, </assets/a.woff2>; rel=preload; as=font; crossorigin\r
\r
`

function makePage(t: ExecutionContext, page: (ctx: Context) => unknown, options: SiteOptions = {}) {
  const routes = async (ctx: Context) => {
    await page(ctx)
    ctx.body ??= 'the page'
  }
  return makeSite(t, {}, { earlyHints: true, routes, ...options })
}

const preloads = (ctx: Context) => ctx.preload('app.css', 'a.woff2')

async function ask(port: number, headers: Record<string, string> = NAVIGATION, method = 'GET') {
  return (await exchange(port, request(method, '/', headers))).toString()
}

test('ctx.preload sends the same links in 103 Early Hints and with the page', async t => {
  const { port } = await makePage(t, preloads)
  const response = await ask(port)
  t.true(response.startsWith(`${HINTS}HTTP/1.1 200 OK\r\n`), response)
  const [, , page = ''] = response.split('HTTP/1.1 ')
  t.true(page.includes('\r\nLink: </assets/app.css>; rel=preload; as=style\r\n'))
  t.true(page.includes('\r\nLink: </assets/a.woff2>; rel=preload; as=font; crossorigin\r\n'))
  t.true(response.endsWith('\r\n\r\nthe page'))
})

test('the Link header has as many of the first links as fit into 3 kB', async t => {
  const names = Array.from({ length: 50 }, (_, at) => `${'a'.repeat(100)}${at}.css`)
  const page = (ctx: Context) => names.forEach(name => ctx.preload(name))
  const { port } = await makePage(t, page, { earlyHints: false })
  const links = Array.from((await ask(port)).matchAll(/^Link: (.*)\r$/gm), ([, link = '']) => link)
  const numbers = links.map(link => Number(/(\d+)\.css/.exec(link)?.[1]))
  t.deepEqual(numbers, [...links.keys()])
  const [length, one = 0] = [links.join('').length, links[0]?.length]
  t.true(length <= 3000 && length > 3000 - 2 * one, `${length}`)
})

test('a request that does not open a page gets the Link without a 103', async t => {
  const { port } = await makePage(t, preloads)
  const off = await makePage(t, preloads, { earlyHints: false })
  for (const response of [
    await ask(port, { 'Sec-Fetch-Mode': 'cors' }),
    await ask(port, {}),
    await ask(port, NAVIGATION, 'HEAD'),
    await ask(port, NAVIGATION, 'POST'),
    String(await exchange(port, 'GET / HTTP/1.0\r\nSec-Fetch-Mode: navigate\r\n\r\n')),
    await ask(off.port)
  ]) {
    t.true(response.startsWith('HTTP/1.1 200 OK\r\n'), response)
    t.true(response.includes('\r\nLink: </assets/app.css>; rel=preload; as=style\r\n'))
  }
})

test('a link that is already announced is not announced again', async t => {
  const { port } = await makePage(t, ctx => {
    ctx.set('Link', ctx.assets.preload('app.css'))
    preloads(ctx)
    preloads(ctx)
    ctx.preload('a.woff2', 'a.woff2')
  })
  const response = await ask(port)
  t.is(response.match(/103 Early Hints/g)?.length, 1)
  t.is(response.match(/Link:/g)?.length, 3)
  t.is(response.match(/app\.css/g)?.length, 1)
})

test('a link that Node cannot send ahead is in the Link of the page', async t => {
  const { port, errors } = await makePage(t, ctx => {
    ctx.preload('print.css', { media: '(min-width: 40em)' })
    ctx.preload('app.css')
  })
  const response = await ask(port)
  t.deepEqual(errors, [])
  t.regex(response, /^HTTP\/1\.1 103 Early Hints\r\nLink: [^,\r]*app\.css>[^,\r]*\r\n\r\nHTTP/)
  const print = 'Link: </assets/print.css>; rel=preload; as=style; media="(min-width: 40em)"'
  t.true(response.includes(print))
})

test('checking a link takes time in proportion to its length', t => {
  const linkOf = (count: number) => `</app.css>${'; as=style'.repeat(count)}; media="print`
  t.false(isSendable(linkOf(30)))
  t.true(growsInProportion(1000, count => isSendable(linkOf(count))))
  for (const link of ['</a>', '</a>; as=style', '</a>;as="style" ; x', '</a>; x=', '</a>; a=b=c'])
    t.true(isSendable(link), link)
  for (const link of ['a', '</a> as=style', '</a>; as="a b"', '</a>; ', '</a>; as="a'])
    t.false(isSendable(link), link)
})

test('ctx.preload does nothing once the headers are sent', async t => {
  const { port, errors } = await makePage(t, ctx => {
    ctx.respond = false
    ctx.res.flushHeaders()
    preloads(ctx)
    ctx.res.end('by hand')
  })
  const response = await ask(port)
  t.false(response.includes('Link'))
  t.deepEqual(errors, [])
})

test('a page announces the assets of its app over HTTP/2', async t => {
  const root = makeProject(t, { 'apps/web/assets/app.css': '', 'apps/admin/assets/app.css': '' })
  const app = new Koa()
  app.use(koaAssets({ root, env: 'development', serve: true, earlyHints: true }))
  app.use(ctx => {
    ctx.preload('app.css')
    ctx.body = 'the page'
  })
  const server = createServer(app.callback() as never)
  const client = connect(`http://127.0.0.1:${await open(t, server)}`)
  t.teardown(() => client.destroy())
  const stream = client.request({ ':path': '/admin', 'sec-fetch-mode': 'navigate' })
  const hinted = new Promise(resolve => stream.once('headers', resolve))
  const final = new Promise(resolve => stream.once('response', resolve))
  const link = '</assets/admin/app.css>; rel=preload; as=style'
  t.like(await hinted, { ':status': 103, link })
  t.like(await final, { ':status': 200, link })
})

const SHEET = `app-${'b'.repeat(32)}.css`
const APP = `app-${'a'.repeat(32)}.js`

const { preload } = makeHelpers({}, undefined, [HELPERS])('web')

const BOTH = 'integrity="sha256-bb+/ sha512-bbbb"; crossorigin'
const ONE = 'integrity="sha384-aaaa"; crossorigin'

test('preload() has the integrity of the tag, except for images and fonts', t => {
  const { preload } = fingerprinted({}, [HELPERS])('web')
  for (const [name, options, expected] of [
    ['app.css', {}, `${SHEET}>; rel=preload; as=style; ${BOTH}`],
    ['app.js', { as: 'module' }, `${APP}>; rel=modulepreload; ${ONE}`],
    ['app.css', { integrity: false }, `${SHEET}>; rel=preload; as=style`],
    ['logo.png', {}, `logo-${'c'.repeat(32)}.png>; rel=preload; as=image`],
    ['inter.woff2', {}, `inter-${'e'.repeat(32)}.woff2>; rel=preload; as=font; crossorigin`]
  ] as const) {
    t.is(preload(name, options), `</assets/${expected}`)
  }
})

test('preload() takes the use of a file from its extension or the options', t => {
  for (const [name, options, expected] of [
    ['a.css', {}, 'a.css>; rel=preload; as=style'],
    ['a.js?v=1.css', {}, 'a.js?v=1.css>; rel=preload; as=script'],
    ['a.mjs', {}, 'a.mjs>; rel=modulepreload'],
    ['a.mjs.js', {}, 'a.mjs.js>; rel=preload; as=script'],
    ['a.avif', {}, 'a.avif>; rel=preload; as=image'],
    ['a.svg', {}, 'a.svg>; rel=preload; as=image'],
    ['a.woff2', {}, 'a.woff2>; rel=preload; as=font; crossorigin'],
    ['a.vtt', {}, 'a.vtt>; rel=preload; as=track'],
    ['a.json', {}, 'a.json>; rel=preload; as=fetch; crossorigin'],
    ['app', { as: 'style' }, 'app.css>; rel=preload; as=style'],
    ['jquery.min', { as: 'script' }, 'jquery.min.js>; rel=preload; as=script'],
    ['app', { type: 'module' }, 'app.js>; rel=modulepreload'],
    [
      'a.png',
      { type: 'image/png', crossorigin: 'use-credentials', fetchpriority: 'high' },
      'a.png>; rel=preload; as=image; type="image/png"; crossorigin=use-credentials; fetchpriority=high'
    ],
    ['a.js', { media: 'a "\\"' }, 'a.js>; rel=preload; as=script; media="a \\"\\\\\\""'],
    ['a.png', { crossorigin: 'anonymous' }, 'a.png>; rel=preload; as=image; crossorigin'],
    ['a.woff2', { crossorigin: false }, 'a.woff2>; rel=preload; as=font']
  ] as const) {
    t.is(preload(name, options), `</assets/${expected}`)
  }
  t.regex(preload('https://a.example/ä b>.css'), /^<https:\/\/a\.example\/%C3%A4%20b%3E\.css>; /)
})

test('preload() throws for an unknown use, and for media that could break the header', t => {
  const list = 'fetch, font, image, module, script, style, track'
  const printable = /^media of a preload must be printable ASCII/
  for (const [args, message] of [
    [['app'], `preload('app') needs { as } with one of ${list}, got undefined`],
    ...['stile', 'constructor', 42].map(as => [['app.css', { as }], /needs \{ as \}/] as const),
    ...['a\r\nSet-Cookie: b', 'größer'].map(media => [['a.css', { media }], printable] as const)
  ] as const) {
    t.throws(() => Reflect.apply(preload, null, args), { instanceOf: TypeError, message })
  }
})

test('no name and no URL breaks out of a Link header', t => {
  const link = /^<[\x21\x23-\x3b\x3d\x3f-\x7e]*>; rel=preload; as=style$/
  const nasty = fc.oneof(anyText(), fc.string())
  const url = nasty.map(rest => `https://a.example/${rest}`)
  const isLink = (name: string): boolean => {
    try {
      return link.test(preload(name, { as: 'style' }))
    } catch (error) {
      return error instanceof TypeError
    }
  }
  fc.assert(fc.property(fc.oneof(nasty, url), isLink), { numRuns: cases(100, 1000) })
  t.pass()
})
