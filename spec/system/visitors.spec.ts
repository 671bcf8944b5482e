// What one visitor gets reaches no other one through Varnish, alone and behind nginx, with what is in demo/deploy.
import { randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import Koa, { type Context, type Middleware } from 'koa'
import helmet from 'koa-helmet'
import session from 'koa-session'
import { koaHttpCache } from '../../lib/koa-http-cache.ts'
import { ask, type Question } from '../support/ask.ts'
import { listen } from '../support/front.ts'
import { health, isHit, nginxInFront, varnishInFront } from './in-front.ts'

/** The ports at which an application is asked: Varnish, and nginx in front of it. */
async function cached(t: ExecutionContext, stack: (app: Koa) => readonly Middleware[]) {
  const app = new Koa()
  app.keys = ['a key']
  app.use(health)
  for (const middleware of stack(app)) app.use(middleware)
  const port = await listen(t, app.callback())
  const varnish = await varnishInFront(t, port)
  const nginx = await nginxInFront(t, undefined, varnish)
  return { varnish, nginx }
}

const defaults = () => koaHttpCache({ cacheControl: ['public', { maxAge: '1h' }] })

/** Whether the second of two visitors was given what is stored. */
async function isShared(port: number, path: string, ...[one, other]: readonly Question[]) {
  await ask(port, path, one)
  return isHit(await ask(port, path, other))
}

const withNonce = () => {
  const scriptSrc = [(_: unknown, res: object) => `'nonce-${(res as { nonce: string }).nonce}'`]
  const policy = helmet({ contentSecurityPolicy: { directives: { scriptSrc } } })
  const nonce: Middleware = (ctx, next) => {
    Object.assign(ctx.res, { nonce: randomBytes(16).toString('base64') })
    return next()
  }
  return [nonce, policy] as const
}

const nonceOf = ({ res }: Context) => (res as unknown as { nonce: string }).nonce

test('FRS-11 S82 no nonce of koa-helmet is stored by Varnish, and none reaches a second visitor', async t => {
  const page: Middleware = async ctx => {
    if (ctx.path === '/validated') await ctx.fresh('x')
    ctx.body = `<script nonce="${nonceOf(ctx)}">`
  }
  const ports = await cached(t, () => [...withNonce(), defaults(), page])
  const nonces: string[] = []
  for (const port of Object.values(ports)) {
    for (const path of ['/', '/validated']) {
      for (let visitor = 0; visitor < 3; visitor++) {
        const { text, headers } = await ask(port, path)
        const nonce = /"(.+)"/.exec(text)?.[1] ?? ''
        t.true(String(headers['content-security-policy']).includes(`'nonce-${nonce}'`))
        t.is(headers['cache-control'], 'private, no-cache')
        nonces.push(nonce)
      }
      t.false(await isShared(port, path))
    }
  }
  t.is(new Set(nonces).size, nonces.length)
})

test('FRS-12 S82 a page in German never reaches a visitor who reads English through Varnish, and both are stored', async t => {
  const rendered: string[] = []
  const page: Middleware = async ctx => {
    const language = ctx.acceptsLanguages('en', 'de') || 'en'
    if (ctx.path.startsWith('/validated')) await ctx.fresh(`page-${language}`)
    rendered.push(language)
    ctx.body = language
  }
  const ports = await cached(t, () => [defaults(), page])
  for (const [front, port] of Object.entries(ports)) {
    for (const path of [`/${front}`, `/validated/${front}`]) {
      rendered.length = 0
      for (const accept of ['de', 'en', 'de-DE,de;q=0.9', 'de', 'en', undefined, 'en']) {
        const headers = accept === undefined ? {} : { 'accept-language': accept }
        const { text, headers: sent } = await ask(port, path, { headers })
        t.is(text, accept?.startsWith('de') ? 'de' : 'en', String(accept))
        t.is(sent.vary, 'Authorization, Accept-Language')
      }
      t.deepEqual(rendered, ['de', 'en', 'de', 'en'], 'once for each value of the field')
      const hasEnglish = { 'accept-language': 'de', 'if-none-match': '"page-en"' }
      t.is((await ask(port, path, { headers: hasEnglish })).status, 200)
    }
  }
})

test('S82 what was made for a cookie or a session, and a cookie that was set, reach no second visitor through Varnish', async t => {
  const page: Middleware = ctx => {
    const kind = ctx.path.split('/').at(-1)
    if (kind === 'set') ctx.cookies.set('visit', randomBytes(8).toString('hex'))
    if (kind === 'session' && ctx.session) ctx.session.user ??= ctx.get('x-user')
    ctx.body =
      kind === 'read' ? ctx.cookies.get('user') : kind === 'session' ? ctx.session?.user : 'page'
  }
  const ports = await cached(t, app => [defaults(), session(app), page])
  for (const [front, port] of Object.entries(ports)) {
    const visits = new Set<string>()
    for (const user of ['alice', 'bob', 'carol']) {
      const headers = { cookie: `user=${user}`, 'x-user': user }
      t.is((await ask(port, `/${front}/read`, { headers })).text, user)
      const first = await ask(port, `/${front}/session`, { headers })
      t.is(first.text, user)
      const signed = (first.headers['set-cookie'] ?? []).map(text => text.split(';')[0]).join('; ')
      const again = await ask(port, `/${front}/session`, { headers: { cookie: signed } })
      t.is(again.text, user)
      visits.add(String((await ask(port, `/${front}/set`, { headers })).headers['set-cookie']))
    }
    t.is(visits.size, 3)
    t.true(await isShared(port, `/${front}/page`, {}, { headers: { cookie: 'user=bob' } }))
  }
})
