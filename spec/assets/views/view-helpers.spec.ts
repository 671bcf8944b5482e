import test from 'ava'
import ejs from 'ejs'
import nunjucks from 'nunjucks'
import { fingerprinted, makeHelpers } from './view-helpers-site.ts'

const assets = makeHelpers()('web')

test('REN-13 each app has its own addresses, and app() picks another', t => {
  const admin = makeHelpers()('admin')
  t.is(
    admin.stylesheet('app'),
    '<link href="/assets/admin/app.css" type="text/css" rel="stylesheet">'
  )
  t.is(admin.app('web').path('app.css'), '/assets/app.css')
  t.is(admin.app('web'), admin.app('admin').app('web'))
})

test('REN-13 an unknown app is a TypeError that suggests the nearest one', t => {
  t.throws(() => assets.app('admn'), {
    instanceOf: TypeError,
    message: "unknown app 'admn'; the apps are: web (/), admin (/admin); did you mean 'admin'?"
  })
  t.throws(() => assets.app('constructor'), {
    instanceOf: TypeError,
    message: "unknown app 'constructor'; the apps are: web (/), admin (/admin)"
  })
  t.throws(() => Reflect.apply(assets.app, null, []), {
    instanceOf: TypeError,
    message: /unknown app undefined/
  })
  t.throws(() => makeHelpers({ apps: [] })('web'), {
    instanceOf: TypeError,
    message: "unknown app 'web'; the apps are: none"
  })
})

test('REN-14 without fingerprints an asset that does not exist still gets a tag', t => {
  t.is(
    assets.javascript('nowhere/to/be-found'),
    '<script src="/assets/nowhere/to/be-found.js" type="text/javascript"></script>'
  )
})

const PAGE =
  '<link href="/assets/main.css" type="text/css" rel="stylesheet">\n' +
  '<script src="/assets/a.js" type="text/javascript" defer="defer"></script>\n' +
  '<script src="/assets/b.js" type="text/javascript" defer="defer"></script>\n' +
  '<a href="/assets/admin/a.pdf">v7</a>'

test('REN-16 ejs', t => {
  const view =
    "<%- assets.stylesheet('main') %>\n" +
    "<%- assets.javascript('a', 'b', { defer: true }) %>\n" +
    `<a href="<%= assets.app('admin').path('a.pdf') %>"><%= assets.version %></a>`
  t.is(ejs.render(view, { assets }), PAGE)
})

test('REN-16 nunjucks, with an object or with keyword arguments', t => {
  const environment = new nunjucks.Environment(null, { autoescape: true })
  for (const attributes of ['{ defer: true }', 'defer=true']) {
    const view =
      "{{ assets.stylesheet('main') | safe }}\n" +
      `{{ assets.javascript('a', 'b', ${attributes}) | safe }}\n` +
      `<a href="{{ assets.app('admin').path('a.pdf') }}">{{ assets.version }}</a>`
    t.is(environment.renderString(view, { assets }), PAGE)
  }
})

test('FPR-01 with fingerprints a helper emits the fingerprinted URL', t => {
  const { path, javascript } = fingerprinted()('web')
  t.is(path('app.js'), `/assets/app-${'a'.repeat(32)}.js`)
  t.regex(javascript('app'), /src="\/assets\/app-[0-9a-f]{32}\.js"/)
})

test('FPR-03 an error of the pipeline for an unknown name reaches the view', t => {
  t.throws(() => fingerprinted()('web').javascript('ap'), {
    message: 'ap.js is not in public/assets.json'
  })
})

test('the helpers of an app are made once, are frozen, and work when taken off the object', t => {
  const helpersOf = makeHelpers()
  t.is(helpersOf('web'), helpersOf('web'))
  t.true(Object.isFrozen(helpersOf('web')))
  const { javascript, app, version } = helpersOf('admin')
  t.is(javascript('a'), '<script src="/assets/admin/a.js" type="text/javascript"></script>')
  t.is(app('web'), helpersOf('web'))
  t.is(version, 'v7')
})

test('version is read each time', t => {
  let deploy = 0
  const { app } = makeHelpers({}, () => ({ version: () => `deploy-${(deploy += 1)}` }))('web')
  t.is(app('web').version, 'deploy-1')
  t.is(app('web').version, 'deploy-2')
})
