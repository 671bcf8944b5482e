// docs/target.md: its configuration is used.
import { test } from '../support/test.ts'
import { blocksLeft, makeExample, readPage } from '../support/examples.ts'

const page = readPage('docs/target.md')
const blocks = page.take('')

test('with the configuration of the page, stylesheets have prefixes', async t => {
  const site = makeExample(t, {
    'assets/app.css': 'a { user-select: none; color: oklch(60% 0.1 200) }'
  })
  await site.follow(blocks)
  await site.run('npx koa-fresh-assets precompile')
  t.is(
    site.read('public/assets/app.css').split('\n')[0],
    'a{-webkit-user-select:none;user-select:none;color:oklch(60% .1 200)}'
  )
})

test('every block of this page is run here', t => {
  t.deepEqual(blocksLeft(), [])
})
