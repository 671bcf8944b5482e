// What koaHttpCache reports in development, once each: mistakes that no response shows.
import test from 'ava'
import type Koa from 'koa'

import { openRoute } from './support/cached-site.ts'
import { warningsAbout } from './support/warnings.ts'

process.env.NODE_ENV = 'development'

const at = (path: string) => `/${path}`

test('HLT-04 a forgotten await is reported once, whether the route had to stop or not', async t => {
  const site = await openRoute(t, ctx => {
    // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
    ctx.fresh(ctx.path.endsWith('late') ? Promise.resolve('x') : 'x')
    ctx.body = 'page'
  })
  for (const name of ['forgotten', 'late']) {
    const path = at(name)
    t.is((await site.get({}, path)).status, 200)
    t.is((await site.get({ 'if-none-match': '"x"' }, path)).status, 304)
    const said = warningsAbout(path)
    t.is(said.length, 1)
    t.regex(
      said[0] ?? '',
      /: GET \S+: ctx\.fresh was called without await.*write: await ctx\.fresh/
    )
  }
  t.deepEqual(site.errors, [])
})

test('HLT-04 a ctx.fresh that is awaited is not reported', async t => {
  const site = await openRoute(t, async ctx => {
    if (ctx.query.way === 'then') return ctx.fresh('x').then(() => void (ctx.body = 'page'))
    if (ctx.query.way === 'all') await Promise.all([ctx.fresh('x'), Promise.resolve()])
    else if (ctx.query.way === 'later') {
      const asked = ctx.fresh('x')
      await Promise.resolve()
      await asked
    } else t.false(await ctx.fresh('x'))
    ctx.body = 'page'
    return undefined
  })
  for (const way of ['await', 'then', 'all', 'later']) {
    const path = at(`awaited?way=${way}`)
    const { status, headers, body } = await site.get({}, path)
    t.deepEqual([status, body, headers.etag], [200, 'page', '"x"'])
    t.is((await site.get({ 'if-none-match': '"x"' }, path)).status, 304)
    t.is((await site.ask('PUT', { 'if-match': '"y"' }, path)).status, 412)
  }
  t.deepEqual(warningsAbout(at('awaited')), [])
  t.deepEqual(site.errors, [])
})

test('CC-14 a route’s own public with a cookie is reported once, and sent as written', async t => {
  const site = await openRoute(t, ctx => {
    ctx.cookies.set('seen', 'yes')
    if (ctx.path.endsWith('edge')) ctx.cacheControl({ target: 'CDN', maxAge: 60 })
    else if (ctx.path.endsWith('surrogate'))
      ctx.cacheControl({ target: 'Surrogate-Control', maxAge: 60 })
    else if (ctx.path.endsWith('by-hand')) ctx.set('Cache-Control', 's-maxage=60')
    else ctx.cacheControl('public', { maxAge: 60 })
    ctx.body = 'page'
  })
  for (const [name, field, value] of [
    ['own-public', 'cache-control', 'public, max-age=60'],
    ['by-hand', 'cache-control', 's-maxage=60'],
    ['edge', 'cdn-cache-control', 'max-age=60'],
    ['surrogate', 'surrogate-control', 'max-age=60']
  ] as const) {
    const path = at(name)
    for (let round = 0; round < 2; round++) {
      t.is((await site.get({}, path)).headers[field], value)
    }
    const said = warningsAbout(path)
    t.is(said.length, 1)
    t.regex(
      said[0] ?? '',
      /: GET \S+ responds with \S*-control: .*sets a cookie.*cookies: 'shared'/
    )
  }
})

test('FRS-05 a route’s own public after a cookie was read is reported once, and sent as written', async t => {
  const site = await openRoute(t, ctx => {
    ctx.cookies.get('user')
    if (ctx.path.endsWith('private')) ctx.cacheControl('private', { maxAge: 60 })
    else if (ctx.path.endsWith('shared')) ctx.cacheControl('public', { cookies: 'shared' })
    else ctx.cacheControl('public', { maxAge: 60 })
    ctx.body = 'page'
  })
  const path = at('greeting')
  for (let round = 0; round < 2; round++) {
    t.is((await site.get({}, path)).headers['cache-control'], 'public, max-age=60')
  }
  const said = warningsAbout(path)
  t.is(said.length, 1)
  t.regex(
    said[0] ?? '',
    /: GET \S+ responds with cache-control: public, max-age=60 and read a cookie.*cookies: 'shared'/
  )
  t.is((await site.get({}, at('reader/shared'))).headers['cache-control'], 'public')
  await site.get({}, at('reader/private'))
  t.deepEqual(warningsAbout(at('reader')), [])
})

test('CC-14 nothing is reported for a cookie that everybody gets, or a response that is not stored', async t => {
  const says: Record<string, (ctx: Koa.Context) => void> = {
    private: ctx => ctx.cacheControl('private', { maxAge: 60 }),
    fields: ctx => ctx.cacheControl('public', { privateFields: ['Set-Cookie'] }),
    expires: ctx => ctx.expires(60, 'public', { cookies: 'shared' }),
    edge: ctx => ctx.cacheControl({ target: 'CDN' }, 'private'),
    nothing: () => undefined
  }
  const site = await openRoute(t, ctx => {
    ctx.cookies.set('seen', 'yes')
    says[ctx.path.slice(at('silent/').length)]?.(ctx)
    ctx.body = 'page'
  })
  for (const name of Object.keys(says)) {
    t.is((await site.get({}, at(`silent/${name}`))).status, 200)
  }
  t.deepEqual(warningsAbout(at('silent')), [])
})
