// A site like the demo: two apps, a third party, and pages with helpers.
import { test } from './support/test.ts'
import type { Context } from 'koa'
import { assetSources } from '../lib/index.ts'
import Koa2 from 'koa2'
import { makeProject, makeSite, type SiteOptions } from './support/site.ts'

const page = (ctx: Context) => {
  if (ctx.path !== '/' && ctx.path !== '/admin') return
  const { assets } = ctx
  ctx.body = [assets.favicon(), assets.stylesheet('app'), assets.javascript('app', 'dial')].join(
    '\n'
  )
}

const FILES = {
  'favicon.ico': 'icon',
  'stylesheets/app.css.scss': "@use 'parts/colors';\n@use 'widget';\nbody { color: colors.$text }",
  'stylesheets/parts/_colors.scss': '$text: black;',
  'javascripts/app.js.ts': 'export const answer: number = 42',
  'images/logo.svg': '<svg/>',
  'fonts/inter.woff2': 'font',
  '/apps/admin/assets/stylesheets/app.css': 'body { background: url(/assets/logo.svg) }',
  '/apps/admin/assets/javascripts/app.js': 'admin()'
}

for (const [version, options] of [
  ['Koa 3', {}],
  ['Koa 2', { koa: Koa2 }]
] as ReadonlyArray<readonly [string, SiteOptions]>) {
  test(`two apps and a third party, from the page to every asset, over ${version}`, async t => {
    const theirs = {
      'scripts/dial.js': 'dial()',
      'styles/_widget.scss': '.widget { background: url(../images/dial.png) }',
      'images/dial.png': 'dial'
    }
    const vendor = makeProject(t, theirs)
    assetSources.append(vendor)
    const site = await makeSite(t, FILES, { ...options, env: 'test', routes: page })

    for (const [path, prefix] of [
      ['/', '/assets'],
      ['/admin', '/assets/admin']
    ] as const) {
      const { text } = await site.ask(path)
      const urls = [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, url]) => url ?? '')
      const names = ['favicon.ico', 'app.css', 'app.js', 'dial.js']
      t.deepEqual(
        urls,
        names.map(name => `${prefix}/${name}`)
      )
      const answers = await Promise.all(urls.map(url => site.ask(url)))
      t.deepEqual(
        answers.map(({ status }) => status),
        prefix === '/assets' ? [200, 200, 200, 200] : [404, 200, 200, 200]
      )
    }

    const { text: css } = await site.ask('/assets/app.css')
    t.regex(css, /color: black/)
    const [, image = ''] = /url\("?([^")]+)"?\)/.exec(css) ?? []
    const found = await site.ask(new URL(image, 'http://x/assets/app.css').pathname)
    t.is(found.bytes.toString(), 'dial')
    t.deepEqual(site.errors, [])
  })
}
