// docs/deploy.md
import test from 'ava'
import { makeExample, readPage } from '../support/examples.ts'

const page = readPage('docs/deploy.md')
const server = page.take('What these files expect')

test('every block of the page is run here', t => {
  t.deepEqual(page.left(), [])
})

test('the server answers /health, and believes who a proxy says that asks', async t => {
  const site = makeExample(t, { 'package.json': '{ "type": "module" }' })
  await site.run('npx koa-fresh-assets init')
  await site.follow(server)
  await site.run('PORT=3001 HOST=127.0.0.1 node server.js')
  const { status, text } = await site.ask('/health')
  t.deepEqual([status, text], [200, 'ok'])
  const headers = { 'X-Forwarded-For': '192.0.2.7' }
  t.is((await site.ask('/', { headers })).text, 'Hello, 192.0.2.7')
  t.is((await site.ask('/none')).status, 404)
})
