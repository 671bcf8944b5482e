// docs/middleware-order.md: its programs are run, with the middleware that they name.
import { test } from '../../support/test.ts'
import { blocksLeft, makeExample, readPage } from '../../support/examples.ts'
import { linkPackages } from '../installed.ts'

const middlewareOrderPage = readPage('docs/middleware-order.md')
const blocks = ['', 'An error handler', 'A guard in front of files'].flatMap(section =>
  middlewareOrderPage.take(section)
)

const membersExample = middlewareOrderPage.take('A guard by session')

test('a guard by session keeps only members’ files from visitors without a session', async t => {
  const files = { 'assets/app.css': 'p {}', 'data/members/plan.txt': 'plan' }
  const site = makeExample(t, files, linkPackages)
  await site.follow(membersExample)
  await site.run('node members/server.js')
  t.is((await site.ask('/members/plan.txt')).status, 401)
  const { headers } = await site.ask('/login', { method: 'POST' })
  const cookie = (headers['set-cookie'] ?? []).map(each => each.split(';')[0]).join('; ')
  const plan = await site.ask('/members/plan.txt', { headers: { cookie } })
  t.deepEqual([plan.text, plan.headers['cache-control']], ['plan', 'private, no-cache'])
  t.true((await site.ask('/')).text.includes('/assets/app.css'))
  t.is((await site.ask('/assets/app.css', { headers: { cookie } })).status, 200)
  t.deepEqual(blocksLeft(), [])
})

test('in the order of docs/middleware-order.md every middleware does its work for files and pages', async t => {
  const files = {
    'assets/stylesheets/app.css': 'p { color: green }\n'.repeat(200),
    'assets/stylesheets/admin/menu.css': 'nav {}'
  }
  const site = makeExample(t, files, linkPackages)
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
