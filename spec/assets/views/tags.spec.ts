import test from 'ava'
import { makeMemory, MAX_LISTS } from '../../../lib/assets/views/asset-url.ts'
import { fingerprinted, icon, makeHelpers, script, sheet } from './view-helpers-site.ts'

const assets = makeHelpers()('web')

const APP = `app-${'a'.repeat(32)}.js`
const SHEET = `app-${'b'.repeat(32)}.css`
const DIAL = `lib/dial-${'f'.repeat(32)}.mjs`
const CLASSIC = ' type="text/javascript"'

test('REN-01 REN-02 javascript() is a script tag; several names give several lines that share the attributes, and false is skipped', t => {
  const shared = `${CLASSIC} async="async" defer="defer"`
  t.is(assets.javascript('application'), script('application.js'))
  t.is(
    assets.javascript('a', 'b', { async: true, defer: true, nomodule: false }),
    `${script('a.js', shared)}\n${script('b.js', shared)}`
  )
  t.is(assets.stylesheet('a', 'b'), `${sheet('a.css')}\n${sheet('b.css')}`)
})

test('REN-03 an attribute of the tag is replaced in place in any case, and removed by null and false; src and href are not', t => {
  const { javascript, stylesheet, favicon } = assets
  const module = ' type="module"'
  t.is(
    javascript('a', { type: 'module', src: '/evil.js', SRC: '/evil.js' }),
    script('a.js', module)
  )
  t.is(
    stylesheet('a', { media: 'print', rel: 'alternate stylesheet', href: '/evil.css' }),
    icon('a.css', ' type="text/css" rel="alternate stylesheet" media="print"')
  )
  t.is(favicon('a.ico', { href: '/evil.ico' }), icon('a.ico'))
  for (const type of [null, false]) t.is(javascript('a', { type }), script('a.js', ''))
  t.is(javascript('a', { type: undefined, nonce: undefined }), script('a.js'))
  t.is(
    javascript('a', { TYPE: 'module', crossOrigin: 'anonymous' }),
    script('a.js', `${module} crossorigin="anonymous"`)
  )
})

test('REN-05 REN-06 stylesheet() is a link, and favicon() one to favicon.ico by default', t => {
  t.is(assets.stylesheet('main'), sheet('main.css'))
  t.is(assets.favicon(), icon('favicon.ico'))
  t.is(
    assets.favicon('f.png', { rel: 'icon', type: 'image/png' }),
    icon('f.png', ' rel="icon" type="image/png"')
  )
  for (const [name, type] of [
    ['icon.svg', 'image/svg+xml'],
    ['icon.png?v=1', 'image/png'],
    ['old.ICO', 'image/x-icon']
  ] as const) {
    t.is(assets.favicon(name), icon(name, ` rel="shortcut icon" type="${type}"`))
  }
})

test('REN-12 integrity is followed by crossorigin; a given one of either wins, and false omits it', t => {
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

test('REN-15 values are escaped, and names and values that HTML does not allow are TypeErrors', t => {
  const { favicon, javascript, stylesheet } = assets
  t.is(
    favicon('a.ico', { title: `"><script>alert('&')</script>` }),
    icon(
      'a.ico',
      ' rel="shortcut icon" type="image/x-icon"' +
        ' title="&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;"'
    )
  )
  t.true(javascript('https://a.example/?a=1&b="').includes('"https://a.example/?a=1&amp;b=&quot;"'))
  t.is(
    stylesheet('a', { 'data-a.b': 0, '@click': 'go()' }),
    sheet('a.css', ' data-a.b="0" @click="go()"')
  )
  for (const name of ['', 'a b', 'a"', "a'", 'a>', 'a<', 'a=', 'a/', 'a\n', 'a\0']) {
    t.throws(() => stylesheet('a', { [name]: false }), {
      instanceOf: TypeError,
      message: /cannot be the name of an HTML attribute$/
    })
  }
  const none = 'javascript() needs the name of an asset'
  for (const [args, message] of [
    [
      ['a', { class: ['b'] }],
      "attribute class must be a string, a number, a boolean or null, got [ 'b' ]"
    ],
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
    resolve: name => ({ path: `/assets/1-${name}`, plainPath: `/assets/${name}`, integrity }),
    moduleAt: path => {
      const imports = { '/assets/a.js': ['/assets/b.js'], '/assets/b.js': ['/assets/a.js'] }[path]
      const published = path.replace('assets/', 'assets/1-')
      return { path: published, plainPath: path, integrity, imports: imports ?? [] }
    }
  }))('web')

test('JSM-06 modulepreload links share the CORS mode and the nonce of the script, not its own integrity', t => {
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

test('JSM-06 modulepreload links no entry and no module twice, not even in a cycle', t => {
  const helpers = modulesOf([])
  const options = { type: 'module' } as const
  const tags = (...names: [string, ...string[]]) =>
    [...helpers.javascript(...names, options).matchAll(/<(\w+) \w+="[^"]*1-(\w+)/g)].map(
      ([, tag, name]) => `${tag} ${name}`
    )
  t.deepEqual(tags('a'), ['link b', 'script a'])
  t.deepEqual(tags('c', 'a'), ['link b', 'script c', 'script a'])
  t.deepEqual(tags('a', 'b.js'), ['script a', 'script b'])
  t.is(helpers.javascript('https://x.example/a.js', options).split('\n').length, 1)
  t.false(helpers.javascript('a', { ...options, modulepreload: false }).includes('link'))
  t.false(helpers.javascript('a', { modulepreload: false }).includes('link'))
})

test('JSM-06 modulepreload adds nothing without fingerprints; for a classic script it is an error, and so is another value', t => {
  const tag = script('a.js', ' type="module"')
  for (const modulepreload of [true, false, undefined]) {
    t.is(assets.javascript('a', { type: 'module', modulepreload }), tag)
  }
  t.throws(() => assets.javascript('a', { modulepreload: true }), {
    instanceOf: TypeError,
    message: "type must be 'module' for modulepreload, got undefined"
  })
  const given: object = { type: 'module', modulepreload: 'yes' }
  t.throws(() => assets.javascript('a', given as never), {
    instanceOf: TypeError,
    message: "modulepreload must be true or false, got 'yes'"
  })
})

/** What is written as JSON, with `<` and line separators escaped. */
const importMap = (imports: object, integrity?: object, attributes = '') =>
  `<script type="importmap"${attributes}>${JSON.stringify({ imports, integrity })}</script>`

test('importMap() maps each module to its published URL, sorted, with its integrity; a nonce and more specifiers, which take precedence, may be given', t => {
  const integrity = { [`/assets/${APP}`]: 'sha384-aaaa', [`/assets/${DIAL}`]: 'sha384-ffff' }
  const dial = { '/assets/lib/dial.mjs': `/assets/${DIAL}` }
  const helpers = fingerprinted()('web')
  t.is(helpers.importMap(), importMap({ '/assets/app.js': `/assets/${APP}`, ...dial }, integrity))
  const url = 'https://a.example/x.js'
  const imports = { dial: 'lib/dial.mjs', app: 'app', '/assets/app.js': url, ['__proto__']: 'app' }
  const [app, others] = [`/assets/${APP}`, { dial: `/assets/${DIAL}` }]
  t.is(
    helpers.importMap({ nonce: '"r4nd0m', imports }),
    importMap(
      { '/assets/app.js': url, ...dial, ['__proto__']: app, app, ...others },
      integrity,
      ' nonce="&quot;r4nd0m"'
    )
  )
  const hard = 'https://a.example/</script><!--\u2028\u2029'
  t.is(
    makeHelpers()('web').importMap({ imports: { a: hard } }),
    '<script type="importmap">{"imports":{"a":"https://a.example/' +
      '\\u003c/script\\u003e\\u003c!--\\u2028\\u2029"}}</script>'
  )
})

test('JSM-05 importMap() holds the option imports without fingerprints as well, whatever the entry', t => {
  const imports = new Map([
    ['confetti', 'vendor/confetti.js'],
    ['cdn', 'https://cdn.example/x.js']
  ])
  for (const host of [undefined, 'https://assets.example']) {
    const helpers = makeHelpers({ host }, () => ({ imports }))('web')
    const confetti = `${host ?? ''}/assets/vendor/confetti.js`
    const map = importMap({ cdn: 'https://cdn.example/x.js', confetti })
    t.is(helpers.importMap(), map)
    t.is(helpers.importMap({ entry: 'app' }), map)
    const replaced = map.replace('vendor/confetti', 'other')
    t.is(helpers.importMap({ imports: { confetti: 'other' } }), replaced)
  }
})

test('JSM-10 tags of modules that are heavier than 20 KiB are told once, with what to do', t => {
  const told: string[] = []
  const imports = Array.from({ length: 150 }, (_, at) => `/assets/${'x'.repeat(60)}${at}.js`)
  const { javascript, importMap } = makeHelpers({ warn: message => told.push(message) }, () => ({
    resolve: name => ({ path: `/assets/${name}`, plainPath: `/assets/${name}` }),
    moduleAt: path => ({
      path,
      plainPath: path,
      imports: path === '/assets/app.js' ? imports : [],
      unresolved: ['*']
    })
  }))('web')
  javascript('app', { type: 'module' })
  t.deepEqual(told, [])
  for (const entry of ['app', 'app.js']) importMap({ entry })
  t.is(told.length, 1)
  t.regex(
    told[0] ?? '',
    /^a page has 3\d KiB of tags for its modules \(import map \d+ B, modulepreload \d+ B\): name what it loads, importMap\(\{ entry \}\)/
  )
})

test('what is remembered is bounded, however many entries pages name', t => {
  let written = 0
  const remembered = makeMemory<number>(() => '', MAX_LISTS)
  for (let at = 0; at < 1000; at++) remembered(`a${at}`, () => ++written)
  const kept = Array.from({ length: 1000 }, (_, at) => at).filter(at => {
    const before = written
    remembered(`a${at}`, () => ++written)
    return written === before
  })
  t.true(kept.length <= 20, String(kept.length))
})

test('a page gets the tag of a name as of the last release, with attributes and without', t => {
  let version = ''
  const helpers = makeHelpers({}, () => ({
    isLasting: true,
    version: () => version,
    resolve(name) {
      if (version === '') throw new Error(`${name} is not in the manifest`)
      return { path: `/assets/${version}/${name}` }
    }
  }))('web')
  t.throws(() => helpers.stylesheet('app'))
  for (version of ['one', 'two']) {
    for (let time = 1; time <= 2; time++) {
      const printed = ' media="print"'
      t.is(helpers.stylesheet('app'), sheet(`${version}/app.css`))
      t.is(helpers.stylesheet('app', { media: 'print' }), sheet(`${version}/app.css`, printed))
      t.is(helpers.javascript('app'), script(`${version}/app.js`))
    }
  }
})
