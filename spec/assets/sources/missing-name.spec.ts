// A page that names an asset without a source: a warning for its developer, never an error in the page.
import test from 'ava'
import type { Middleware } from 'koa'
import { makeSite, type Files, type SiteOptions } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { warningsAbout } from '../../support/warnings.ts'

const routes: Middleware = ctx => {
  if (ctx.path.startsWith('/assets/')) return
  const { assets } = ctx
  ctx.body = ctx.querystring
    .split('&')
    .map(name => assets.path(name))
    .join(' ')
}

const makePages = (t: Parameters<typeof makeSite>[0], files: Files, options: SiteOptions = {}) =>
  makeSite(t, files, { routes, ...options })

test('REN-14 a name without a source is logged once, with the nearest name', async t => {
  const site = await makePages(t, { 'stylesheets/dashboard.css': 'a{}', 'images/a.png': 'a' })
  const page = await site.ask('/?dashboard.css&dashbord.css')
  t.is(page.text, '/assets/dashboard.css /assets/dashbord.css')
  await until(() => warningsAbout('dashbord.css').length > 0, 'the name is logged')
  await site.ask('/?dashbord.css')
  await site.ask('/?nowhere-else.png')
  await until(() => warningsAbout('nowhere-else.png').length > 0, 'the other name is logged')
  t.deepEqual(
    [...warningsAbout('dashbord.css'), ...warningsAbout('nowhere-else.png')],
    [
      "koa-fresh-assets: a page links to /assets/dashbord.css, which has no source in apps/web/assets; did you mean 'dashboard.css'?",
      'koa-fresh-assets: a page links to /assets/nowhere-else.png, which has no source in apps/web/assets'
    ]
  )
  t.deepEqual(warningsAbout('/assets/dashboard.css'), [])
})

test('REN-14 a name that finds a source, a tail or a file in public is not logged', async t => {
  const files = {
    'stylesheets/deep/known.css.scss': 'a { b: c }',
    '/public/assets/known.png': 'put there by a person'
  }
  const site = await makePages(t, files)
  const names = ['deep/known.css', 'known.css', 'known.png']
  const page = await site.ask(`/?${names.join('&')}&known-last.txt`)
  t.is(page.text, [...names, 'known-last.txt'].map(name => `/assets/${name}`).join(' '))
  await until(() => warningsAbout('known-last.txt').length > 0, 'the last name is logged')
  t.is(warningsAbout('known').length, 1)
})

test('REN-14 for an ambiguous tail the log only lists the possible names', async t => {
  const site = await makePages(t, { 'css/one/twice.css': 'a{}', 'css/two/twice.css': 'b{}' })
  await site.ask('/?twice.css')
  await until(() => warningsAbout('twice.css').length > 0, 'the tail is logged')
  await site.ask('/assets/twice.css')
  const [warning, ...others] = warningsAbout('twice.css')
  t.deepEqual(others, [])
  t.true(warning?.includes('use one of css/one/twice.css, css/two/twice.css'))
})

test('REN-14 a helper looks nothing up before its page is written, and never outside development', async t => {
  for (const env of ['development', 'test', 'staging']) {
    let warned = -1
    const name = `unseen-in-${env}.css`
    const site = await makePages(
      t,
      {},
      {
        env,
        routes: ctx => {
          ctx.body = ctx.assets.path(name)
          warned = warningsAbout(name).length
        }
      }
    )
    t.is((await site.ask('/')).text, `/assets/${name}`)
    t.is(warned, 0)
    if (env === 'development') {
      await until(() => warningsAbout(name).length > 0, 'the name is logged')
    }
  }
  t.deepEqual(warningsAbout('unseen-in-test'), [])
  t.deepEqual(warningsAbout('unseen-in-staging'), [])
})
