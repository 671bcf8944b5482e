// Who may print into the terminal, and what.
import fc from 'fast-check'
import { cases, makeSite, test, until, warningsAbout } from '../../support/index.ts'
import type { ExecutionContext } from '../../support/index.ts'

async function open(t: ExecutionContext) {
  const site = await makeSite(t, { 'js/app.js': 'app()', 'js/typed.js.ts': '\n\nthrow 1' })
  await site.ask('/assets/app.js')
  await site.ask('/assets/typed.js')
  const origin = `http://127.0.0.1:${site.port}`
  const post = async (body: string, headers: object = {}, path = '/assets/-/live') => {
    const isChunked = 'Transfer-Encoding' in headers
    const length = isChunked ? {} : { 'Content-Length': Buffer.byteLength(body) }
    const all = { Origin: origin, ...length, ...headers }
    return (await site.ask(path, { method: 'POST', headers: all, body })).status
  }
  return { origin, post }
}

test("the terminal shows texts only of the site's pages, within limits of size and rate", async t => {
  const { post } = await open(t)
  const foreign = 'from somewhere else'
  for (const headers of [
    ...[{ Origin: 'http://evil.example' }, { Origin: 'null' }, { Host: 'evil.example' }],
    ...[{ 'Sec-Fetch-Site': 'cross-site' }, { 'Sec-Fetch-Site': 'same-site' }, { Via: '1.1 a' }]
  ])
    t.is(await post(foreign, headers), 404, JSON.stringify(headers))
  for (const path of ['/assets/-/', '/assets/-/live.js', '/assets/-/toString'])
    t.is(await post(foreign, {}, path), 404, path)
  t.is(await post(foreign.repeat(2000)), 413)
  t.is(await post(foreign, { 'Transfer-Encoding': 'chunked' }), 413)
  t.deepEqual(warningsAbout(foreign), [])
  const startedAt = Date.now()
  const statuses = await Promise.all(Array.from({ length: 60 }, () => post('one of a crowd')))
  t.true(statuses.every(status => status === 204 || status === 429))
  const printed = warningsAbout('one of a crowd')
  t.is(printed.length, statuses.filter(status => status === 204).length)
  const seconds = 1 + Math.ceil((Date.now() - startedAt) / 1000)
  t.true(printed.length <= 20 * seconds, `${seconds} seconds`)
  t.is(printed[0], 'koa-fresh-assets: one of a crowd')
})

test('no text of a page can control the terminal', async t => {
  const { post } = await open(t)
  const unit = fc.constantFrom(...Array.from('\u001b\u0007\u009b\u202e\r\u2028a\nä'))
  let count = 0
  const property = fc.asyncProperty(fc.string({ unit, minLength: 1 }), async text => {
    const mark = `control characters ${count++}:`
    await until(async () => (await post(mark + text)) === 204, 'it is not too much for a second')
    const [printed = '', ...more] = warningsAbout(mark)
    return more.length === 0 && printed !== '' && !/[^\P{Cc}\n]|[\u202e\u2028]/u.test(printed)
  })
  await t.notThrowsAsync(fc.assert(property, { numRuns: cases(15, 200) }))
})

test('stack traces in the formats of browsers are printed with the places in the sources', async t => {
  const { origin, post } = await open(t)
  const app = 'apps/web/assets/js/app.js:7:3'
  const rows: readonly (readonly [text: string, shown: string])[] = [
    [`at f (${origin}/assets/app.js:7:3)`, `at f (${app})`],
    [`f@${origin}/assets/app.js?t=12:7:3`, `f@${app}`],
    [`at ${origin}/assets/typed.js:1:1`, 'at apps/web/assets/js/typed.js.ts:3:1'],
    [`at ${origin}/books:12:5`, 'at /books:12:5'],
    [`at ${origin}/assets/none.js:1:2`, 'at /assets/none.js:1:2'],
    [`at ${origin}/assets/%zz.js:1:2`, 'at /assets/%zz.js:1:2'],
    ['at https://cdn.example/assets/app.js:7:3', 'at https://cdn.example/assets/app.js:7:3'],
    [`see ${origin}/assets/app.js`, `see ${origin}/assets/app.js`]
  ]
  t.is(await post(['Stacks:', ...rows.map(([text]) => text)].join('\n')), 204)
  const shown = ['Stacks:', ...rows.map(([, shown]) => shown)].join('\n')
  t.deepEqual(warningsAbout('Stacks:'), [`koa-fresh-assets: ${shown}`])
})
