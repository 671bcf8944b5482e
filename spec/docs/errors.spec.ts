// docs/errors.md
import { readFileSync } from 'node:fs'
import test from 'ava'
import { makeExample, readPage } from '../support/examples.ts'

const page = readPage('docs/errors.md')
const program = page.take('')

test('every block of the page is run here', t => {
  t.deepEqual(page.left(), [])
})

test('the table has every code of lib/errors.ts, and no other', t => {
  const [, union = ''] =
    /type AssetErrorCode =([^]*?)\n\n/.exec(readFileSync('lib/errors.ts', 'utf8')) ?? []
  const codes = Array.from(union.matchAll(/'([\w-]+)'/g), ([, code]) => code)
  const named = Array.from(page.text.matchAll(/^\| `([\w-]+)`/gm), ([, code]) => code)
  t.true(codes.length > 10)
  t.is(named.length, codes.length)
  t.deepEqual(
    codes.filter(code => !named.includes(code)),
    []
  )
})

test('an error that is reported has its place, or its code', async t => {
  const site = makeExample(t, {
    'assets/app.css.scss': 'p {\n  color red;\n}',
    'server.js': `import Koa from 'koa'
      import { koaAssets } from 'koa-fresh-assets'
      import { reportErrors } from './report-errors.js'
      const app = new Koa()
      app.silent = true
      reportErrors(app)
      console.error = (...words) => { app.context.reported = words.join(' ') }
      app.use((ctx, next) => ctx.path === '/reported' ? void (ctx.body = ctx.reported) : next())
      app.use(koaAssets({ root: import.meta.dirname, serve: true }))
      app.use(ctx => { if (ctx.path === '/throws') throw new RangeError('too far') })
      app.listen(3000)`
  })
  await site.follow(program)
  await site.run('node server.js')
  t.is((await site.ask('/assets/app.css')).status, 500)
  t.regex((await site.ask('/reported')).text, /app\.css\.scss:2:\d+ expected/)
  await site.ask('/throws')
  t.is((await site.ask('/reported')).text, 'RangeError too far /throws')
})
