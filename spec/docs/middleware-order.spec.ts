// docs/middleware-order.md
import test from 'ava'
import { makeExample, readPage } from '../support/examples.ts'

const page = readPage('docs/middleware-order.md')
const blocks = ['', 'An error handler', 'A guard in front of files'].flatMap(section =>
  page.take(section)
)

test('every block of the page is run here', t => {
  t.deepEqual(page.left(), [])
})

test('in the order of the page, files and pages have what each middleware adds', async t => {
  const site = makeExample(t, {
    'assets/stylesheets/app.css': 'p { color: green }\n'.repeat(200),
    'assets/stylesheets/admin/menu.css': 'nav {}'
  })
  await site.follow(blocks)
  await site.run('node server.js')
  const headers = { 'accept-encoding': 'gzip', origin: 'https://other.example' }
  for (const path of ['/', '/assets/app.css']) {
    const answer = await site.ask(path, { headers })
    t.is(answer.status, 200, path)
    t.regex(String(answer.headers['x-response-time']), /ms$/)
    t.is(answer.headers['x-frame-options'], 'SAMEORIGIN')
    t.is(answer.headers['access-control-allow-origin'], '*')
    t.is(answer.headers['set-cookie'], undefined)
  }
  t.is((await site.ask('/assets/app.css', { headers })).headers['content-encoding'], 'gzip')
  t.is((await site.ask('/', { headers: { 'if-none-match': '"home-1"' } })).status, 304)

  const broken = await site.ask('/broken')
  t.is(broken.status, 500)
  t.true(broken.text.includes('/assets/app.css'))
  t.is(broken.headers['cache-control'], 'no-store')

  t.is((await site.ask('/assets/admin/menu.css')).status, 401)
  t.is((await site.ask('/assets/menu.css')).status, 404)
  const allowed = await site.ask('/assets/admin/menu.css', { headers: { authorization: 'x' } })
  t.deepEqual([allowed.status, allowed.headers['cache-control']], [200, 'private, no-cache'])
})
