// What programs can observe: the channels of node:diagnostics_channel.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Context } from 'koa'
import { koaHttpCache } from '../../lib/koa-http-cache.ts'
import type { CompileError, Compiler, DiagnosticMessages } from '../../lib/koa-assets.ts'
import { asBody, blocksLeft, evaluate, readPage } from '../support/examples.ts'
import { makeSite, messagesOf, serial as test } from '../support/index.ts'
import { passOn } from '../support/ways.ts'

const page = readPage('docs/diagnostics.md')
const [example = ''] = page.take('').map(asBody)

type Name = keyof DiagnosticMessages
const NAMES: readonly Name[] = ['compiled', 'published', 'served', 'missed', 'halted']

/** In place of Sass, which takes half a second to load. */
const compile: Compiler['compile'] = async ({ code }) => {
  if (code === 'broken') throw new Error('it is broken')
  return { code }
}
const COMPILING = { compilers: [{ extensions: '.scss', target: '.css', compile }] }

test('each compilation and publication of an asset is reported once, with its source and duration', async t => {
  const site = await makeSite(t, { 'css/app.css.scss': 'a{}', 'img/a.svg': '<svg/>' }, COMPILING)
  const [compiled, published] = [messagesOf(t, 'compiled'), messagesOf(t, 'published')]
  for (const path of ['/assets/app.css', '/assets/app.css', '/assets/a.svg']) await site.ask(path)
  const [compilation, ...others] = compiled
  t.is(compilation?.source, site.at('css/app.css.scss'))
  t.true((compilation?.duration ?? 0) > 0)
  t.false('error' in (compilation ?? {}))
  t.deepEqual(others, [])
  t.like(published, [
    { path: '/assets/app.css', source: site.at('css/app.css.scss') },
    { path: '/assets/a.svg', source: site.at('img/a.svg') }
  ])
  t.is(published.length, 2)
  const { compileDuration = 0, duration = 0 } = published[0] ?? {}
  t.true(compileDuration > 0 && compileDuration <= duration)
  t.is(published[1]?.compileDuration, undefined)
})

test('a failed compilation and the 500 for it are reported with the error', async t => {
  const site = await makeSite(t, { 'css/app.css.scss': 'broken' }, COMPILING)
  const [compiled, published] = [messagesOf(t, 'compiled'), messagesOf(t, 'published')]
  const served = messagesOf(t, 'served')
  const { bytes } = await site.ask('/assets/app.css?v=1')
  t.deepEqual([compiled.length, published.length], [1, 0])
  const error = compiled[0]?.error as CompileError | undefined
  t.is(error?.code, 'compile-failed')
  const common = { method: 'GET', path: '/assets/app.css', coding: 'identity' }
  t.deepEqual(served, [{ ...common, status: 500, reason: error?.message, bytes: bytes.length }])
})

test('each response for a file is reported with its status and reason, however it is sent', async t => {
  const maxFileBytes = 2999
  const memory = { maxFileBytes }
  for (const options of [{}, { memory }, { front: passOn, memory }]) {
    const site = await makeSite(t, { '/public/a.txt': 'x'.repeat(3000) }, options)
    const served = messagesOf(t, 'served')
    const { headers } = await site.ask('/a.txt?secret=1')
    const line = (status: number, bytes: number, reason: string, method = 'GET') => {
      return { method, path: '/a.txt', status, reason, coding: 'identity', bytes }
    }
    const expected = [line(200, 3000, 'the request has no condition')]
    for (const [status, bytes, reason, fields] of [
      [304, 0, 'If-None-Match names the ETag', { 'If-None-Match': String(headers.etag) }],
      [412, 0, 'If-Match does not name the ETag', { 'If-Match': '"other"' }],
      [206, 10, 'Range asks for a part', { Range: 'bytes=10-19' }],
      [416, 0, 'Range is outside of the file', { Range: 'bytes=9000-' }]
    ] as const) {
      await site.ask('/a.txt', { headers: fields })
      expected.push(line(status, bytes, reason))
    }
    await site.ask('/a.txt', { method: 'HEAD' })
    t.deepEqual(served, [...expected, line(200, 0, 'the request has no condition', 'HEAD')])
  }
})

test('each 404 for a URL below /assets is reported as missed', async t => {
  const routes = (ctx: Context) => {
    if (ctx.path === '/assets/route') ctx.body = 'a route'
    if (ctx.path === '/assets/thrown') ctx.throw(404)
  }
  const site = await makeSite(t, {}, { routes })
  const missed = messagesOf(t, 'missed')
  for (const path of ['assets/none.css?x', 'assets/route', 'assets/thrown', 'x'])
    await site.ask(`/${path}`)
  t.deepEqual(missed, [
    { method: 'GET', path: '/assets/none.css' },
    { method: 'GET', path: '/assets/thrown' }
  ])
})

test('a route that was halted is reported with the reason', async t => {
  const cache = koaHttpCache()
  const routes = (ctx: Context) =>
    cache(ctx, async () => {
      await ctx.fresh('x')
      ctx.body = 'page'
    })
  const site = await makeSite(t, {}, { routes })
  const halted = messagesOf(t, 'halted')
  await site.ask('/page')
  await site.ask('/page?q', { headers: { 'If-None-Match': '"x"' } })
  await site.ask('/page', { method: 'PUT', headers: { 'If-Match': '"y"' } })
  t.deepEqual(halted, [
    { method: 'GET', path: '/page', status: 304, reason: 'If-None-Match names the ETag' },
    { method: 'PUT', path: '/page', status: 412, reason: 'If-Match does not name the ETag' }
  ])
})

test('docs/diagnostics.md describes each channel and property, with an example that works', async t => {
  t.deepEqual(blocksLeft(), [])
  const lines: string[] = []
  const listeners: [string, (message: unknown) => void][] = []
  evaluate(example, {
    console: { log: (line: string) => lines.push(line) },
    subscribe: (...each: (typeof listeners)[number]) => listeners.push(each)
  })
  for (const [name, listener] of listeners) {
    subscribe(name, listener)
    t.teardown(() => unsubscribe(name, listener))
  }
  const site = await makeSite(t, { 'css/app.css.scss': 'a{}' }, COMPILING)
  const messages = NAMES.map(name => messagesOf(t, name))
  for (const name of ['app.css', 'none.css']) await site.ask(`/assets/${name}`)
  t.regex(lines.join(), /^compiled .*app\.css\.scss in \d+\.\d ms$/)
  for (const name of NAMES) t.true(page.text.includes(`\`koa-fresh-assets:${name}\``), name)
  const keys = new Set(messages.flat().flatMap(message => Object.keys(message)))
  t.true(keys.size > 8)
  for (const key of keys) t.regex(page.text, new RegExp(`\`${key}\``))
})
