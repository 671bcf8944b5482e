// What a shared cache must not keep: S56.
import test from 'ava'
import Koa from 'koa'
import session from 'koa-session'
import { koaHttpCache } from '../../lib/index.ts'
import { open } from '../support/cached-site.ts'
import { ask } from '../support/raw.ts'

const OPTIONS = { cacheControl: ['public', { maxAge: 60, sMaxage: 600 }], expires: 60 } as const

// Everything by which a shared cache could take a response for everybody's.
const SHARING = /^(?:cache-control:.*(?:public|s-maxage)|expires:|\w+-cache-control:|surrogate-)/im

function site(): Koa {
  const app = new Koa()
  app.keys = ['key']
  app.silent = true
  app.use(koaHttpCache(OPTIONS))
  app.use(session({ key: 'session' }, app))
  app.use(async ctx => {
    if (ctx.path === '/cookie') ctx.cookies.set('user', 'alice')
    if (ctx.path === '/session') ctx.session = { user: 'alice' }
    if (ctx.path === '/fails') ctx.expires(600, 'public')
    if (ctx.path === '/fails') throw new Error('database')
    await ctx.fresh('x')
    ctx.body = 'page'
  })
  return app
}

test('S56 a default does not make a response with a cookie public, 304 included', async t => {
  const { port } = await open(t, site())
  for (const path of ['/cookie', '/session']) {
    for (const [headers, status] of [
      [{}, 200],
      [{ 'If-None-Match': '"x"' }, 304]
    ] as const) {
      const answer = await ask(port, 'GET', path, headers)
      t.is(answer.status, status)
      t.regex(answer.head, /^set-cookie:/im)
      t.is(answer.headers['cache-control'], 'private, max-age=60')
      t.notRegex(answer.head, SHARING)
    }
  }
})

test('S56 a default does not make a response to Authorization public, however it is written', async t => {
  const { port } = await open(t, site())
  for (const name of ['Authorization', 'authorization', 'AUTHORIZATION']) {
    for (const value of ['Bearer x', '', 'Basic']) {
      const answer = await ask(port, 'GET', '/', { [name]: value })
      t.is(answer.headers['cache-control'], 'private, max-age=60')
      t.notRegex(answer.head, SHARING)
    }
  }
  t.is((await ask(port, 'GET', '/')).headers['cache-control'], 'public, max-age=60, s-maxage=600')
})

test('S56 a failure keeps no lifetime', async t => {
  const { port } = await open(t, site())
  const answer = await ask(port, 'GET', '/fails')
  t.is(answer.status, 500)
  t.is(answer.headers['cache-control'], 'no-store')
  t.notRegex(answer.head, SHARING)
})
