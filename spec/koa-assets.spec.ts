// A site like the demo: two apps, a third party, and pages with helpers.
import type { Context } from 'koa'
import { assetSources } from '../lib/index.ts'
import { KOAS } from './support/cached-site.ts'
import { urlsIn } from './support/examples.ts'
import { makeProject, makeSite, test } from './support/index.ts'

const page = ({ path, assets, response }: Context) => {
  if (path !== '/' && path !== '/admin') return
  response.body = assets.favicon() + assets.stylesheet('app') + assets.javascript('app', 'dial')
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

for (const [version, koa] of KOAS) {
  test(`two apps and a third party, from the page to every asset, over ${version}`, async t => {
    const theirs = {
      'scripts/dial.js': 'dial()',
      'styles/_widget.scss': '.widget { background: url(../images/dial.png) }',
      'images/dial.png': 'dial'
    }
    const vendor = makeProject(t, theirs)
    assetSources.append(vendor)
    const site = await makeSite(t, FILES, { koa, env: 'test', routes: page })

    for (const [path, prefix] of [
      ['/', '/assets'],
      ['/admin', '/assets/admin']
    ] as const) {
      const { text } = await site.ask(path)
      const names = ['favicon.ico', 'app.css', 'app.js', 'dial.js']
      const paths = names.map(name => `${prefix}/${name}`)
      t.deepEqual(urlsIn(text), paths)
      for (const url of paths) {
        const { status } = await site.ask(url)
        t.is(status, url === '/assets/admin/favicon.ico' ? 404 : 200, url)
      }
    }

    const { text: css } = await site.ask('/assets/app.css')
    t.regex(css, /color: black/)
    const [, image = ''] = /url\("?([^")]+)"?\)/.exec(css) ?? []
    t.is((await site.ask(new URL(image, 'http://x/assets/app.css').pathname)).text, 'dial')
    t.deepEqual(site.errors, [])
  })
}
