import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { makeMemory, MAX_LISTS } from '../../../lib/runtime/views/asset-url.ts'
import { AssetError } from '../../../lib/runtime/errors.ts'
import { anyText } from '../../support/any-text.ts'
import { cases, digestOf, makeFingerprinted, MODES, test, words } from '../../support/index.ts'
import { fingerprinted, icon, makeHelpers, script, sheet } from './view-helpers-site.ts'

const assets = makeHelpers()('web')
const { favicon, javascript, stylesheet } = assets

const APP = `app-${'a'.repeat(32)}.js`
const SHEET = `app-${'b'.repeat(32)}.css`
const DIAL = `lib/dial-${'f'.repeat(32)}.mjs`
const CLASSIC = ' type="text/javascript"'

test('javascript() and stylesheet() write a tag for each name, with the same attributes', t => {
  const shared = `${CLASSIC} async="async" defer="defer"`
  t.is(javascript('nowhere/to/be-found'), script('nowhere/to/be-found.js'))
  const written = javascript('a', 'b', { async: true, defer: true, nomodule: false })
  t.is(written, `${script('a.js', shared)}\n${script('b.js', shared)}`)
  t.is(stylesheet('a', 'b'), `${sheet('a.css')}\n${sheet('b.css')}`)
})

test('given attributes can replace or remove all those of a tag but its URL', t => {
  const module = ' type="module"'
  const evil = { type: 'module', src: '/evil.js', SRC: '/evil.js' }
  t.is(javascript('a', evil), script('a.js', module))
  const other = { media: 'print', rel: 'alternate stylesheet', href: '/evil.css' }
  const attributes = ' type="text/css" rel="alternate stylesheet" media="print"'
  t.is(stylesheet('a', other), icon('a.css', attributes))
  t.is(favicon('a.ico', { href: '/evil.ico' }), icon('a.ico'))
  for (const type of [null, false]) t.is(javascript('a', { type }), script('a.js', ''))
  t.is(javascript('a', { type: undefined, nonce: undefined }), script('a.js'))
  const cased = { TYPE: 'module', crossOrigin: 'anonymous' }
  t.is(javascript('a', cased), script('a.js', `${module} crossorigin="anonymous"`))
})

test('favicon() is a link to favicon.ico by default, with the type of its file', t => {
  t.is(favicon(), icon('favicon.ico'))
  const given = favicon('f.png', { rel: 'icon', type: 'image/png' })
  t.is(given, icon('f.png', ' rel="icon" type="image/png"'))
  for (const [name, type] of [
    ['icon.svg', 'image/svg+xml'],
    ['icon.png?v=1', 'image/png'],
    ['old.ICO', 'image/x-icon']
  ] as const) {
    t.is(favicon(name), icon(name, ` rel="shortcut icon" type="${type}"`))
  }
})

test('tags have integrity and crossorigin, unless given attributes replace or omit them', t => {
  const { javascript, stylesheet } = fingerprinted()('web')
  const [integrity, anonymous] = [' integrity="sha384-aaaa"', ' crossorigin="anonymous"']
  for (const [attributes, expected] of [
    [{ defer: true }, `${integrity + anonymous} defer="defer"`],
    [{ integrity: true }, integrity + anonymous],
    [{ crossorigin: 'use-credentials' }, `${integrity} crossorigin="use-credentials"`],
    [{ crossorigin: false }, integrity],
    [{ integrity: false }, ''],
    [{ integrity: false, crossorigin: 'anonymous' }, anonymous]
  ] as const) {
    t.is(javascript('app', attributes), script(APP, CLASSIC + expected))
  }
  t.is(stylesheet('app'), sheet(SHEET, ` integrity="sha256-bb+/ sha512-bbbb"${anonymous}`))
  const own = { integrity: 'sha384-mine' }
  t.true(javascript('https://a.example/x.js', own).includes(` integrity="sha384-mine"${anonymous}`))
})

test('each argument of a tag is written as valid HTML, or is a TypeError', t => {
  const title = '&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;'
  t.true(favicon('a', { title: `"><script>alert('&')</script>` }).endsWith(` title="${title}">`))
  t.true(javascript('https://a.example/?a=1&b="').includes('"https://a.example/?a=1&amp;b=&quot;"'))
  const odd = { 'data-a.b': 0, '@click': 'go()' }
  t.is(stylesheet('a', odd), sheet('a.css', ' data-a.b="0" @click="go()"'))
  for (const name of ['', 'a b', 'a"', "a'", 'a>', 'a<', 'a=', 'a/', 'a\n', 'a\0']) {
    const message = /cannot be the name of an HTML attribute$/
    t.throws(() => stylesheet('a', { [name]: false }), { instanceOf: TypeError, message })
  }
  const none = 'javascript() needs the name of an asset'
  const values = 'a string, a number, a boolean or null'
  for (const [args, message] of [
    [['a', { class: ['b'] }], `attribute class must be ${values}, got [ 'b' ]`],
    [['a', ['b']], "attributes must be an object, got [ 'b' ]"],
    ...[[], [undefined], [null], [{ defer: true }]].map(args => [args, none] as const)
  ] as const) {
    t.throws(() => Reflect.apply(javascript, null, args), { instanceOf: TypeError, message })
  }
  t.is(stylesheet('a', undefined), stylesheet('a'))
  // What Nunjucks adds to the object of keyword arguments.
  t.is(stylesheet('a', { __keywords: true, media: 'print' }), sheet('a.css', ' media="print"'))
})

const modulesOf = (integrity: string[]) =>
  makeHelpers({ host: 'https://cdn.example' }, () => ({
    resolve: name => ({ path: `/assets/${name}`, target: `/assets/1-${name}`, integrity }),
    moduleAt: path => {
      const imports = { '/assets/a.js': ['/assets/b.js'], '/assets/b.js': ['/assets/a.js'] }[path]
      const published = path.replace('assets/', 'assets/1-')
      return { path, target: published, integrity, imports: imports ?? [] }
    }
  }))('web')

test('a modulepreload link has its module’s integrity, and crossorigin and nonce of the script', t => {
  const link = '<link href="https://cdn.example/assets/1-b.js" rel="modulepreload"'
  const links = (attributes: object, integrity = ['sha384-b']) =>
    modulesOf(integrity)
      .javascript('a', { type: 'module', modulepreload: true, ...attributes })
      .split('\n')
      .slice(0, -1)
  t.deepEqual(links({}), [`${link} integrity="sha384-b" crossorigin="anonymous">`])
  t.deepEqual(links({ crossorigin: 'use-credentials', nonce: '"n', id: 'app', defer: true }), [
    `${link} integrity="sha384-b" crossorigin="use-credentials" nonce="&quot;n">`
  ])
  t.deepEqual(links({ integrity: 'sha384-own' }), links({}))
  t.deepEqual(links({ integrity: false }), [`${link}>`])
  t.deepEqual(links({}, []), [`${link}>`])
})

test('each module gets one tag, a script or a modulepreload link, even if modules import each other', t => {
  const helpers = modulesOf([])
  const options = { type: 'module' } as const
  const tags = (...names: [string, ...string[]]) => {
    const found = helpers.javascript(...names, options).matchAll(/<(\w+) \w+="[^"]*1-(\w+)/g)
    return Array.from(found, ([, tag, name]) => `${tag} ${name}`)
  }
  t.deepEqual(tags('a'), ['link b', 'script a'])
  t.deepEqual(tags('c', 'a'), ['link b', 'script c', 'script a'])
  t.deepEqual(tags('a', 'b.js'), ['script a', 'script b'])
  t.is(helpers.javascript('https://x.example/a.js', options).split('\n').length, 1)
  t.false(helpers.javascript('a', { ...options, modulepreload: false }).includes('link'))
  t.false(helpers.javascript('a', { modulepreload: false }).includes('link'))
})

test('modulepreload works only with fingerprints and for a script of type module', t => {
  const tag = script('a.js', ' type="module"')
  for (const modulepreload of [true, false, undefined])
    t.is(javascript('a', { type: 'module', modulepreload }), tag)
  for (const [attributes, message] of [
    [{ modulepreload: true }, "type must be 'module' for modulepreload, got undefined"],
    [{ type: 'module', modulepreload: 'yes' }, "modulepreload must be true or false, got 'yes'"]
  ] as const) {
    const write = () => javascript('a', attributes as never)
    t.throws(write, { instanceOf: TypeError, message })
  }
})

/** What is written as JSON, with `<` and line separators escaped. */
const importMap = (imports: object, integrity?: object, attributes = '') =>
  `<script type="importmap"${attributes}>${JSON.stringify({ imports, integrity })}</script>`

test('importMap() maps each module to its URL with integrity, unless imports maps it elsewhere', t => {
  const integrity = { [`/assets/${APP}`]: 'sha384-aaaa', [`/assets/${DIAL}`]: 'sha384-ffff' }
  const dial = { '/assets/lib/dial.mjs': `/assets/${DIAL}` }
  const helpers = fingerprinted()('web')
  t.is(helpers.importMap(), importMap({ '/assets/app.js': `/assets/${APP}`, ...dial }, integrity))
  const url = 'https://a.example/x.js'
  const imports = { dial: 'lib/dial.mjs', app: 'app', '/assets/app.js': url, ['__proto__']: 'app' }
  const [app, others] = [`/assets/${APP}`, { dial: `/assets/${DIAL}` }]
  const all = { '/assets/app.js': url, ...dial, ['__proto__']: app, app, ...others }
  const given = helpers.importMap({ nonce: '"r4nd0m', imports })
  t.is(given, importMap(all, integrity, ' nonce="&quot;r4nd0m"'))
})

test('importMap() holds the option imports without fingerprints as well, whatever the entry', t => {
  const given = { confetti: 'vendor/confetti.js', cdn: 'https://cdn.example/x.js' }
  const imports = new Map(Object.entries(given))
  for (const host of [undefined, 'https://assets.example']) {
    const helpers = makeHelpers({ host }, () => ({ imports }))('web')
    const confetti = `${host ?? ''}/assets/vendor/confetti.js`
    const map = importMap({ cdn: 'https://cdn.example/x.js', confetti })
    for (const options of [{}, { entry: 'app' }]) t.is(helpers.importMap(options), map)
    const replaced = map.replace('vendor/confetti', 'other')
    t.is(helpers.importMap({ imports: { confetti: 'other' } }), replaced)
  }
})

test('at most 20 import maps or lists of preloads are remembered, however many entries pages name', t => {
  const remembered = makeMemory<number>(() => '', MAX_LISTS)
  const names = Array.from({ length: 1000 }, (_, at) => `a${at}`)
  for (const name of names) remembered(name, () => 1)
  const kept = names.filter(name => remembered(name, () => 2) === 1)
  t.true(kept.length <= 20, String(kept.length))
})

test('an unknown app is a TypeError that suggests the nearest one', t => {
  const all = 'the apps are: web, admin'
  for (const [name, hint] of [
    ['admn', "did you mean 'admin'?"],
    ['constructor', all],
    [undefined, all]
  ] as const) {
    const message = `unknown app '${name}': ${hint}`
    t.throws(() => assets.app(name as string), { instanceOf: TypeError, message })
  }
  const message = "unknown app 'web': the apps are: none"
  t.throws(() => makeHelpers({ apps: [] })('web'), { instanceOf: TypeError, message })
})

const cdn = makeHelpers({ host: 'https://cdn.example' })('web')

test('a name without a known extension gets one, before its query or fragment', t => {
  const whole = words('application.js application.mjs APP.JS app.js?v=2 app.js?a=1#b?c app.js?')
  for (const name of whole) t.is(javascript(name), script(name))
  for (const name of words('jquery.min main.v2 logo.2x js lib.v2/main'))
    t.is(javascript(name), script(`${name}.js`))
  t.is(javascript('app?v=1.css'), script('app.js?v=1.css'))
  t.is(javascript('app#part'), script('app.js#part'))
})

test('the option host is put before the URLs of url() and of all tags, but not of path()', t => {
  t.is(assets.path('app.js'), '/assets/app.js')
  t.is(assets.url('app.js'), '/assets/app.js', 'without a host')
  for (const host of ['https://cdn.example', 'https://cdn.example/']) {
    const own = makeHelpers({ host })('web')
    const atHost = (tag: string) => tag.replace('"/assets/', '"https://cdn.example/assets/')
    t.is(own.path('app.js'), '/assets/app.js')
    t.is(own.url('app.js'), 'https://cdn.example/assets/app.js')
    t.is(own.javascript('a'), atHost(script('a.js')))
    t.is(own.stylesheet('a'), atHost(sheet('a.css')))
    t.is(own.favicon(), atHost(icon('favicon.ico')))
  }
})

test('absolute and protocol-relative URLs are emitted unchanged', t => {
  const helpers = fingerprinted({ host: 'https://cdn.example' })('web')
  const changed = (tag: string, given: string) => tag.replace(/"\/assets\/x"/, () => `"${given}"`)
  for (const given of ['https://a.example/x', 'HTTP://a.example/x?y#z', '//a.example/x y']) {
    t.is(helpers.javascript(given), changed(script('x'), given))
    t.is(helpers.stylesheet(given), changed(sheet('x'), given))
    t.deepEqual([helpers.path(given), helpers.url(given)], [given, given])
  }
  t.is(helpers.favicon('data:,'), changed(icon('x'), 'data:,'))
})

test('anything but a string that can be the name of an asset is a TypeError', t => {
  const invalid = { instanceOf: TypeError, message: /^an asset's name is a path without prefix/ }
  const paths = ['', '?v=1', '/app.css', 'a/', 'a//b', '.', '..', '../a', 'a/../b', 'a\\b', 'a:b']
  const others = ['/\\evil.example', 'javascript:alert(1)', 'https:evil.example', 'a\0', 'a\nb']
  for (const name of [...paths, ...others, '\ud800']) {
    t.throws(() => assets.path(name), invalid, name)
    t.throws(() => assets.javascript(name), invalid, name)
  }
  for (const args of [[42], ['a.css', 42, {}], [42, 'a.css'], [['a.css']]])
    t.throws(() => Reflect.apply(assets.javascript, null, args), { instanceOf: TypeError })
  const message = "an asset's name must be a string, got 42"
  for (const helper of [assets.path, assets.url])
    t.throws(() => Reflect.apply(helper, null, [42]), { instanceOf: TypeError, message })
})

const TAG = /^<[a-z]+(?: [^\s"'<>/=]+="[^"<>]*")*>(?:<\/script>)?$/

const MARKS = ['"', "'", '<', '>', '&', ' ', '/', '?', '#', '\n', '</script', '\u2028']
const marks = fc.array(fc.constantFrom(...MARKS)).map(parts => parts.join(''))
const nasty = fc.oneof(anyText(), fc.string(), marks)
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

test('no value, attribute, name or URL that a helper is given breaks out of its tag', t => {
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

test('path() percent-encodes every character of a name that would need quotes in HTML', t => {
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
  test(`fingerprints and integrity in pages match the bytes that are sent (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'javascripts/application.js': 'go()',
      'stylesheets/app.css': 'a { color: red }',
      'images/film.bin': Buffer.alloc(3 * 1024 * 1024 + 17, 'film'),
      '/apps/admin/assets/app.css': 'admin'
    })
    const tag = await site.render(assets => assets.javascript('application', { defer: true }))
    const guard = ` integrity="${sum('sha384', 'go()')}" crossorigin="anonymous"`
    const name = `application-${digestOf('go()')}.js`
    t.is(tag, script(name, `${CLASSIC}${guard} defer="defer"`))
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

  test(`an unknown asset is an error that suggests a near name or the app that has it (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'stylesheets/dashboard.css': 'a{}',
      'stylesheets/other.css': 'b{}',
      '/apps/admin/assets/images/seal.svg': ''
    })
    const where = mode === 'precompiled' ? site.at('/public/assets.json') : 'the manifest in memory'
    const near = `/assets/dashbord.css is not in ${where}; did you mean 'dashboard.css'?`
    const unknown = { instanceOf: AssetError, code: 'asset-unknown', message: near }
    await t.throwsAsync(() => site.path('dashbord.css'), unknown)
    const message = `/assets/zzz.png is not in ${where}`
    const stackOf = async () => {
      const error = await t.throwsAsync(() => site.path('zzz.png'), { message })
      return error?.stack ?? ''
    }
    const [full, again] = [await stackOf(), await stackOf()]
    if (mode === 'precompiled') t.regex(full, /\n {2}See .*\n {4}at /)
    t.is(again, `AssetError: ${message}`, 'what is in the log already is one line')
    const admin = `/assets/seal.svg is not in ${where}; 'admin' has it, as in assets.app('admin')`
    await t.throwsAsync(() => site.path('seal.svg'), { message: admin })
  })
}
