// Who may see the inspector: raw requests, since a client library would not send most of them.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { ask } from '../../../support/raw.ts'
import { makeSite, type SiteOptions } from '../../../support/site.ts'

const NAMES = ['', '?json', 'asset?path=/assets/app.css', 'image?path=/assets/a.svg', 'requests']

const makeGuarded = (t: ExecutionContext, options: SiteOptions = {}) =>
  makeSite(t, { 'css/app.css': 'a{}', 'img/a.svg': '<svg/>' }, options)

const REFUSED: readonly (readonly [string, Record<string, string>])[] = [
  ['a foreign host (DNS rebinding)', { Host: 'evil.example' }],
  ['a host that begins as a loopback name', { Host: 'localhost.evil.example' }],
  ['a host that ends as one without its dot', { Host: 'evillocalhost' }],
  ['an address of the network', { Host: '192.168.1.4:3000' }],
  ['no host name', { Host: '' }],
  ['a proxy in between', { 'X-Forwarded-For': '127.0.0.1' }],
  ['a proxy in between (RFC 7239)', { Forwarded: 'for=127.0.0.1' }],
  ['a page of another origin', { Origin: 'https://evil.example' }],
  ['a page of no origin', { Origin: 'null' }],
  ['a script of another site', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }]
]

for (const [who, headers] of REFUSED) {
  test(`S58 ${who} gets 404 for every page of the inspector`, async t => {
    const { port } = await makeGuarded(t)
    for (const name of NAMES) {
      const { status, text } = await ask(port, 'GET', `/assets/-/${name}`, headers)
      t.deepEqual([status, text], [404, 'Not Found'], name)
    }
  })
}

test('S58 a host that the option live names is let in', async t => {
  const { port } = await makeGuarded(t, { live: { hosts: ['Desk.local'] } })
  const { status } = await ask(port, 'GET', '/assets/-/', { Host: 'desk.local:3000' })
  t.is(status, 200)
})

for (const [what, options] of [
  ['in production', { env: 'production', compile: true }],
  ['in another environment', { env: 'staging', compile: true }],
  ['under test', { env: 'test' }],
  ['with live: false', { live: false }]
] as const) {
  test(`S58 ${what} nobody gets the inspector`, async t => {
    const { port } = await makeGuarded(t, options)
    for (const name of NAMES) {
      t.is((await ask(port, 'GET', `/assets/-/${name}`)).status, 404, name)
    }
  })
}

test("S58 other spellings of its paths are nobody's, and other methods are not answered", async t => {
  const { port } = await makeGuarded(t)
  t.is((await ask(port, 'GET', '/assets/-/')).status, 200)
  for (const path of ['/assets//-/', '/assets/%2D/', '/assets/./-/', '/assets/-//', '/assets/-']) {
    t.is((await ask(port, 'GET', path)).status, 404, path)
  }
  t.is((await ask(port, 'GET', `http://localhost:${port}/assets/-/`)).status, 404)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    t.is((await ask(port, method, '/assets/-/')).status, 404, method)
  }
})

test('S58 nothing of it is loaded before the first request that may see it', t => {
  const IMPORT = /^(?:import|export)\s(?!type\b)[^'";]*?from\s+'(\.[^']+)'/gm
  const loaded = new Set<string>()
  const load = (file: string): void => {
    if (loaded.has(file)) return
    loaded.add(file)
    const text = readFileSync(file, 'utf8')
    for (const [, to = ''] of text.matchAll(IMPORT)) load(normalize(join(dirname(file), to)))
  }
  load(normalize('lib/index.ts'))
  t.true(loaded.size > 60)
  const room = normalize('lib/assets/development')
  t.deepEqual(
    [...loaded].filter(file => file.startsWith(room)),
    []
  )
  t.true(readdirSync(join(room, 'inspector')).length > 5)
})
