import type { IncomingHttpHeaders } from 'node:http'
import test from 'ava'
import { isLocal } from '../../lib/http/local-request.ts'

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
