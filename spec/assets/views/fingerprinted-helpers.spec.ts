// What pages write in fingerprint mode.
import test from 'ava'
import { createHash } from 'node:crypto'
import { AssetError } from '../../../lib/errors.ts'
import { digestOf, makeFingerprinted, MODES } from '../../support/fingerprinted.ts'
import { withDigest } from '../../support/digest.ts'

const sum = (name: string, bytes: string) =>
  `${name}-${createHash(name).update(bytes).digest('base64')}`

for (const mode of MODES) {
  test(`FPR-01 a helper writes the name with its fingerprint (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, { 'javascripts/application.js': 'go()' })
    t.is(
      await site.render(assets => assets.javascript('application', { defer: true })),
      `<script src="/assets/application-${digestOf('go()')}.js" type="text/javascript" ` +
        `integrity="${sum('sha384', 'go()')}" crossorigin="anonymous" defer="defer"></script>`
    )
  })

  test(`FPR-02 the fingerprint is the beginning of the SHA-256 of the bytes that are sent (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'stylesheets/app.css.scss': 'a { b { color: red } }',
      'images/film.bin': Buffer.alloc(3 * 1024 * 1024 + 17, 'film')
    })
    for (const name of ['app.css', 'film.bin']) {
      const path = await site.path(name)
      const { bytes, status } = await site.ask(path)
      t.is(status, 200)
      t.is(path, `/assets/${name.replace('.', `-${digestOf(bytes)}.`)}`)
    }
  })

  test(`FPR-03 a name that is not in the manifest is an error that suggests the nearest name (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'stylesheets/dashboard.css': 'a{}',
      'stylesheets/other.css': 'b{}'
    })
    const where =
      mode === 'precompiled' ? `${site.root}/public/assets.json` : 'the manifest in memory'
    await t.throwsAsync(() => site.path('dashbord.css'), {
      instanceOf: AssetError,
      code: 'asset-unknown',
      message: `/assets/dashbord.css is not in ${where}; did you mean 'dashboard.css'?`
    })
    await t.throwsAsync(() => site.path('zzz.png'), {
      message: `/assets/zzz.png is not in ${where}`
    })
  })

  test(`PUB-13 with tails: false a helper accepts only the full name (${mode})`, async t => {
    const files = { 'stylesheets/admin/menu.css': 'a{}' }
    const withTails = await makeFingerprinted(t, mode, files)
    const target = `/assets/admin/menu-${digestOf('a{}')}.css`
    for (const name of ['admin/menu.css', 'menu.css', 'stylesheets/admin/menu.css']) {
      t.is(await withTails.path(name), target)
    }
    const site = await makeFingerprinted(t, mode, files, { tails: false })
    t.is(await site.path('admin/menu.css'), target)
    for (const name of ['menu.css', 'stylesheets/admin/menu.css']) {
      await t.throwsAsync(() => site.path(name), {
        code: 'asset-unknown',
        message: /; did you mean 'admin\/menu\.css'\?$/
      })
    }
  })

  test(`REN-11 with a host every helper writes it before the fingerprinted path (${mode})`, async t => {
    const site = await makeFingerprinted(
      t,
      mode,
      {
        'app.js': 'go()',
        'app.css': 'a{}',
        'a.png': 'png',
        'favicon.ico': 'ico',
        'a.mp4': 'film',
        'a.mp3': 'song'
      },
      { host: 'https://cdn.example/' }
    )
    const written = await site.render(assets =>
      [
        assets.javascript('app'),
        assets.stylesheet('app'),
        assets.image('a.png'),
        assets.favicon(),
        assets.video('a.mp4'),
        assets.audio('a.mp3'),
        assets.url('app.js'),
        assets.importMap(),
        assets.preload('app.css')
      ].join('\n')
    )
    const urls = written.match(/[^"<>\s]*\/assets\/[^"<>\s]*/g) ?? []
    t.is(urls.length, 11)
    for (const url of urls) t.regex(url, /^https:\/\/cdn\.example\/assets\//)
    t.is(await site.path('app.js'), `/assets/app-${digestOf('go()')}.js`)
    const { headers } = await site.ask(await site.path('app.js'))
    t.is(headers['access-control-allow-origin'], '*')
  })

  test(`REN-12 several integrity algorithms are written in one attribute, before crossorigin (${mode})`, async t => {
    const site = await makeFingerprinted(
      t,
      mode,
      { 'app.js': 'go()' },
      { integrity: ['sha256', 'sha512'] }
    )
    const src = `/assets/app-${digestOf('go()')}.js`
    const integrity = `${sum('sha256', 'go()')} ${sum('sha512', 'go()')}`
    t.is(
      await site.render(assets => assets.javascript('app')),
      `<script src="${src}" type="text/javascript" integrity="${integrity}" crossorigin="anonymous"></script>`
    )
    t.is(
      await site.render(assets => assets.javascript('app', { crossorigin: 'use-credentials' })),
      `<script src="${src}" type="text/javascript" integrity="${integrity}" crossorigin="use-credentials"></script>`
    )
  })

  test(`REN-12 without integrity there is no crossorigin either (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, { 'app.css': 'a{}' }, { integrity: false })
    t.is(
      await site.render(assets => assets.stylesheet('app')),
      `<link href="/assets/app-${digestOf('a{}')}.css" type="text/css" rel="stylesheet">`
    )
  })

  test(`PUB-13 a helper finds an asset by every tail of its source's path (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'stylesheets/admin/menu.css.scss': 'a { color: red }',
      'images/flags/europe/fi.png': 'fi'
    })
    const menu = await site.path('admin/menu.css')
    t.regex(menu, withDigest(/^\/assets\/admin\/menu-DIGEST\.css$/))
    t.is(await site.path('menu.css'), menu)
    t.is(await site.path('stylesheets/admin/menu.css'), menu)
    const flag = await site.path('flags/europe/fi.png')
    for (const tail of ['fi.png', 'europe/fi.png', 'images/flags/europe/fi.png']) {
      t.is(await site.path(tail), flag)
    }
    await t.throwsAsync(() => site.path('stylesheets/admin/menu.css.scss'))
    await t.throwsAsync(() => site.path('enu.css'))
  })

  test(`PUB-14 a tail that matches two files is an error, the full names are not (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'stylesheets/admin/menu.css': 'admin',
      'stylesheets/shop/menu.css': 'shop'
    })
    await t.throwsAsync(() => site.path('menu.css'), { code: 'asset-unknown' })
    t.is(await site.path('shop/menu.css'), `/assets/shop/menu-${digestOf('shop')}.css`)
  })

  test(`PUB-14 the app's own tail is taken before one of an extra source (${mode})`, async t => {
    const site = await makeFingerprinted(
      t,
      mode,
      { 'images/own/logo.png': 'own', '/extra/images/theirs/logo.png': 'theirs' },
      { apps: { web: { sources: '../../extra' } } }
    )
    t.is(await site.path('logo.png'), `/assets/own/logo-${digestOf('own')}.png`)
    t.is(await site.path('theirs/logo.png'), `/assets/theirs/logo-${digestOf('theirs')}.png`)
  })

  test(`REN-13 each app's page gets that app's fingerprints (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'app.css': 'web',
      '/apps/admin/assets/app.css': 'admin'
    })
    t.is(await site.path('app.css'), `/assets/app-${digestOf('web')}.css`)
    const admin = `/assets/admin/app-${digestOf('admin')}.css`
    t.is(await site.render(assets => assets.path('app.css'), '/admin/page'), admin)
    t.is(await site.render(assets => assets.app('admin').path('app.css')), admin)
    t.is((await site.ask(admin)).text, 'admin')
  })

  test(`fingerprint may be set for one app alone (${mode})`, async t => {
    const site = await makeFingerprinted(
      t,
      mode,
      { 'app.css': 'web', '/apps/admin/assets/app.css': 'admin' },
      { apps: { web: {}, admin: { fingerprint: false } } }
    )
    t.is(await site.path('app.css'), `/assets/app-${digestOf('web')}.css`)
    t.is(
      await site.render(assets => assets.stylesheet('app'), '/admin/page'),
      '<link href="/assets/admin/app.css" type="text/css" rel="stylesheet">'
    )
    const { status, text, headers } = await site.ask('/assets/admin/app.css')
    t.deepEqual([status, text], [200, 'admin'])
    t.notRegex(headers['cache-control'] ?? '', /immutable/)
  })

  test(`importMap() maps every module of every app to its fingerprinted URL (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'javascripts/app.js': "import './lib/dial.js'",
      'javascripts/lib/dial.js': 'export {}',
      '/apps/admin/assets/menu.mjs': 'export {}',
      'stylesheets/app.css': 'a{}'
    })
    const html = await site.render(assets => assets.importMap({ nonce: 'n' }))
    const map = JSON.parse(html.replace(/<[^>]+>/g, '')) as {
      imports: Record<string, string>
      integrity: Record<string, string>
    }
    t.deepEqual(Object.keys(map.imports), [
      '/assets/admin/menu.mjs',
      '/assets/app.js',
      '/assets/lib/dial.js'
    ])
    for (const url of Object.values(map.imports)) {
      t.is(map.integrity[url], sum('sha384', (await site.ask(url)).text))
    }
  })
}
