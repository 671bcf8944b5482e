// docs/production.md
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { makeExample, readPage } from '../support/examples.ts'
import { until } from '../support/until.ts'

const page = readPage('docs/production.md')
const build = page.take('Precompile')
const [serving, withoutServing] = page.take('Start')
const release = page.take('The next release')
const inCode = page.take('In code')

test('every block of the page is run here', t => {
  t.deepEqual(page.left(), [])
})

const FILES = {
  'assets.config.js': 'export default { root: import.meta.dirname }',
  'assets/stylesheets/app.css.scss': 'p { color: green }\n'.repeat(100),
  'server.js': `import Koa from 'koa'
    import { koaAssets } from 'koa-fresh-assets'
    import options from './assets.config.js'
    const app = new Koa()
    app.use(koaAssets(options))
    app.use(ctx => {
      if (ctx.path === '/') ctx.body = ctx.assets.path('app.css')
    })
    app.listen(3000)`
}

const makeShop = (t: ExecutionContext) => makeExample(t, FILES)

test('built, verified and started: files for a year, compressed, without sources or manifest', async t => {
  const site = makeShop(t)
  const started = site.follow(serving ? [serving] : [])
  await t.throwsAsync(started, { message: /there is no manifest .*koa-fresh-assets precompile/s })
  await site.follow(build)
  rmSync(join(site.root, 'assets'), { recursive: true })
  await site.follow(serving ? [serving] : [])
  const { text: path } = await site.ask('/')
  const { status, headers } = await site.ask(path, { headers: { 'accept-encoding': 'br' } })
  t.is(status, 200)
  t.is(headers['cache-control'], 'public, max-age=31536000, immutable')
  t.is(headers['content-encoding'], 'br')
  t.is((await site.ask('/assets.json')).status, 404)
  await site.follow(withoutServing ? [withoutServing] : [])
  t.is((await site.ask('/')).text, path)
  t.is((await site.ask(path)).status, 404)
  site.write({ [`public${path}`]: 'p {}' })
  await t.throwsAsync(site.run('npx koa-fresh-assets verify'), { message: /verify: 1\n/ })
})

test('the next release keeps the files of the last one, and a running server takes it over', async t => {
  const site = makeShop(t)
  await site.follow(build)
  await site.follow(serving ? [serving] : [])
  const { text: before } = await site.ask('/')
  site.write({ 'assets/stylesheets/app.css.scss': 'p { color: red }' })
  await site.follow(release)
  let after = before
  await until(async () => {
    after = (await site.ask('/')).text
    return after !== before
  }, 'the new manifest is taken over')
  for (const path of [before, after]) t.is((await site.ask(path)).status, 200)
})

test('the same in code: built, verified, minified', async t => {
  const site = makeShop(t)
  await site.follow(inCode)
  await site.run('node release.js')
  t.regex(await site.run('npx koa-fresh-assets verify'), /no problems/)
  t.regex(site.read('public/assets/app.css'), /^p\{color:green\}/)
})
