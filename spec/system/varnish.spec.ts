// Varnish as the shared cache, with the VCL of demo/deploy.
import { EventEmitter, once } from 'node:events'
import Koa, { type Context, type Middleware } from 'koa'
import { koaHttpCache } from '../../lib/koa-http-cache.ts'
import { ask, listen, test, until, type Question } from '../support/index.ts'
import {
  health,
  isHit,
  runVarnish,
  shareVarnish,
  varnishInFront,
  type Varnish
} from './in-front.ts'

const behindVarnish = shareVarnish()

const cached = (route: Middleware) =>
  behindVarnish(new Koa().use(koaHttpCache()).use(route).callback())

function makeGate() {
  const events = new EventEmitter()
  return {
    begun: once(events, 'begun'),
    async wait(): Promise<void> {
      const released = once(events, 'release')
      events.emit('begun')
      await released
    },
    release: () => void events.emit('release')
  }
}

function aSecondAndAHalf(): Promise<void> {
  const start = Date.now()
  return until(() => Date.now() - start > 1500, 'what was stored for a second is over')
}

/** Notes at /<name>, each in the group of its name; a POST edits what its query names. */
function notes() {
  const texts = new Map<string, number>()
  return (ctx: Context): void => {
    const { group = '' } = ctx.query as { group?: string }
    if (ctx.method === 'POST') {
      texts.set(group, (texts.get(group) ?? 0) + 1)
      ctx.invalidateCacheGroups('unused', group)
      ctx.body = 'saved'
      return
    }
    ctx.cacheControl('public', { maxAge: '1h' })
    ctx.cacheGroups('all', group)
    ctx.body = `${group} ${texts.get(group) ?? 0}`
  }
}

const note = (varnish: Varnish, group: string, method = 'GET', { host = varnish.host } = {}) =>
  varnish(`/?group=${encodeURIComponent(group)}`, { method, headers: { host } })

// Before the others: groups of any host may share a slot, which then costs a request (groups-in-flight.vcl).
test.serial('an edit removes exactly the pages of its group from Varnish', async t => {
  const varnish = await cached(notes())
  const groups = ['book-7', 'book-77', 'a.b', 'aXb', 'my books', 'x", "y', 'c\\', '(', '[^|]', '!*']
  for (const group of groups) {
    const others = groups.filter(other => other !== group)
    for (const each of groups) await note(varnish, each)
    t.true(isHit(await note(varnish, group)), group)
    await note(varnish, group, 'GET', { host: `b.${varnish.host}` })
    t.is((await note(varnish, group, 'POST')).status, 200)
    const after = await note(varnish, group)
    t.false(isHit(after), group)
    t.is(after.text, `${group} 1`)
    for (const other of others) t.true(isHit(await note(varnish, other)), `${other} after ${group}`)
    t.true(
      isHit(await note(varnish, group, 'GET', { host: `b.${varnish.host}` })),
      'another origin'
    )
  }
  t.is((await note(varnish, 'all', 'POST')).status, 200)
  for (const group of groups) t.false(isHit(await note(varnish, group)), `${group} after all`)
})

for (const [what, edited, location, isKept] of [
  ['of another URL and group is kept', '/films', '/films/1', true],
  ['of its URL, without a group, is not stored', '/', '', false],
  ['whose Location is its URL is not stored', '/films', '/', false]
] as const)
  test.serial(`a page that was being rendered during an edit ${what}`, async t => {
    const gate = makeGate()
    let isSlow = true
    const varnish = await cached(async ctx => {
      if (ctx.method === 'POST') {
        if (isKept) ctx.invalidateCacheGroups('films')
        if (location) ctx.set('Location', location)
        ctx.body = 'saved'
        return
      }
      ctx.cacheControl('public', { maxAge: '1h' })
      if (isKept) ctx.cacheGroups('books')
      if (isSlow) await gate.wait()
      isSlow = false
      ctx.body = 'page'
    })
    const first = varnish('/')
    await gate.begun
    await varnish(edited, { method: 'POST' })
    gate.release()
    await first
    t.is(isHit(await varnish('/')), isKept)
  })

test('default.vcl removes edited pages even without parameters and modules', async t => {
  const app = new Koa().use(health).use(koaHttpCache()).use(notes())
  const replica = await listen(t, app.callback())
  const { port } = await runVarnish(t, [replica], { vcl: 'default.vcl', parameters: [] })
  const asked = (path: string, question?: Question) => ask(port, path, question)
  const varnish = Object.assign(asked, { host: 'a.example' })
  await Promise.all([note(varnish, 'books'), note(varnish, 'films')])
  t.true(isHit(await note(varnish, 'books')))
  await note(varnish, 'books', 'POST')
  t.is((await note(varnish, 'books')).text, 'books 1')
  t.true(isHit(await note(varnish, 'films')))
})

test('only an edit that succeeds removes its URL and that of its Location from Varnish', async t => {
  const versions = new Map<string, number>()
  const varnish = await cached(ctx => {
    if (ctx.method === 'GET') {
      ctx.cacheControl('public', { maxAge: '1h' })
      ctx.body = String(versions.get(ctx.url) ?? 0)
      return
    }
    if (ctx.get('X-Fail') !== '') ctx.throw(409)
    const location = ctx.get('Location')
    for (const url of [
      ctx.url,
      location.replace(/^(?:http:)?..\d+\.example/, '').replace(/#.*/, '')
    ])
      versions.set(url, (versions.get(url) ?? 0) + 1)
    if (location !== '') ctx.redirect(location)
    ctx.status = location === '' ? 204 : 303
  })
  const headers = { host: varnish.host }
  const pages = ['/books/1', '/books', '/books?sort=a&b', '/books/1"x', '/other']
  const stored = async () => {
    const hits: string[] = []
    for (const page of pages) if (isHit(await varnish(page, { headers }))) hits.push(page)
    return hits
  }
  const without = (...gone: readonly string[]) => pages.filter(page => !gone.includes(page))
  for (const [method, url, more, gone] of [
    ['PUT', '/books/1', {}, ['/books/1']],
    ['DELETE', '/books/1"x', {}, ['/books/1"x']],
    ['PATCH', '/books?sort=a&b', {}, ['/books?sort=a&b']],
    ['POST', '/books', { location: '/books/1#top' }, ['/books', '/books/1']],
    ['POST', '/books', { location: `http://${varnish.host}/other` }, ['/books', '/other']],
    ['POST', '/books', { location: `//${varnish.host}/other` }, ['/books', '/other']],
    ['POST', '/books', { location: `http://b.${varnish.host}/other` }, ['/books']],
    ['POST', '/none', { location: '/x y" || obj.status' }, []],
    ['PUT', '/books/1', { 'x-fail': '1' }, []],
    ['PUT', '/books/1', { host: `b.${varnish.host}` }, []]
  ] as const) {
    await stored()
    t.deepEqual(await stored(), pages)
    await varnish(url, { method, headers: { ...headers, ...more } })
    t.deepEqual(await stored(), without(...gone), `${method} ${url} ${JSON.stringify(more)}`)
  }
  const { headers: sent } = await varnish('/other', { headers })
  t.notRegex(Object.keys(sent).join('\n'), /^x-(?:url|groups)/m)
})

// As many groups as a response may have, one of them with all that a name may contain.
const OTHERS = ['a\\", "b', ...Array.from({ length: 30 }, (_, at) => `other-${at}`)]
const ELSE = OTHERS.map(name => `${name}!`)

for (const [what, isStored] of [
  ['rendered', false],
  ['revalidated', true]
] as const) {
  test(`a page that was being ${what} during an edit of its group is not kept`, async t => {
    const gate = makeGate()
    let text = 'old'
    let isSlow = !isStored
    const varnish = await cached(async ctx => {
      if (ctx.method === 'POST') {
        text = 'new'
        ctx.invalidateCacheGroups(...ELSE, 'books')
        ctx.body = 'saved'
        return
      }
      ctx.cacheControl('public', { maxAge: isStored && !isSlow ? '1s' : '1h' })
      ctx.cacheGroups(...OTHERS, 'books')
      const rendered = text
      if (isSlow) {
        isSlow = false
        await gate.wait()
      }
      if (isStored) await ctx.fresh(rendered)
      ctx.body = rendered
    })
    if (isStored) {
      await varnish('/')
      await aSecondAndAHalf()
      isSlow = true
    }
    const first = varnish('/')
    await gate.begun
    await varnish('/edit', { method: 'POST' })
    // Varnish lets it wait for the response that is on its way.
    const second = varnish('/')
    gate.release()
    t.is((await first).text, 'old', 'it was asked for before the edit')
    t.is((await second).text, 'new')
    const third = await varnish('/')
    t.is(third.text, 'new')
    if (!isStored) t.true(isHit(third))
  })
}

test('behind Varnish a route does no work for a page that the browser or Varnish has', async t => {
  const renders = new Map<string, number>()
  let [isPrivate, lifetime] = [false, 1]
  const varnish = await cached(async ctx => {
    if (ctx.path === '/own' || isPrivate) ctx.cacheControl('private', 'no-cache')
    else ctx.cacheControl('public', { sMaxage: lifetime, maxAge: 0 })
    await ctx.fresh('home-1')
    const count = (renders.get(ctx.path) ?? 0) + 1
    renders.set(ctx.path, count)
    ctx.body = `rendered ${count}`
  })
  const { headers } = await varnish('/own')
  const etag = headers.etag ?? ''
  for (let visit = 0; visit < 4; visit++) {
    t.is((await varnish('/own', { headers: { 'if-none-match': etag } })).status, 304)
  }
  t.is(renders.get('/own'), 1, 'the first visit')

  for (const [path, turns] of [
    ['/shared', false],
    ['/turned', true]
  ] as const) {
    lifetime = 1
    await varnish(path)
    for (const next of [1, 3600]) {
      await aSecondAndAHalf()
      lifetime = next
      isPrivate = turns && next > 1
      const answer = await varnish(path)
      t.is(answer.text, 'rendered 1')
      t.false(isHit(answer), 'it was expired')
    }
    t.is(isHit(await varnish(path)), !turns)
  }
  t.is(renders.get('/shared'), 1)
  t.is(renders.get('/turned'), 2, 'once, and once since it is private')
})

test('a host that could be read as part of a ban is rejected by Varnish', async t => {
  const varnish = await cached(notes())
  await note(varnish, 'book-7')
  for (const made of [' && obj.status', '" || "', '/', '|.*']) {
    const host = `${varnish.host}${made}`
    t.is((await note(varnish, 'book-7', 'POST', { host })).status, 400, host)
  }
  t.true(isHit(await note(varnish, 'book-7', 'GET', { host: varnish.host.toUpperCase() })))
  const answer = await note(varnish, 'book-7')
  t.notRegex(Object.keys(answer.headers).join('\n'), /^x-(?:groups|pattern)/m)
})

const LIFETIME = 'public, max-age=60'
const ALICE = { 'X-User': 'alice' }
/** By what a response says, its Cache-Control, its other fields and whether it is stored. */
const STORED: Record<string, readonly [string | string[], boolean, Record<string, string>?]> = {
  'public with a lifetime': [LIFETIME, true],
  's-maxage': ['max-age=0, s-maxage=60', true],
  'a lifetime alone': ['max-age=60', false],
  'public without a lifetime': ['public', false],
  private: ['private, max-age=60', false],
  'private with the name of a field': [`${LIFETIME}, private="X-User"`, false, ALICE],
  'no-cache with the name of a field': [`${LIFETIME}, no-cache="X-User"`, false, ALICE],
  'private in a second line': [[LIFETIME, 'private'], false],
  'no-store': ['no-store', false],
  'no-cache': ['public, no-cache, max-age=60', false],
  'no field': ['', false],
  'a cookie': [LIFETIME, false, { 'Set-Cookie': 'a=b' }],
  'Vary: *': [LIFETIME, false, { Vary: '*' }],
  'CDN-Cache-Control': ['no-store', true, { 'CDN-Cache-Control': 'max-age=60' }],
  'CDN-Cache-Control: no-store': [LIFETIME, false, { 'CDN-Cache-Control': 'no-store' }],
  'CDN-Cache-Control of another age': ['', false, { Age: '60', 'CDN-Cache-Control': 'max-age=60' }],
  'CDN-Cache-Control: max-age=0': [LIFETIME, false, { 'CDN-Cache-Control': 'max-age=0' }]
}

test('Varnish stores only responses that say that everybody may have them', async t => {
  const cases = Object.entries(STORED)
  const varnish = await cached(ctx => {
    const [, [cacheControl, , fields = {}] = ['']] = cases[Number(ctx.path.slice(1))] ?? []
    ctx.set({ ...(cacheControl !== '' && { 'Cache-Control': cacheControl }), ...fields })
    ctx.body = 'page'
  })
  for (const [at, [what, [, isStored]]] of cases.entries()) {
    for (const headers of [{}, { cookie: 'session=1' }]) {
      const path = `/${at}?${JSON.stringify(Object.keys(headers))}`
      await varnish(encodeURI(path), { headers })
      t.is(isHit(await varnish(encodeURI(path), { headers })), isStored, what)
    }
  }
})

test('Varnish gives a request with Authorization a stored response only if it is public', async t => {
  const varnish = await cached(ctx => {
    ctx.set('Cache-Control', ctx.path === '/public' ? 'public, max-age=60' : 's-maxage=60')
    ctx.body = ctx.get('Authorization') || 'nobody'
  })
  const headers = { authorization: 'Bearer x' }
  for (const [path, mayShare] of [
    ['/public', true],
    ['/shared', false]
  ] as const) {
    t.is((await varnish(path)).text, 'nobody')
    t.true(isHit(await varnish(path)))
    t.is((await varnish(path, { headers })).text, mayShare ? 'nobody' : 'Bearer x', path)
  }
  t.is((await varnish('/unseen', { headers })).text, 'Bearer x')
  t.is((await varnish('/unseen')).text, 'nobody', 'what was sent to somebody is not stored')
})

test('Varnish sends a stale response only while stale-while-revalidate allows it', async t => {
  let count = 0
  const varnish = await cached(ctx => {
    const whileRevalidate = ctx.path === '/stale' ? ', stale-while-revalidate=60' : ''
    ctx.set('Cache-Control', `public, max-age=1${whileRevalidate}`)
    ctx.body = String(count++)
  })
  const [stale, fresh] = await Promise.all([varnish('/stale'), varnish('/fresh')])
  await aSecondAndAHalf()
  t.is((await varnish('/stale')).text, stale.text)
  await until(async () => (await varnish('/stale')).text !== stale.text, 'it is revalidated')
  t.not((await varnish('/fresh')).text, fresh.text)
})

test('Varnish asks replicas that are too busy to answer its probes', async t => {
  let probes = 0
  const app = new Koa()
  app.use((ctx, next) => {
    if (ctx.path !== '/health') return next()
    probes++
    // Later than a probe waits.
    return new Promise<void>(resolve => void ctx.req.once('close', resolve))
  })
  app.use(ctx => {
    if (!ctx.path.startsWith('/assets/')) ctx.body = ctx.method
  })
  const replica = await listen(t, app.callback())
  const port = await varnishInFront(t, replica)
  // Of the last three, two have to succeed; at first, two are believed to have.
  await until(() => probes >= 12, 'each replica has failed three probes')
  for (const method of ['GET', 'POST']) {
    const { status, text } = await ask(port, '/', { method })
    t.deepEqual([status, text], [200, method])
  }
  t.is((await ask(port, `/assets/app-${'0'.repeat(32)}.css`)).status, 404)
})
