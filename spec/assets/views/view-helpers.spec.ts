import { createHash } from 'node:crypto'
import test from 'ava'
import ejs from 'ejs'
import * as fc from 'fast-check'
import { AssetError } from '../../../lib/errors.ts'
import { digestOf, makeFingerprinted, MODES } from '../../support/fingerprinted.ts'
import { cases } from '../../support/soak.ts'
import { anyText } from '../../support/texts.ts'
import { fingerprinted, makeHelpers, script, sheet } from './view-helpers-site.ts'

const assets = makeHelpers()('web')

test('REN-13 each app has its own addresses, and app() picks another', t => {
  const admin = makeHelpers()('admin')
  t.is(admin.stylesheet('app'), sheet('admin/app.css'))
  t.is(admin.app('web').path('app.css'), '/assets/app.css')
  t.is(admin.app('web'), admin.app('admin').app('web'))
})

test('REN-13 an unknown app is a TypeError that suggests the nearest one', t => {
  const failures: ReadonlyArray<readonly [lookUp: () => unknown, message: string]> = [
    [() => assets.app('admn'), "unknown app 'admn': did you mean 'admin'?"],
    [() => assets.app('constructor'), "unknown app 'constructor': the apps are: web, admin"],
    [
      () => Reflect.apply(assets.app, null, []),
      "unknown app 'undefined': the apps are: web, admin"
    ],
    [() => makeHelpers({ apps: [] })('web'), "unknown app 'web': the apps are: none"]
  ]
  for (const [lookUp, message] of failures) t.throws(lookUp, { instanceOf: TypeError, message })
})

test('REN-14 without fingerprints an asset that does not exist still gets a tag', t => {
  t.is(assets.javascript('nowhere/to/be-found'), script('nowhere/to/be-found.js'))
})

test('REN-16 ejs', t => {
  const view =
    "<%- assets.stylesheet('main', { media: 'print' }) %>" +
    `<a href="<%= assets.app('admin').path('a.pdf') %>"><%= assets.version %></a>`
  const page = `${sheet('main.css', ' media="print"')}<a href="/assets/admin/a.pdf">v7</a>`
  t.is(ejs.render(view, { assets }), page)
})

const cdn = makeHelpers({ host: 'https://cdn.example' })('web')

test('REN-04 a name without a known extension gets one, before its query or fragment', t => {
  for (const [name, file] of [
    ['application.js', 'application.js'],
    ['application.mjs', 'application.mjs'],
    ['APP.JS', 'APP.JS'],
    ['jquery.min', 'jquery.min.js'],
    ['main.v2', 'main.v2.js'],
    ['logo.2x', 'logo.2x.js'],
    ['js', 'js.js'],
    ['lib.v2/main', 'lib.v2/main.js'],
    ['app.js?v=2', 'app.js?v=2'],
    ['app?v=1.css', 'app.js?v=1.css'],
    ['app#part', 'app.js#part'],
    ['app.js?a=1#b?c', 'app.js?a=1#b?c'],
    ['app.js?', 'app.js?']
  ]) {
    t.is(assets.javascript(name ?? ''), script(file ?? ''))
  }
})

test('REN-09 path() has no host, url() has one', t => {
  t.is(assets.path('application.js'), '/assets/application.js')
  t.is(cdn.path('application.js'), '/assets/application.js')
  t.is(cdn.url('application.js'), 'https://cdn.example/assets/application.js')
  t.is(assets.url('application.js'), '/assets/application.js', 'without a host')
})

test('REN-10 absolute and protocol-relative URLs are emitted unchanged', t => {
  const { javascript, stylesheet, favicon, path, url } = fingerprinted({
    host: 'https://cdn.example'
  })('web')
  for (const given of ['https://a.example/x', 'HTTP://a.example/x?y#z', '//a.example/x y']) {
    t.is(javascript(given), `<script src="${given}" type="text/javascript"></script>`)
    t.is(stylesheet(given), `<link href="${given}" type="text/css" rel="stylesheet">`)
    t.is(path(given), given)
    t.is(url(given), given)
  }
  t.is(favicon('data:,'), '<link href="data:," rel="shortcut icon" type="image/x-icon">')
})

test('REN-11 every helper emits the host, with or without a slash at its end', t => {
  const at = 'https://cdn.example/assets'
  for (const host of ['https://cdn.example', 'https://cdn.example/']) {
    const web = makeHelpers({ host })('web')
    const { javascript, stylesheet, favicon } = web
    for (const [written, expected] of [
      [javascript('a'), `<script src="${at}/a.js" type="text/javascript"></script>`],
      [stylesheet('a'), `<link href="${at}/a.css" type="text/css" rel="stylesheet">`],
      [favicon(), `<link href="${at}/favicon.ico" rel="shortcut icon" type="image/x-icon">`]
    ]) {
      t.is(written, expected)
    }
  }
})

test('a name that no asset can have is a TypeError, and so is anything but a string', t => {
  const invalid = { instanceOf: TypeError, message: /^an asset's name is a path without prefix/ }
  const paths = ['', '?v=1', '/app.css', 'a/', 'a//b', '.', '..', '../a', 'a/../b', 'a\\b', 'a:b']
  const others = ['/\\evil.example', 'javascript:alert(1)', 'https:evil.example', 'a\0', 'a\nb']
  for (const name of [...paths, ...others, '\ud800']) {
    t.throws(() => assets.path(name), invalid, name)
    t.throws(() => assets.javascript(name), invalid, name)
  }
  for (const args of [[42], ['a.css', 42, {}], [42, 'a.css'], [['a.css']]]) {
    t.throws(() => Reflect.apply(assets.javascript, null, args), { instanceOf: TypeError })
  }
  const message = "an asset's name must be a string, got 42"
  for (const helper of [assets.path, assets.url]) {
    t.throws(() => Reflect.apply(helper, null, [42]), { instanceOf: TypeError, message })
  }
})

const TAG = /^<[a-z]+(?: [^\s"'<>/=]+="[^"<>]*")*>(?:<\/script>)?$/

const nasty = fc.oneof(
  anyText(),
  fc.string(),
  fc
    .array(fc.constantFrom('"', "'", '<', '>', '&', ' ', '/', '?', '#', '\n', '</script', '\u2028'))
    .map(parts => parts.join(''))
)
const url = nasty.map(rest => `https://a.example/${rest}`)
const value = fc.oneof(nasty, fc.double(), fc.boolean(), fc.constant(null), fc.constant(undefined))

/** A TypeError is a valid outcome; a tag that something breaks out of is not. */
function writtenOr<T>(fallback: T, write: () => string): string | T {
  try {
    return write()
  } catch (error) {
    if (error instanceof TypeError) return fallback
    throw error
  }
}

function holds<T>(arbitrary: fc.Arbitrary<T>, predicate: (given: T) => boolean) {
  fc.assert(fc.property(arbitrary, predicate), { numRuns: cases(100, 1000) })
}

test('no value, attribute, name or URL breaks out of its tag, and a browser reads back what was given', t => {
  holds(nasty, given => {
    const tag = cdn.favicon('a.ico', { title: given })
    return TAG.test(tag) && unescape(/ title="([^"]*)"/.exec(tag)?.[1] ?? '') === given
  })
  holds(fc.dictionary(nasty, value), attributes =>
    TAG.test(writtenOr('<a>', () => cdn.javascript('a', attributes)))
  )
  holds(fc.oneof(nasty, url), name => {
    const write = [cdn.javascript, cdn.stylesheet, cdn.favicon]
    return write.every(helper => TAG.test(writtenOr('<a>', () => helper(name))))
  })
  t.pass()
})

test('the path of an asset needs no quotes and decodes to its name', t => {
  const local = nasty.filter(name => !name.startsWith('//'))
  holds(local, name => {
    const path = writtenOr(undefined, () => cdn.path(name))
    if (path === undefined) return true
    const back = decodeURIComponent(cut(path).slice('/assets/'.length))
    return /^[^\s"'<>`]+$/.test(path) && back === cut(name)
  })
  t.pass()
})

test('an import map is JSON that cannot end its script', t => {
  holds(fc.dictionary(nasty, url), imports => {
    const tag = cdn.importMap({ imports })
    const json = /^<script type="importmap">([^<>\u2028\u2029]*)<\/script>$/.exec(tag)?.[1]
    const read: unknown = JSON.parse(json ?? 'null')
    const sorted = Object.entries(imports).toSorted(([a], [b]) => (a < b ? -1 : 1))
    return sorted.length === 0
      ? tag === ''
      : JSON.stringify(read) === JSON.stringify({ imports: Object.fromEntries(sorted) })
  })
  t.pass()
})

function cut(text: string): string {
  return text.replace(/[?#].*/s, '')
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ '&#39;': "'", '&quot;': '"', '&gt;': '>', '&lt;': '<', '&amp;': '&' }
}
const unescape = (text: string) => text.replaceAll(/&[^;]+;/g, entity => ENTITIES[entity] ?? '')

// What pages write in fingerprint mode.

const sum = (name: string, bytes: string) =>
  `${name}-${createHash(name).update(bytes).digest('base64')}`

for (const mode of MODES) {
  test(`FPR-01 FPR-02 REN-13 a helper writes the name with the beginning of the SHA-256 of the bytes that are sent, and their integrity (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'javascripts/application.js': 'go()',
      'stylesheets/app.css.scss': 'a { b { color: red } }',
      'images/film.bin': Buffer.alloc(3 * 1024 * 1024 + 17, 'film'),
      '/apps/admin/assets/app.css': 'admin'
    })
    t.is(
      await site.render(assets => assets.javascript('application', { defer: true })),
      `<script src="/assets/application-${digestOf('go()')}.js" type="text/javascript" ` +
        `integrity="${sum('sha384', 'go()')}" crossorigin="anonymous" defer="defer"></script>`
    )
    for (const name of ['app.css', 'film.bin']) {
      const path = await site.path(name)
      const { bytes, status } = await site.ask(path)
      t.is(status, 200)
      t.is(path, `/assets/${name.replace('.', `-${digestOf(bytes)}.`)}`)
    }
    const admin = `/assets/admin/app-${digestOf('admin')}.css`
    t.is(await site.render(assets => assets.path('app.css'), '/admin/page'), admin)
    t.is(await site.render(assets => assets.app('admin').path('app.css')), admin)
    t.is((await site.ask(admin)).text, 'admin')
  })

  test(`FPR-03 NAM-01 a name that is not in the manifest is an error that suggests the nearest name, or the app that has it (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'stylesheets/dashboard.css': 'a{}',
      'stylesheets/other.css': 'b{}',
      '/apps/admin/assets/images/seal.svg': ''
    })
    const where = mode === 'precompiled' ? site.at('/public/assets.json') : 'the manifest in memory'
    await t.throwsAsync(() => site.path('dashbord.css'), {
      instanceOf: AssetError,
      code: 'asset-unknown',
      message: `/assets/dashbord.css is not in ${where}; did you mean 'dashboard.css'?`
    })
    const message = `/assets/zzz.png is not in ${where}`
    const stackOf = async () => {
      const error = await t.throwsAsync(() => site.path('zzz.png'), { message })
      return error?.stack ?? ''
    }
    const [full, again] = [await stackOf(), await stackOf()]
    if (mode === 'precompiled') t.regex(full, /\n {2}See .*\n {4}at /)
    t.is(again, `AssetError: ${message}`, 'what is in the log already is one line')
    await t.throwsAsync(() => site.path('seal.svg'), {
      message: `/assets/seal.svg is not in ${where}; 'admin' has it, as in assets.app('admin')`
    })
  })

  test(`fingerprint may be set for a single app (${mode})`, async t => {
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

  test(`REN-11 where a module imports by an expression, importMap() maps every module of every app to its fingerprinted URL, with the host (${mode})`, async t => {
    const files = {
      'javascripts/app.js': "import('./lib/' + name)",
      'javascripts/lib/dial.js': 'export {}',
      '/apps/admin/assets/menu.mjs': 'export {}',
      'stylesheets/app.css': 'a{}'
    }
    const host = 'https://cdn.example'
    const site = await makeFingerprinted(t, mode, files, { host: `${host}/` })
    const html = await site.render(assets => assets.importMap({ nonce: 'n' }))
    const map = JSON.parse(html.replace(/<[^>]+>/g, '')) as Record<string, Record<string, string>>
    const paths = ['/assets/admin/menu.mjs', '/assets/app.js', '/assets/lib/dial.js']
    t.deepEqual(
      Object.keys(map['imports'] ?? {}),
      paths.map(path => host + path)
    )
    for (const url of Object.values(map['imports'] ?? {})) {
      const { text, headers } = await site.ask(url.replace(host, ''))
      t.is(map['integrity']?.[url], sum('sha384', text))
      t.is(headers['access-control-allow-origin'], '*')
    }
  })
}
