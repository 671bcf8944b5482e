// What the compiler must accept and reject in the package as it is built, with the types of Koa 3 (tsc -p
// spec/types) and of Koa 2 (tsc -p spec/types-koa2). Nothing here runs.
import { Router } from '@koa/router'
import Koa from 'koa'
import mount from 'koa-mount'
import { koaHttpCache } from 'koa-fresh-assets/http-cache'

const app = new Koa()
app.use(koaHttpCache())
app.use(koaHttpCache({ cacheControl: ['public', { max_age: 60 }], expires: 60, autoEtag: true }))
app.use(koaHttpCache({ cacheControl: 'no-cache', version: ctx => ctx.path }))

app.use(async ctx => {
  ctx.cacheControl('public', { maxAge: 600 })
  ctx.cacheControl('must-revalidate', 'must_revalidate', 'mustRevalidate')
  ctx.cacheControl({ sMaxage: 1, s_maxage: 1, 's-maxage': 1, staleWhileRevalidate: 1 })
  ctx.cacheControl({ noCache: true, privateFields: ['Set-Cookie'], extension: { 'x-y': 1 } })
  ctx.expires(900, 'public', 'no-cache')
  ctx.expires(new Date())
  ctx.cacheControl({ maxAge: '10m', sMaxage: '2 weeks' })
  ctx.expires('1y', 'public')
  const isFresh: boolean = await ctx.fresh('x')
  await ctx.fresh(new Date(), { halt: isFresh })
  const status: 304 | 412 | false = await ctx.fresh('x', { halt: false })
  if (status !== false) ctx.status = status
  ctx.cacheControl('public', { cookies: 'shared' })
  ctx.cacheGroups('books', ...['book-7'])
  ctx.invalidateCacheGroups('books')
  await ctx.fresh({ etag: ['a', 1], lastModified: new Date(), weak: true })
  await ctx.fresh(null)
  await ctx.fresh(42)
  await ctx.fresh({ etag: 42n, last_modified: 1577836800789 })
  await ctx.fresh({ etag: null, lastModified: null })
  // Koa's own reading stays possible.
  const koas: boolean = ctx.request.fresh
  if (koas) return

  // @ts-expect-error a typo
  ctx.cacheControl('publik')
  // @ts-expect-error a typo in an option
  ctx.cacheControl({ maxage: 60 })
  // @ts-expect-error an ETag is a string or a number
  await ctx.fresh(true)
  // @ts-expect-error nothing identifies nothing
  await ctx.fresh()
})

const router = new Router()
router.use(koaHttpCache())
router.get('/', koaHttpCache(), async ctx => {
  ctx.cacheControl('public', { maxAge: 600 })
  ctx.body = await ctx.fresh('x')
})
app.use(router.routes())

// An application with types of its own for state and context.
interface State {
  user: string
}
interface Custom {
  tenant: string
}
const custom = new Koa<State, Custom>()
custom.use(koaHttpCache())
custom.use(async ctx => {
  ctx.cacheControl('private')
  await ctx.fresh(ctx.tenant + ctx.state.user)
})
app.use(mount('/custom', custom))
app.use(mount('/cached', koaHttpCache()))

// @ts-expect-error a typo in an option
koaHttpCache({ autoETag: true })
koaHttpCache({ version: () => undefined })
koaHttpCache({ groups: { header: 'Surrogate-Key' } })
