// The two versions of Koa, and policies with a nonce, which other middleware sets.
import { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import Koa from 'koa'
import { koaHttpCache } from '../lib/index.ts'
import { KOAS, open, type Headers } from './support/cached-site.ts'
import { cases, test } from './support/index.ts'

const DATE = new Date('2020-01-01T00:00:00.789Z')

/** What a route may do; most specs of koaHttpCache ask Koa 3 alone. */
const ROUTES: Readonly<Record<string, (ctx: Koa.Context) => unknown>> = {
  '/page': async ctx => {
    ctx.expires(900, 'public')
    await ctx.fresh('x')
    ctx.body = 'page'
  },
  '/nothing': () => undefined,
  '/date': ctx => ctx.fresh({ lastModified: DATE }),
  '/both': async ctx => {
    ctx.cacheGroups('books')
    await ctx.fresh({ etag: 'x', lastModified: DATE })
    ctx.body = { page: true }
  },
  '/decides': async ctx => {
    if (!(await ctx.fresh('x', { halt: false }))) ctx.body = 'page'
  },
  '/own-status': async ctx => {
    if (await ctx.fresh('x', { halt: false })) ctx.status = 404
  },
  '/forgotten': ctx => {
    // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
    ctx.fresh('x')
    ctx.body = 'stored'
  },
  '/content': ctx => void (ctx.body = ctx.path),
  '/stream': async ctx => {
    ctx.body = Readable.from(['page'])
    await ctx.fresh('x')
  },
  '/json': ctx => void (ctx.body = { page: true }),
  '/empty': ctx => void (ctx.body = null),
  '/described': async ctx => {
    ctx.set({ 'Content-Type': 'text/html', 'Content-Language': 'en', 'Content-Location': '/en' })
    ctx.set('Content-Security-Policy', "script-src 'nonce-4f'")
    await ctx.fresh('x')
  },
  '/cookie-set': ctx => {
    ctx.cookies.set('seen', 'yes')
    ctx.body = 'page'
  },
  '/cookie-read': ctx => void (ctx.body = ctx.cookies.get('user') ?? 'nobody'),
  '/changed': ctx => {
    ctx.invalidateCacheGroups('books')
    ctx.status = 204
  },
  '/failed': ctx => {
    ctx.expires(900, 'public')
    ctx.status = 503
  },
  '/thrown': ctx => {
    ctx.cacheControl('public')
    ctx.throw(503, 'busy', { headers: { 'x-kept': 'yes' } })
  },
  '/wrong': ctx => ctx.fresh('"'),
  '/boolean': ctx => void (ctx.status = (ctx.fresh as unknown) ? 304 : 200),
  '/by-itself': async ctx => {
    ctx.respond = false
    await ctx.fresh('x')
    ctx.res.writeHead(202).end('own')
  }
}
const REQUESTS: readonly Headers[] = [
  {},
  { 'if-none-match': '"x"' },
  { 'if-none-match': '*' },
  { 'if-match': '"y"' },
  { 'if-modified-since': 'Wed, 01 Jan 2020 00:00:00 GMT' },
  { 'if-unmodified-since': 'Tue, 31 Dec 2019 00:00:00 GMT' },
  { authorization: 'Bearer x', cookie: 'user=alice' }
]

test('koaHttpCache has the same responses and errors with Koa 2 and Koa 3', async t => {
  const options = { autoEtag: true, trace: true } as const
  const outer = { ...options, cacheControl: 'public, max-age=60', version: () => '1' }
  const sites = await Promise.all(
    KOAS.map(([, AnyKoa]) => {
      const app = new AnyKoa().use(async (ctx, next) => {
        await next()
        ctx.set('X-Fresh', String(ctx.fresh))
      })
      app.use(koaHttpCache(outer)).use(koaHttpCache({ ...options, expires: 60 }))
      app.use(ctx => ROUTES[ctx.path]?.(ctx))
      return open(t, app)
    })
  )
  for (const path of Object.keys(ROUTES)) {
    for (const method of ['GET', 'HEAD', 'PUT', 'QUERY']) {
      for (const headers of REQUESTS.slice(method === 'GET' ? 0 : cases(6, 0))) {
        const [one, other] = await Promise.all(
          sites.map(async site => {
            const answer = await site.ask(method, headers, path)
            const { date: _, expires, ...sent } = answer.headers
            return { ...answer, headers: { ...sent, expires: typeof expires } }
          })
        )
        // AVA takes longer to compare than Koa to respond.
        if (!isDeepStrictEqual(one, other))
          t.deepEqual(one, other, `${method} ${path} ${JSON.stringify(headers)}`)
      }
    }
  }
  const [said, saidByOther] = sites.map(({ errors }) => errors.map(({ message }) => message))
  t.deepEqual(said, saidByOther)
  t.true((said?.length ?? 0) > 0)
})

test('a 304 omits a Content-Security-Policy only if it has a nonce', async t => {
  const names = ['content-security-policy', 'content-security-policy-report-only'] as const
  for (const [policy, stays] of [
    ["script-src 'self'", true],
    ["default-src 'self'; script-src 'self' 'NONCE-4f'", false],
    [["script-src 'self'", "script-src 'nonce-4f'"], false]
  ] as const) {
    const app = new Koa().use(koaHttpCache()).use(async ctx => {
      for (const name of names) ctx.set(name, policy as string)
      if (ctx.path === '/by-itself') ctx.status = 304
      else await ctx.fresh('x')
      ctx.body = 'page'
    })
    const site = await open(t, app)
    const sent = String(policy).replace(',', ', ')
    for (const path of ['/', '/by-itself']) {
      const { status, headers } = await site.get({ 'if-none-match': '"x"' }, path)
      t.is(status, 304, path)
      for (const name of names) t.is(headers[name], stays ? sent : undefined, path)
    }
    for (const name of names) t.is((await site.get()).headers[name], sent)
  }
})
