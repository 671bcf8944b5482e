import { utimesSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { makeSite } from '../../support/site.ts'

const TEXT = '0123456789'
const THEN = 1_700_000_000
const LAST_MODIFIED = 'Tue, 14 Nov 2023 22:13:20 GMT'
const BEFORE = 'Tue, 14 Nov 2023 22:13:19 GMT'
const LATER = 'Tue, 14 Nov 2023 22:13:21 GMT'

const makeFile = async (t: ExecutionContext) => {
  const site = await makeSite(t, { '/public/a.txt': TEXT })
  utimesSync(site.at('/public/a.txt'), THEN, THEN)
  const { headers } = await site.ask('/a.txt')
  return { ...site, etag: headers.etag ?? '' }
}

for (const [value, text, contentRange] of [
  ['bytes=0-3', '0123', 'bytes 0-3/10'],
  ['bytes=-3', '789', 'bytes 7-9/10'],
  ['bytes=-30', TEXT, 'bytes 0-9/10'],
  ['bytes=4-', '456789', 'bytes 4-9/10'],
  ['bytes=5-5', '5', 'bytes 5-5/10'],
  ['bytes=8-99999999999999999999', '89', 'bytes 8-9/10'],
  ['BYTES=0-0', '0', 'bytes 0-0/10']
] as const) {
  test(`ANS-04 Range: ${value} is 206 with ${contentRange}`, async t => {
    const { ask, etag } = await makeFile(t)
    const part = await ask('/a.txt', { headers: { range: value } })
    t.is(part.status, 206)
    t.is(part.text, text)
    t.is(part.headers['content-range'], contentRange)
    t.is(part.headers['content-length'], String(text.length))
    t.is(part.headers['content-type'], 'text/plain; charset=utf-8')
    t.is(part.headers.etag, etag)
    t.is(part.headers['last-modified'], LAST_MODIFIED)
    t.is(part.headers['cache-control'], 'no-cache')
  })
}

for (const value of ['bytes=10-', 'bytes=10-11', 'bytes=99999999999999999999-', 'bytes=-0']) {
  test(`ANS-04 Range: ${value} is beyond the end and is 416`, async t => {
    const { ask } = await makeFile(t)
    const { status, text, headers } = await ask('/a.txt', { headers: { range: value } })
    t.is(status, 416)
    t.is(text, '')
    t.is(headers['content-range'], 'bytes */10')
    t.is(headers['content-type'], undefined)
  })
}

for (const value of [
  'bytes=0-1,3-4',
  'lines=0-1',
  'bytes=',
  'bytes=-',
  'bytes=b-1',
  'bytes=5-2',
  'x'
]) {
  test(`ANS-04 Range: ${value} gets the whole file`, async t => {
    const { ask } = await makeFile(t)
    const { status, text, headers } = await ask('/a.txt', { headers: { range: value } })
    t.is(status, 200)
    t.is(text, TEXT)
    t.is(headers['content-range'], undefined)
    t.is(headers['content-length'], '10')
  })
}

test('ANS-04 HEAD ignores Range', async t => {
  const { ask } = await makeFile(t)
  const head = await ask('/a.txt', { method: 'HEAD', headers: { range: 'bytes=0-3' } })
  t.deepEqual([head.status, head.headers['content-length']], [200, '10'])
  t.is(head.headers['content-range'], undefined)
})

for (const [value, expected] of [
  ['{etag}', 206],
  [LAST_MODIFIED, 206],
  ['"old"', 200],
  ['W/{etag}', 200],
  ['"old", {etag}', 200],
  ['*', 200],
  [BEFORE, 200],
  [LATER, 200]
] as const) {
  test(`ANS-05 If-Range: ${value} is ${expected}`, async t => {
    const { ask, etag } = await makeFile(t)
    const headers = { range: 'bytes=0-3', 'if-range': value.replace('{etag}', etag) }
    const { status, text } = await ask('/a.txt', { headers })
    t.deepEqual([status, text], [expected, expected === 206 ? '0123' : TEXT])
    const beyond = await ask('/a.txt', { headers: { ...headers, range: 'bytes=20-' } })
    t.is(beyond.status, expected === 206 ? 416 : 200)
  })
}
