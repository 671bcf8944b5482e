import { utimesSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { makeSite } from '../../support/site.ts'

const TEXT = '0123456789'
const THEN = 1_700_000_000
const LAST_MODIFIED = 'Tue, 14 Nov 2023 22:13:20 GMT'
const BEFORE = 'Tue, 14 Nov 2023 22:13:19 GMT'
const LATER = 'Tue, 14 Nov 2023 22:13:21 GMT'

const both = (tag: string, date: string) => ({
  headers: { 'if-none-match': tag, 'if-modified-since': date }
})

const makeFile = async (t: ExecutionContext) => {
  const site = await makeSite(t, { '/public/a.txt': TEXT })
  utimesSync(site.at('/public/a.txt'), THEN, THEN)
  const { headers } = await site.ask('/a.txt')
  return { ...site, etag: headers.etag ?? '' }
}

test('ANS-01 the ETag is strong, and the same on two replicas where the bytes are read', async t => {
  const [one, two] = [await makeFile(t), await makeFile(t)]
  t.regex(one.etag, /^"[\x21\x23-\x7e]{6,}"$/)
  t.is(one.etag, two.etag)
  one.write('/public/a.txt', '0123456780')
  utimesSync(one.at('/public/a.txt'), THEN, THEN)
  const { headers } = await one.ask('/a.txt')
  t.not(headers.etag, one.etag)
})

test('ANS-01 a response has these headers and no others', async t => {
  const { ask, etag } = await makeFile(t)
  const { status, headers } = await ask('/a.txt')
  const { date, ...others } = headers
  t.is(status, 200)
  t.truthy(date)
  t.deepEqual(others, {
    etag,
    'last-modified': LAST_MODIFIED,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'content-type': 'text/plain; charset=utf-8',
    'content-length': '10',
    'accept-ranges': 'bytes',
    connection: 'close'
  })
})

for (const [value, expected] of [
  ['{etag}', 304],
  ['"x", {etag} , "y"', 304],
  ['W/{etag}', 304],
  ['*', 304],
  ['"x"', 200],
  ['', 200],
  ['"x{etag}', 200]
] as const) {
  test(`ANS-02 If-None-Match: ${value} is ${expected}`, async t => {
    const { ask, etag } = await makeFile(t)
    const headers = { 'if-none-match': value.replace('{etag}', etag) }
    for (const method of ['GET', 'HEAD']) {
      t.is((await ask('/a.txt', { method, headers })).status, expected)
    }
  })
}

test('ANS-02 If-None-Match wins over If-Modified-Since, both ways', async t => {
  const { ask, etag } = await makeFile(t)
  t.is((await ask('/a.txt', both(etag, BEFORE))).status, 304)
  t.is((await ask('/a.txt', both('"x"', LAST_MODIFIED))).status, 200)
})

for (const [value, expected] of [
  [LAST_MODIFIED, 304],
  ['Tuesday, 14-Nov-23 22:13:20 GMT', 304],
  ['Tue Nov 14 22:13:20 2023', 304],
  [LATER, 304],
  [BEFORE, 200],
  ['Thu, 14 Nov 2999 22:13:20 GMT', 200],
  ['2030', 200],
  ['yesterday', 200]
] as const) {
  test(`ANS-02 If-Modified-Since: ${value} is ${expected}`, async t => {
    const { ask } = await makeFile(t)
    t.is((await ask('/a.txt', { headers: { 'if-modified-since': value } })).status, expected)
  })
}

for (const [name, value, expected] of [
  ['if-match', '"x"', 412],
  ['if-match', 'W/{etag}', 412],
  ['if-match', '{etag}', 200],
  ['if-match', '"x", {etag}', 200],
  ['if-match', '*', 200],
  ['if-unmodified-since', BEFORE, 412],
  ['if-unmodified-since', LAST_MODIFIED, 200],
  ['if-unmodified-since', LATER, 200],
  ['if-unmodified-since', 'nonsense', 200]
] as const) {
  test(`ANS-03 ${name}: ${value} is ${expected}`, async t => {
    const { ask, etag } = await makeFile(t)
    const { status, text, headers } = await ask('/a.txt', {
      headers: { [name]: value.replace('{etag}', etag) }
    })
    t.is(status, expected)
    t.is(text, expected === 200 ? TEXT : '')
    if (expected === 412) {
      t.is(headers['content-length'], '0')
      t.is(headers['content-type'], undefined)
    }
  })
}

test('ANS-08 a 304 has the validators and nothing about content', async t => {
  const { ask, etag } = await makeFile(t)
  const { status, text, headers } = await ask('/a.txt', { headers: { 'if-none-match': etag } })
  const { date, ...others } = headers
  t.is(status, 304)
  t.is(text, '')
  t.truthy(date)
  t.deepEqual(others, {
    etag,
    'last-modified': LAST_MODIFIED,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    connection: 'close'
  })
})

test('ANS-10 robots.txt and plain names are revalidated', async t => {
  const files = { '/public/robots.txt': 'x', '/public/assets/a.css': 'a{}' }
  const compiling = await makeSite(t, files)
  const not = await makeSite(t, files, { env: 'staging' })
  for (const path of ['/robots.txt', '/assets/a.css']) {
    t.is((await compiling.ask(path)).headers['cache-control'], 'no-cache')
    t.is((await not.ask(path)).headers['cache-control'], 'public, max-age=0, must-revalidate')
  }
})

for (const [when, mtime] of [
  ['the epoch', 0],
  ['yet to come', 4_000_000_000]
] as const) {
  test(`Last-Modified is left out when the file's mtime is ${when}`, async t => {
    const site = await makeFile(t)
    utimesSync(site.at('/public/a.txt'), mtime, mtime)
    const { status, headers } = await site.ask('/a.txt')
    t.is(status, 200)
    t.is(headers['last-modified'], undefined)
  })
}

test('an empty file is served', async t => {
  const site = await makeSite(t, { '/public/empty.txt': '' })
  const { status, headers, text } = await site.ask('/empty.txt')
  t.deepEqual([status, headers['content-length'], text], [200, '0', ''])
  t.is((await site.ask('/empty.txt', { headers: { range: 'bytes=0-' } })).status, 416)
})

test('headers set by a middleware in front are kept', async t => {
  const site = await makeSite(
    t,
    { '/public/a.txt': TEXT },
    {
      front: (ctx, next) => {
        ctx.set({
          Vary: 'Origin',
          'X-Front': 'yes',
          'Set-Cookie': 'a=b',
          'Cache-Control': 'private'
        })
        return next()
      }
    }
  )
  const { headers } = await site.ask('/a.txt')
  t.is(headers.vary, 'Origin')
  t.is(headers['x-front'], 'yes')
  t.deepEqual(headers['set-cookie'], ['a=b'])
  t.is(headers['cache-control'], 'private')
})

test('with a CDN host other origins may read files under the prefix', async t => {
  const files = { '/public/assets/a.css': 'a{}', '/public/robots.txt': 'x' }
  for (const memory of [{}, { maxFileBytes: 0 }]) {
    const site = await makeSite(t, files, { host: 'https://cdn.example', memory })
    t.is((await site.ask('/assets/a.css')).headers['access-control-allow-origin'], '*')
    t.is((await site.ask('/robots.txt')).headers['access-control-allow-origin'], undefined)
  }
  const without = await makeSite(t, files)
  t.is((await without.ask('/assets/a.css')).headers['access-control-allow-origin'], undefined)
})
