// A site like the demo: two apps, a third party, pages with helpers, and a person who edits.
import { renameSync, unlinkSync } from 'node:fs'
import test from 'ava'
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

    const css = async () => (await site.ask('/assets/app.css')).text
    t.regex(await css(), /color: black/)
    const [, image = ''] = /url\("?([^")]+)"?\)/.exec(await css()) ?? []
    const found = await site.ask(new URL(image, 'http://x/assets/app.css').pathname)
    t.is(found.bytes.toString(), 'dial')

    site.write('stylesheets/parts/_colors.scss', '$text: navy;')
    t.regex(await css(), /color: navy/, 'a partial is edited')
    site.write('stylesheets/parts/_colors.scss', '$text: olive;', Date.now() / 1000 - 86_400)
    t.regex(await css(), /color: olive/, 'a day back, with other content')
    site.write('stylesheets/parts/_colors.scss', FILES['stylesheets/parts/_colors.scss'])
    t.regex(await css(), /color: black/, 'checked out')

    renameSync(site.at('images/logo.svg'), site.at('images/mark.svg'))
    t.is((await site.ask('/assets/logo.svg')).status, 404, 'renamed')
    t.is((await site.ask('/assets/mark.svg')).status, 200)
    unlinkSync(site.at('javascripts/app.js.ts'))
    t.is((await site.ask('/assets/app.js')).status, 404, 'removed')
    t.deepEqual(site.errors, [])
  })
}
