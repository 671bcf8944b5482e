// Varnish keeps few copies of one page, though anybody can make up values of the fields that a page varies by.
import { Agent } from 'node:http'
import Koa, { type Context, type Middleware } from 'koa'
import { koaHttpCache } from '../../lib/koa-http-cache.ts'
import { available, offering } from '../support/deltas.ts'
import { serial as test, until } from '../support/index.ts'
import { isHit, shareVarnish } from './in-front.ts'

const COUNT = 300
const LIFETIME = 'public, max-age=3600'

const behindVarnish = shareVarnish()

/** A route behind Varnish, which it asks, what Varnish counts, and how often the route ran. */
async function cached(route: Middleware) {
  const counted = { runs: 0 }
  const app = new Koa().use((ctx, next) => {
    counted.runs++
    return next()
  })
  const varnish = await behindVarnish(app.use(route).callback())
  return Object.assign(counted, { varnish, counter: varnish.counter })
}

/** A file with a delta from one dictionary, as koaAssets sends it. */
function file(ctx: Context): void {
  ctx.set('Cache-Control', LIFETIME)
  ctx.set('Vary', 'Accept-Encoding, Available-Dictionary')
  ctx.etag = 'file'
  const hasDelta = ctx.get('Available-Dictionary') === available('known')
  if (hasDelta) ctx.set('Content-Encoding', 'dcz')
  ctx.body = hasDelta ? 'delta' : 'whole'
}

/** A default page: made for whoever sends a credential. */
const page = (credentials: string[]): Middleware => {
  const cache = koaHttpCache({ cacheControl: ['public', { maxAge: '1h' }], credentials })
  return ctx =>
    cache(ctx, async () => {
      ctx.body = ctx.get('Authorization') || ctx.get('Cookie') || 'anonymous'
      ctx.etag = `page-${ctx.body.length}`
    })
}

const FLOODS: Record<string, [Middleware, (at: number) => Record<string, string>]> = {
  'Available-Dictionary': [file, at => offering(String(at))],
  Authorization: [page([]), at => ({ authorization: `Bearer ${at}` })],
  Cookie: [page(['Cookie']), at => ({ cookie: `session=${at}` })]
}

for (const [field, [route, made]] of Object.entries(FLOODS)) {
  test(`${COUNT} made-up values of ${field} leave only a few copies of a page in Varnish`, async t => {
    const { varnish, counter } = await cached(route)
    const before = await counter('client_req')
    await varnish('/flooded')
    const agent = new Agent({ keepAlive: true, maxSockets: 16 })
    const headers = Array.from({ length: COUNT }, (_, at) => made(at))
    await Promise.all(headers.map(each => varnish('/flooded', { headers: each, agent })))
    agent.destroy()
    const isCounted = async () => (await counter('client_req')) - before > COUNT
    await until(isCounted, 'Varnish has counted its requests')
    // Those under one key are searched one by one. Each thread of Varnish adds what it has counted when it has time.
    const areFew = async () => {
      const [objects, keys] = [await counter('n_objectcore'), await counter('n_objecthead')]
      return objects > 0 && objects - keys < COUNT / 10
    }
    await until(areFew, 'Varnish has dropped the others')
    t.true(isHit(await varnish('/flooded')))
  })
}

test('Varnish asks for a file once for each dictionary, however many browsers have it', async t => {
  const counted = await cached(file)
  const { varnish } = counted
  for (const [text, encoding] of [
    ['known', 'dcz'],
    ['old', undefined],
    ['older', undefined]
  ] as const) {
    const headers = offering(text)
    t.is((await varnish('/file', { headers })).headers['content-encoding'], encoding, text)
    // Now Varnish knows that there is no delta, and stores the file that it gets without a dictionary.
    if (text === 'old') await varnish('/file', { headers })
    for (let visit = 0; visit < 3; visit++) {
      const answer = await varnish('/file', { headers })
      t.is(answer.headers['content-encoding'], encoding, text)
      t.true(isHit(answer), text)
    }
  }
  t.is(counted.runs, 4, 'once for each dictionary, and once for what is sent without one')
})

test('Varnish stores a page only for those who send no credentials', async t => {
  const counted = await cached(page(['Cookie']))
  const { varnish } = counted
  for (const headers of [{ cookie: 'a=1' }, { authorization: 'b' }, { cookie: 'c=1' }]) {
    const [value = ''] = Object.values(headers)
    const answer = await varnish('/', { headers })
    t.is(answer.text, value)
    t.is(answer.headers.vary, 'Authorization, Cookie')
    t.is((await varnish('/')).text, 'anonymous')
    t.true(isHit(await varnish('/')), value)
    const question = { ...headers, 'if-none-match': answer.headers.etag ?? '' }
    t.is((await varnish('/', { headers: question })).status, 304)
  }
})

test('the application behind Varnish gets exactly the credentials that were sent', async t => {
  const seen: string[] = []
  const { varnish } = await cached(ctx => {
    const fields = ['Cookie', 'Authorization', 'X-Cookie', 'X-Authorization']
    seen.push([ctx.method, ...fields.map(name => ctx.get(name) || 'none')].join(' '))
    if (ctx.path === '/') ctx.body = 'page'
  })
  const sent = { cookie: 'a=1; b=2', authorization: 'Bearer x' }
  const forged = { 'x-cookie': 'admin=1', 'x-authorization': 'Bearer admin' }
  await varnish('/', { headers: { ...sent, ...forged } })
  await varnish('/', { method: 'POST', headers: { ...sent, ...forged } })
  await varnish('/', { method: 'POST', headers: forged })
  await varnish(`/assets/app-${'0'.repeat(32)}.css`, { headers: sent })
  const own = 'a=1; b=2 Bearer x none none'
  const none = 'none none none none'
  t.deepEqual([...new Set(seen)], [`GET ${own}`, `POST ${own}`, `POST ${none}`])
  t.is(seen.length, 3 + 4, 'each replica is asked for a fingerprinted file')
})
