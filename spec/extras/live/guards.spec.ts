// Who reaches what is under -/: the specs that look at which modules were loaded come before those that load them.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { networkInterfaces } from 'node:os'
import { request, type IncomingMessage } from 'node:http'
import { REFUSED } from './refused.ts'
import { openTab } from './tab.ts'
import { ask, exchange, readAnswer } from '../../support/raw.ts'
import { makeSite, serial as test, type SiteOptions } from '../../support/index.ts'

const FILES = { 'css/app.css': 'a{}', 'img/a.svg': '<svg/>' }
const NAMES = [
  ...['', 'live', 'live.js', 'other', '?json', 'asset?path=/assets/app.css'],
  ...['requests', 'inspector.css', 'hot.js', 'refresh.js']
]
const TAG = '<script src="/assets/-/live.js" type="module" async="async"></script>'
/** Another extra may have a script of its own behind it. */
const withTag = (text: string) => text.slice(0, TAG.length)

/** The modules of what is under -/ that have been loaded by this process; the others are for pages with the tag. */
function loaded(): string[] {
  const urls: string[] = []
  const session = new Session()
  session.connect()
  session.on('Debugger.scriptParsed', ({ params }) => urls.push(params.url))
  session.post('Debugger.enable')
  session.disconnect()
  const ours = urls.filter(url => /\/lib\/runtime\//.test(url))
  if (ours.length < 40) throw new Error(`only ${ours.length} modules are seen`)
  const room = /\/lib\/extras\/(?:inspector|live)\/(?!extra|tag|page-digest)/
  return urls.filter(url => room.test(url))
}

const page: SiteOptions['routes'] = (ctx, next) => {
  if (ctx.path !== '/') return next()
  ctx.body = ctx.assets.live()
  return undefined
}

/** Whose pages are of this server all the same, or no pages. */
const MAY_HAVE_TAG = /^a link|^a script|^no Host/

test('a request by another site neither reaches nor loads live reload and the inspector', async t => {
  const { port } = await makeSite(t, FILES, { routes: page })
  const plain = await ask(port, 'GET', '/assets/missing.css')
  for (const [what, headers] of Object.entries(REFUSED)) {
    for (const name of NAMES) {
      const answer = await ask(port, 'GET', `/assets/-/${name}`, headers)
      t.is(answer.status, 404, `${what} ${name}`)
      t.deepEqual(answer.body, plain.body)
      t.deepEqual(Object.keys(answer.headers), Object.keys(plain.headers))
    }
    if (what.startsWith('a link'))
      t.is(withTag((await ask(port, 'GET', '/', headers)).text), TAG, what)
    if (!MAY_HAVE_TAG.test(what)) t.is((await ask(port, 'GET', '/', headers)).text, '', what)
  }
  t.is(withTag((await ask(port, 'GET', '/')).text), TAG, 'a tag alone loads nothing')
  t.is((await ask(port, 'GET', 'http://evil.example/assets/-/live.js')).status, 404)
  t.is((await ask(port, 'POST', '/assets/-/live')).status, 404)
  t.deepEqual(loaded(), [])
})

const HINTS = ['Device-Memory', 'Downlink', 'DPR', 'ECT', 'RTT', 'Viewport-Width', 'Width']
const BY_SCRIPT = [
  ...['Service-Worker-Navigation-Preload', 'X-Turbo-Request-Id', 'X-Sec-Purpose', 'HX-Request'],
  ...['X-Up-Version', 'X-Inertia', 'X-PJAX-Container', 'X-XSRF-TOKEN']
]

test('a page has live reload even if its request has client hints or headers of script libraries', async t => {
  const { port } = await makeSite(t, FILES, { routes: page })
  for (const name of [...HINTS, ...BY_SCRIPT, 'Alt-Used', 'HTTP2-Settings'])
    t.is(withTag((await ask(port, 'GET', '/', { [name]: '1' })).text), TAG, name)
  for (const name of ['Via', 'X-Real-IP', 'X-Request-Id', 'Traceparent', 'X-Turbo'])
    t.is((await ask(port, 'GET', '/', { [name]: '1' })).text, '', name)
  t.deepEqual(loaded(), [])
})

test('another address of this machine is refused', async t => {
  const address = Object.values(networkInterfaces())
    .flat()
    .find(each => each && !each.internal && each.family === 'IPv4')?.address
  const site = await makeSite(t, FILES, { routes: page })
  const outer = site.app.listen(0, '0.0.0.0')
  t.teardown(() => outer.close())
  await once(outer, 'listening')
  const { port } = outer.address() as { port: number }
  if (address !== undefined) {
    const headers = { Host: 'localhost' }
    const path = '/assets/-/live.js'
    const asking = request({ host: address, port, path, headers, agent: false }).end()
    const [answer] = (await once(asking, 'response')) as [IncomingMessage]
    t.is(answer.resume().statusCode, 404)
  }
  t.deepEqual(loaded(), [])
})

for (const [what, options] of [
  ['in production', { env: 'production', compile: true }],
  ['in test', { env: 'test' }],
  ['in staging', { env: 'staging' }],
  ['with live: false', { live: false }],
  ['without serve', { serve: false }]
] as const) {
  test(`${what} live reload and the inspector are neither reachable nor loaded`, async t => {
    const { port } = await makeSite(t, FILES, { routes: page, ...options })
    for (const name of NAMES) t.is((await ask(port, 'GET', `/assets/-/${name}`)).status, 404, name)
    const { status, text } = await ask(port, 'GET', '/')
    t.deepEqual([status, text], [200, ''])
    t.deepEqual(loaded(), [])
  })
}

test('a host in live.hosts gets live reload below the prefix', async t => {
  const { port } = await makeSite(t, FILES, {
    prefix: '/my assets',
    live: { hosts: ['Box.local'] },
    routes: page
  })
  const headers = { Host: 'box.local:3000' }
  const tag = '<script src="/my%20assets/-/live.js" type="module" async="async"></script>'
  t.true((await ask(port, 'GET', '/', headers)).text.startsWith(tag))
  t.is((await ask(port, 'GET', '/my%20assets/-/live.js', headers)).status, 200)
})

test('live reload gets through a bare proxy_pass only over HTTP/1.1, of which docs/live.md warns', async t => {
  const passedTo = async (options: SiteOptions, version = '1.1', ...fields: readonly string[]) => {
    const { port } = await makeSite(t, FILES, { ...options, routes: page })
    const passed = async (path: string) => {
      const lines = [`GET ${path} HTTP/${version}`, `Host: 127.0.0.1:${port}`, 'Connection: close']
      return readAnswer(await exchange(port, [...lines, ...fields, '', ''].join('\r\n')))
    }
    // The channel of an accepted one has no end.
    const names = version === '1.0' ? NAMES : NAMES.filter(name => name !== 'live')
    const statuses = []
    for (const name of names) statuses.push((await passed(`/assets/-/${name}`)).status)
    return [statuses.every(status => status === 404), withTag((await passed('/')).text)]
  }
  t.deepEqual(await passedTo({}, '1.0'), [true, ''])
  t.deepEqual(await passedTo({}), [false, TAG])
  t.deepEqual(await passedTo({ live: false }), [true, ''])
  t.deepEqual(await passedTo({}, '1.1', 'X-Forwarded-For: 203.0.113.9'), [true, ''])
  const warning = /^A proxy or tunnel that speaks HTTP\/1\.1.*`live: false`/m
  t.regex(readFileSync('docs/live.md', 'utf8'), warning)
})

test('a live channel beyond the limit of 256 is refused', async t => {
  const { port } = await makeSite(t, FILES)
  const tabs = await Promise.all(Array.from({ length: 256 }, () => openTab(t, port)))
  t.true(tabs.every(({ answer }) => answer.statusCode === 200))
  t.is((await openTab(t, port)).answer.statusCode, 503)
  tabs[0]?.close()
})
