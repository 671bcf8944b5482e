// docs/coming-from.md
import test from 'ava'
import { COMMANDS } from '../../lib/cli/arguments.ts'
import { makeExample, readPage } from '../support/examples.ts'

const page = readPage('docs/coming-from.md')
const program = page.take('')

test('every block of the page is run here', t => {
  t.deepEqual(page.left(), [])
})

test('the example responds with its assets, and with 304', async t => {
  const book =
    "{ id: 7, revision: 1, title: 'Walden', updatedAt: new Date('2024-05-01T10:00:00Z') }"
  const site = makeExample(t, {
    'books.js': `export const books = { find: () => (${book}) }`,
    'apps/web/assets/stylesheets/app.css': 'p {}',
    'apps/web/assets/images/logo.png': 'png',
    'apps/polls/assets/stylesheets/app.css': 'h1 {}'
  })
  await site.follow(program)
  await site.run('NODE_ENV=development node server.js')
  const { text, headers } = await site.ask('/books/7')
  t.regex(text, /<link href="\/assets\/app\.css".*<img src="\/assets\/logo\.png" alt="Logo">/s)
  t.is(headers.etag, '"7-1"')
  t.is((await site.ask('/books/7', { headers: { 'if-none-match': '"7-1"' } })).status, 304)
  t.is((await site.ask('/assets/polls/app.css')).text, 'h1 {}')
  t.regex(await site.run('npx koa-fresh-assets explain /assets/polls/app.css'), /apps\/polls/)
})

test('every command that the tables give exists, with its options', async t => {
  const ours = page.text.split('\n').flatMap(line => line.split(' | ').slice(1))
  const commands = new Set(COMMANDS.map(({ name }) => name))
  const named = ours.flatMap(cell =>
    Array.from(cell.matchAll(/npx koa-fresh-assets (\w+)/g), ([, name = '']) => name)
  )
  t.true(named.length > 5)
  t.deepEqual(
    named.filter(name => !commands.has(name)),
    []
  )
  const site = makeExample(t, { 'assets/app.css': 'p {}' })
  await site.run('npx koa-fresh-assets precompile')
  await site.run('npx koa-fresh-assets clean --age 1h --keep 2')
})
