// What a request says of itself: whether it is local, opens a page, offers a dictionary.
import type { IncomingHttpHeaders } from 'node:http'
import test from 'ava'
import { offeredDictionary, useAsDictionary } from '../../lib/http/negotiation.ts'
import { isLocal, isNavigation } from '../../lib/http/requests.ts'
import { growsInProportion } from '../support/cost.ts'
import { available, sha256 } from '../support/deltas.ts'

const NONE: ReadonlySet<string> = new Set()

function from(
  remoteAddress: string | undefined,
  headers: IncomingHttpHeaders,
  { url = '/', hosts = NONE } = {}
): boolean {
  return isLocal({ url, headers, socket: { remoteAddress } }, hosts)
}

test('LIV-05 a loopback address that asks a loopback name is this machine', t => {
  for (const address of [
    '127.0.0.1',
    '127.8.9.10',
    '::1',
    '::ffff:127.0.0.1',
    '::FFFF:127.0.0.1'
  ]) {
    for (const host of [
      'localhost',
      'LOCALHOST:3000',
      'shop.localhost',
      '127.0.0.1:80',
      '[::1]:3'
    ]) {
      t.true(from(address, { host }), `${address} ${host}`)
    }
  }
  t.true(from('::1', { ':authority': 'localhost:3000' }), 'HTTP/2')
})

test('S58 another address is not this machine, whatever it says', t => {
  for (const address of [
    undefined,
    '',
    '10.0.0.1',
    '::ffff:10.0.0.1',
    '128.0.0.1',
    '::2',
    '1127.0.0.1'
  ]) {
    t.false(from(address, { host: 'localhost' }), String(address))
  }
})

test('S58 another name for this machine is not trusted (DNS rebinding)', t => {
  const foreign = ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', 'xlocalhost']
  const malformed = [
    '',
    'localhost:',
    'localhost:x',
    'localhost:1:2',
    'a@localhost',
    'localhost/',
    '.'
  ]
  const unusual = [
    'localhost.',
    '127.1',
    '[::1',
    '::1',
    '[::1]x',
    '2130706433',
    'localhost, a.example'
  ]
  for (const host of [...foreign, ...malformed, ...unusual, undefined]) {
    t.false(from('127.0.0.1', host === undefined ? {} : { host }), host)
  }
  t.false(from('127.0.0.1', { ':authority': 'evil.example', host: 'localhost' }), 'HTTP/2')
  t.false(from('127.0.0.1', { host: 'localhost' }, { url: 'http://evil.example/' }))
})

test('S68 HTTP/1.0 is spoken by proxies, not by browsers', t => {
  const request = { url: '/', headers: { host: 'localhost' }, socket: { remoteAddress: '::1' } }
  t.true(isLocal({ ...request, httpVersion: '1.1' }, NONE))
  t.true(isLocal({ ...request, httpVersion: '2.0' }, NONE))
  t.false(isLocal({ ...request, httpVersion: '1.0' }, NONE))
})

test('S69 a frame of another site is not this machine, a link is', t => {
  const headers = {
    host: 'localhost',
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate'
  }
  t.true(from('::1', { ...headers, 'sec-fetch-dest': 'document' }))
  for (const dest of ['iframe', 'frame', 'object', 'embed']) {
    t.false(from('::1', { ...headers, 'sec-fetch-dest': dest }), dest)
  }
})

test('S58 what a proxy forwards comes from anywhere', t => {
  for (const name of ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']) {
    t.false(from('127.0.0.1', { host: 'localhost', [name]: '' }), name)
    t.false(
      from('127.0.0.1', { host: 'box', [name]: '127.0.0.1' }, { hosts: new Set(['box']) }),
      name
    )
  }
})

test('S58 a page of another origin cannot read what is under -/', t => {
  const host = 'localhost:3000'
  t.true(from('::1', { host, origin: 'http://localhost:3000' }))
  t.true(from('::1', { host, origin: 'https://localhost:3000' }))
  for (const origin of [
    'null',
    '',
    'http://localhost',
    'http://localhost:30001',
    'http://evil.example'
  ]) {
    t.false(from('::1', { host, origin }), origin)
  }
  for (const site of ['cross-site', 'same-site']) {
    t.false(from('::1', { host, 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' }), site)
    t.true(from('::1', { host, 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' }), 'a link')
  }
  t.true(from('::1', { host, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }))
  t.true(from('::1', { host, 'sec-fetch-site': 'none' }), 'typed by a person')
})

test('LIV-05 a host that is listed is trusted from any address', t => {
  const hosts = new Set(['box.local', '192.168.1.5', '[fd00::1]'])
  for (const host of ['box.local', 'BOX.local:3000', '192.168.1.5:80', '[fd00::1]:80']) {
    t.true(from('192.168.1.9', { host }, { hosts }), host)
  }
  t.false(from('192.168.1.9', { host: 'localhost' }, { hosts }))
  t.false(from('192.168.1.9', { host: 'other.local' }, { hosts }))
  t.false(from('192.168.1.9', { host: 'box.local', origin: 'http://a.example' }, { hosts }))
})

const CHROMIUM =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

for (const [title, isExpected, headers] of [
  ['a browser that opens a page', true, { 'sec-fetch-mode': 'navigate', accept: CHROMIUM }],
  ['a browser that says so alone', true, { 'sec-fetch-mode': 'navigate', accept: '*/*' }],
  ['fetch() of a page', false, { 'sec-fetch-mode': 'cors', accept: 'text/html' }],
  ['a script or an image of a page', false, { 'sec-fetch-mode': 'no-cors', accept: CHROMIUM }],
  ['a web socket', false, { 'sec-fetch-mode': 'websocket', accept: 'text/html' }],
  ['an older browser', true, { accept: CHROMIUM }],
  ['text/html as the last of a list, with parameters', true, { accept: 'a/b , Text/HTML ;q=0.1' }],
  ['text/html;level=1', true, { accept: 'text/html;level=1' }],
  ['a page in a frame', true, { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
  ['a browser that names the destination alone', true, { 'sec-fetch-dest': 'document' }],
  ['an <object> or <embed>', false, { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'object' }],
  [
    'fetch() of which only the destination is known',
    false,
    { 'sec-fetch-dest': 'empty', accept: CHROMIUM }
  ],
  ['curl', 'without a dot', { accept: '*/*' }],
  ['curl, with parameters', 'without a dot', { accept: ' */* ; q=0.8' }],
  ['a client that takes anything after something else', false, { accept: 'application/json, */*' }],
  ['a client that takes nothing', false, { accept: '*/*;q=0' }],
  ['a request without Accept', false, {}],
  ['an empty Accept', false, { accept: '' }],
  ['any text', false, { accept: 'text/*' }],
  ['text/html;q=0', false, { accept: 'text/html;q=0' }],
  ['text/html; Q=0.000', false, { accept: '*/*, text/html ; Q=0.000' }],
  ['text/html;level=1;q=0', false, { accept: 'text/html;level=1;q=0' }],
  ['text/html;q=0.001', true, { accept: 'text/html;q=0.001' }],
  ['text/htmlx', false, { accept: 'text/htmlx, xtext/html' }]
] as const) {
  const where = isExpected === 'without a dot' ? ' to a path whose last segment has no dot' : ''
  test(`MNT-06 ${title} ${isExpected ? 'navigates' : 'does not navigate'}${where}`, t => {
    for (const method of ['GET', 'HEAD']) {
      for (const path of ['/', '/orders/7', '/v1.2/users', '/v1.2/users/']) {
        t.is(isNavigation({ method, headers }, path), isExpected !== false, path)
      }
      for (const path of ['/docs/v1.2', '/docs/v1.2/', '/.']) {
        t.is(isNavigation({ method, headers }, path), isExpected === true, path)
      }
    }
    for (const method of ['POST', 'PUT', 'OPTIONS', undefined]) {
      t.false(isNavigation({ method, headers }, '/'), method)
    }
  })
}

test('S29 reading Accept takes time in proportion to its length', t => {
  for (const piece of ['text/html;q=0,', ' ', ';', ',', 'text/html;', 'q=0;']) {
    t.true(
      growsInProportion(16_000, bytes =>
        isNavigation(
          { method: 'GET', headers: { accept: `text/html${piece.repeat(bytes / piece.length)}x` } },
          '/'
        )
      ),
      piece
    )
  }
})

const OLD = 'old bytes'

const offered = (headers: Readonly<Record<string, string>>) =>
  offeredDictionary({
    'accept-encoding': 'gzip, dcz',
    'available-dictionary': available(OLD),
    ...headers
  })

test('DLT-02 a dictionary is offered by its SHA-256, with dcz among the codings', t => {
  for (const coding of [
    'dcz',
    'DCZ',
    'gzip, br, zstd, dcb, dcz',
    'dcz;q=0.001',
    'br;q=1 , dcz ; q=0.5'
  ]) {
    t.deepEqual(offered({ 'accept-encoding': coding }), sha256(OLD), coding)
  }
})

test('DLT-03 without dcz by its own name there is no dictionary', t => {
  for (const coding of [
    '',
    '*',
    '*;q=1',
    'gzip',
    'dcz;q=0',
    'dcz;q=0.000',
    'dcb',
    'xdcz',
    'dcz;q=x'
  ]) {
    t.is(offered({ 'accept-encoding': coding }), undefined, coding)
  }
  t.is(offeredDictionary({ 'available-dictionary': available(OLD) }), undefined)
})

test('DLT-03 S62 a field that is not one hash is none', t => {
  const hash = sha256(OLD).toString('base64')
  const wrong = [
    ...['', ':', '::', hash, `:${hash}`, `"${hash}"`, `:${hash}: `, `:${hash}:, :${hash}:`],
    ...[
      `:${hash.slice(4)}:`,
      `:AAAA${hash}:`,
      `:${hash.slice(0, -1)}:`,
      `:${hash.replace('=', '-')}:`
    ],
    ...[`:${'A'.repeat(16 * 1024)}:`, sha256(OLD).toString('hex')]
  ]
  for (const field of wrong) t.is(offered({ 'available-dictionary': field }), undefined, field)
})

test('DLT-03 a page that may not read the response gets none that depends on its cache', t => {
  const from = (mode: string, site: string) =>
    offered({ 'sec-fetch-mode': mode, 'sec-fetch-site': site }) !== undefined
  for (const site of ['cross-site', 'same-site']) {
    t.false(from('no-cors', site), site)
    t.true(from('cors', site), site)
    t.true(from('navigate', site), site)
  }
  for (const site of ['same-origin', 'none']) t.true(from('no-cors', site), site)
})

test('DLT-01 a pattern of URLs is literal but for its star', t => {
  t.is(useAsDictionary('/assets/app-', '.js'), 'match="/assets/app-*.js"')
  t.is(
    useAsDictionary('/static/(a)+b:c{d}-', '.js'),
    String.raw`match="/static/\\(a\\)\\+b\\:c\\{d\\}-*.js"`
  )
})
