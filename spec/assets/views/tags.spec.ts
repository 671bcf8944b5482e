import test from 'ava'
import { makePageMemory, type Module } from '../../../lib/assets/views/asset-url.ts'
import type { PreloadOptions } from '../../../lib/assets/views/preload.ts'
import { fingerprinted, makeHelpers } from './view-helpers-site.ts'

const assets = makeHelpers()('web')

test('REN-01 REN-02 javascript() is a script tag; several names give several lines that share the attributes, and false is skipped', t => {
  t.is(
    assets.javascript('application'),
    '<script src="/assets/application.js" type="text/javascript"></script>'
  )
  t.is(
    assets.javascript('a', 'b', { async: true, defer: true, nomodule: false }),
    '<script src="/assets/a.js" type="text/javascript" async="async" defer="defer"></script>\n' +
      '<script src="/assets/b.js" type="text/javascript" async="async" defer="defer"></script>'
  )
  t.is(
    assets.stylesheet('a', 'b'),
    '<link href="/assets/a.css" type="text/css" rel="stylesheet">\n' +
      '<link href="/assets/b.css" type="text/css" rel="stylesheet">'
  )
})

test('REN-03 an attribute of the tag is replaced in place in any case, and removed by null and false; src and href are not', t => {
  t.is(
    assets.javascript('a', { type: 'module', src: '/evil.js', SRC: '/evil.js' }),
    '<script src="/assets/a.js" type="module"></script>'
  )
  t.is(
    assets.stylesheet('a', { media: 'print', rel: 'alternate stylesheet', href: '/evil.css' }),
    '<link href="/assets/a.css" type="text/css" rel="alternate stylesheet" media="print">'
  )
  t.is(
    assets.favicon('a.ico', { href: '/evil.ico' }),
    '<link href="/assets/a.ico" rel="shortcut icon" type="image/x-icon">'
  )
  t.is(assets.javascript('a', { type: null }), '<script src="/assets/a.js"></script>')
  t.is(assets.javascript('a', { type: false }), '<script src="/assets/a.js"></script>')
  t.is(
    assets.javascript('a', { type: undefined, nonce: undefined }),
    '<script src="/assets/a.js" type="text/javascript"></script>'
  )
  t.is(
    assets.javascript('a', { TYPE: 'module', crossOrigin: 'anonymous' }),
    '<script src="/assets/a.js" type="module" crossorigin="anonymous"></script>'
  )
})

test('REN-05 REN-06 stylesheet() is a link, and favicon() one to favicon.ico by default', t => {
  t.is(assets.stylesheet('main'), '<link href="/assets/main.css" type="text/css" rel="stylesheet">')
  t.is(
    assets.favicon(),
    '<link href="/assets/favicon.ico" rel="shortcut icon" type="image/x-icon">'
  )
  t.is(
    assets.favicon('f.png', { rel: 'icon', type: 'image/png' }),
    '<link href="/assets/f.png" rel="icon" type="image/png">'
  )
  for (const [name, type] of [
    ['icon.svg', 'image/svg+xml'],
    ['icon.png?v=1', 'image/png'],
    ['old.ICO', 'image/x-icon']
  ] as const) {
    t.is(assets.favicon(name), `<link href="/assets/${name}" rel="shortcut icon" type="${type}">`)
  }
})

test('REN-12 integrity is followed by crossorigin; a given one of either wins, and false omits it', t => {
  const { javascript, stylesheet } = fingerprinted()('web')
  const script = (attributes: string) =>
    `<script src="/assets/app-${'a'.repeat(32)}.js" type="text/javascript"${attributes}></script>`
  const integrity = ' integrity="sha384-aaaa"'
  const both = `${integrity} crossorigin="anonymous"`
  t.is(javascript('app', { defer: true }), script(`${both} defer="defer"`))
  t.is(javascript('app', { integrity: true }), script(both))
  t.is(
    stylesheet('app'),
    `<link href="/assets/app-${'b'.repeat(32)}.css" type="text/css" rel="stylesheet"` +
      ' integrity="sha256-bb+/ sha512-bbbb" crossorigin="anonymous">'
  )
  const credentials = { crossorigin: 'use-credentials' }
  t.is(javascript('app', credentials), script(`${integrity} crossorigin="use-credentials"`))
  t.is(javascript('app', { crossorigin: false }), script(integrity))
  t.is(javascript('app', { integrity: false }), script(''))
  const plain = { integrity: false, crossorigin: 'anonymous' }
  t.is(javascript('app', plain), script(' crossorigin="anonymous"'))
  t.is(
    javascript('https://a.example/x.js', { integrity: 'sha384-mine' }),
    '<script src="https://a.example/x.js" type="text/javascript"' +
      ' integrity="sha384-mine" crossorigin="anonymous"></script>'
  )
})

test('REN-15 values are escaped', t => {
  t.is(
    assets.favicon('a.ico', { title: `"><script>alert('&')</script>` }),
    '<link href="/assets/a.ico" rel="shortcut icon" type="image/x-icon"' +
      ' title="&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;">'
  )
  t.is(
    assets.javascript('https://a.example/?a=1&b="'),
    '<script src="https://a.example/?a=1&amp;b=&quot;" type="text/javascript"></script>'
  )
})

test('REN-15 a name that HTML does not allow is a TypeError, and so is a value that is no string, number or boolean', t => {
  for (const name of ['', 'a b', 'a"', "a'", 'a>', 'a<', 'a=', 'a/', 'a\n', 'a\0']) {
    t.throws(() => assets.stylesheet('a', { [name]: false }), {
      instanceOf: TypeError,
      message: /cannot be the name of an HTML attribute$/
    })
  }
  t.is(
    assets.stylesheet('a', { 'data-a.b': 0, '@click': 'go()' }),
    '<link href="/assets/a.css" type="text/css" rel="stylesheet" data-a.b="0" @click="go()">'
  )
  t.throws(() => Reflect.apply(assets.javascript, null, ['a', { class: ['b'] }]), {
    instanceOf: TypeError,
    message: "attribute class must be a string, a number, a boolean or null, got [ 'b' ]"
  })
  t.throws(() => Reflect.apply(assets.javascript, null, ['a', ['b']]), {
    instanceOf: TypeError,
    message: "attributes must be an object, got [ 'b' ]"
  })
})

test('javascript() and stylesheet() without a name are a TypeError', t => {
  for (const args of [[], [undefined], [null], [{ defer: true }]]) {
    t.throws(() => Reflect.apply(assets.javascript, null, args), {
      instanceOf: TypeError,
      message: 'javascript() needs the name of an asset'
    })
  }
  t.is(assets.stylesheet('a', undefined), assets.stylesheet('a'))
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
  const tag = '<script src="/assets/a.js" type="module"></script>'
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

const { preload } = makeHelpers()('web')
const guarded = fingerprinted()('web').preload

test('preload() takes the use from the extension', t => {
  for (const [name, parameters] of [
    ['a.css', 'rel=preload; as=style'],
    ['a.js?v=1.css', 'rel=preload; as=script'],
    ['a.mjs', 'rel=modulepreload'],
    ['a.mjs.js', 'rel=preload; as=script'],
    ['a.avif', 'rel=preload; as=image'],
    ['a.svg', 'rel=preload; as=image'],
    ['a.woff2', 'rel=preload; as=font; crossorigin'],
    ['a.vtt', 'rel=preload; as=track'],
    ['a.json', 'rel=preload; as=fetch; crossorigin'],
    ['https://a.example/a.css', 'rel=preload; as=style']
  ] as const) {
    t.is(preload(name), `<${name.startsWith('https:') ? '' : '/assets/'}${name}>; ${parameters}`)
  }
})

test('preload() has the integrity and the crossorigin of the tag; that of an image or a font has none', t => {
  t.is(
    guarded('app.css'),
    `</assets/app-${'b'.repeat(32)}.css>; rel=preload; as=style;` +
      ' integrity="sha256-bb+/ sha512-bbbb"; crossorigin'
  )
  t.is(
    guarded('app.js', { as: 'module' }),
    `</assets/app-${'a'.repeat(32)}.js>; rel=modulepreload; integrity="sha384-aaaa"; crossorigin`
  )
  t.is(
    guarded('app.css', { integrity: false }),
    `</assets/app-${'b'.repeat(32)}.css>; rel=preload; as=style`
  )
  t.is(guarded('logo.png'), `</assets/logo-${'c'.repeat(32)}.png>; rel=preload; as=image`)
  t.is(
    guarded('inter.woff2'),
    `</assets/inter-${'e'.repeat(32)}.woff2>; rel=preload; as=font; crossorigin`
  )
})

test('preload() appends the extension that the tag would append', t => {
  t.is(preload('app', { as: 'style' }), '</assets/app.css>; rel=preload; as=style')
  t.is(preload('jquery.min', { as: 'script' }), '</assets/jquery.min.js>; rel=preload; as=script')
  t.is(preload('app', { type: 'module' }), '</assets/app.js>; rel=modulepreload')
})

test('preload() writes the other parameters, quoted where necessary', t => {
  t.is(
    preload('a.png', {
      type: 'image/png',
      crossorigin: 'use-credentials',
      media: '(min-width: 40em) and "\\"',
      fetchpriority: 'high'
    }),
    '</assets/a.png>; rel=preload; as=image; type="image/png"; crossorigin=use-credentials;' +
      ' media="(min-width: 40em) and \\"\\\\\\""; fetchpriority=high'
  )
  t.is(
    preload('a.png', { crossorigin: 'anonymous' }),
    '</assets/a.png>; rel=preload; as=image; crossorigin'
  )
  t.is(preload('a.woff2', { crossorigin: false }), '</assets/a.woff2>; rel=preload; as=font')
  t.is(
    preload('https://a.example/ä b>.css'),
    '<https://a.example/%C3%A4%20b%3E.css>; rel=preload; as=style'
  )
})

test('preload() throws when neither `as` nor the extension shows the use, and for what could break the header', t => {
  const list = 'fetch, font, image, module, script, style, track'
  t.throws(() => preload('app'), {
    instanceOf: TypeError,
    message: `preload('app') needs { as } with one of ${list}, got undefined`
  })
  for (const as of ['stile', 'constructor', 42]) {
    t.throws(() => Reflect.apply(preload, null, ['app.css', { as }]), {
      instanceOf: TypeError,
      message: /needs \{ as \}/
    })
  }
  for (const media of ['a\r\nSet-Cookie: b', 'größer']) {
    const options: PreloadOptions = { media }
    t.throws(() => preload('a.css', options), {
      instanceOf: TypeError,
      message: /^media of a preload must be printable ASCII/
    })
  }
})

const DIAL = `lib/dial-${'f'.repeat(32)}.mjs`
const APP = `app-${'a'.repeat(32)}.js`

test('importMap() maps each module to its published URL, sorted, with its integrity', t => {
  t.is(
    fingerprinted()('web').importMap(),
    '<script type="importmap">{"imports":{' +
      `"/assets/app.js":"/assets/${APP}",` +
      `"/assets/lib/dial.mjs":"/assets/${DIAL}"},` +
      '"integrity":{' +
      `"/assets/${APP}":"sha384-aaaa",` +
      `"/assets/${DIAL}":"sha384-ffff"}}</script>`
  )
})

test('importMap() sorts the modules of the app by code unit, with the host before both URLs', t => {
  t.is(makeHelpers()('web').importMap(), '')
  const integrity = ['sha256-a', 'sha512-a']
  const mapOf = (app: string) =>
    makeHelpers({ host: 'https://cdn.example' }, name => ({
      modules: () =>
        name === 'web'
          ? ['b', 'Z', 'a', 'ä'].map(each => ({ plainPath: `/${each}.js`, path: `/${each}-1.js` }))
          : [{ plainPath: '/admin.js', path: '/admin-1.js', integrity }]
    }))(app).importMap()
  const written = /"https:\/\/cdn\.example\/(.)\.js":"https:\/\/cdn\.example\/\1-1\.js"/g
  t.is([...mapOf('web').matchAll(written)].map(([, name]) => name).join(''), 'Zabä')
  t.is(
    mapOf('admin'),
    '<script type="importmap">{' +
      '"imports":{"https://cdn.example/admin.js":"https://cdn.example/admin-1.js"},' +
      '"integrity":{"https://cdn.example/admin-1.js":"sha256-a sha512-a"}}</script>'
  )
})

test('importMap() takes a nonce and more specifiers, which take precedence', t => {
  t.is(
    fingerprinted()('web').importMap({
      nonce: '"r4nd0m',
      imports: {
        dial: 'lib/dial.mjs',
        app: 'app',
        '/assets/app.js': 'https://a.example/x.js',
        ['__proto__']: 'app'
      }
    }),
    '<script type="importmap" nonce="&quot;r4nd0m">{"imports":{' +
      '"/assets/app.js":"https://a.example/x.js",' +
      `"/assets/lib/dial.mjs":"/assets/${DIAL}",` +
      `"__proto__":"/assets/${APP}","app":"/assets/${APP}","dial":"/assets/${DIAL}"},` +
      '"integrity":{' +
      `"/assets/${APP}":"sha384-aaaa",` +
      `"/assets/${DIAL}":"sha384-ffff"}}</script>`
  )
  const url = 'https://a.example/</script><!--\u2028\u2029'
  t.is(
    makeHelpers()('web').importMap({ imports: { a: url } }),
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
    const map =
      '<script type="importmap">{"imports":{"cdn":"https://cdn.example/x.js",' +
      `"confetti":"${host ?? ''}/assets/vendor/confetti.js"}}</script>`
    t.is(helpers.importMap(), map)
    t.is(helpers.importMap({ entry: 'app' }), map)
    t.is(
      helpers.importMap({ imports: { confetti: 'other' } }),
      map.replace('vendor/confetti', 'other')
    )
  }
})

test('JSM-06 importMap({ entry }) holds every module when it is not known what the entry imports', t => {
  const modules: Module[] = [
    {
      path: '/assets/app-1.js',
      plainPath: '/assets/app.js',
      imports: ['/assets/old.js', '/assets/gone.js']
    },
    { path: '/assets/old-1.js', plainPath: '/assets/old.js' },
    { path: '/assets/other-1.js', plainPath: '/assets/other.js', imports: [] }
  ]
  const resolve = (name: string) => ({ path: '', plainPath: `/assets/${name}` })
  const moduleAt = (path: string) => modules.find(({ plainPath }) => plainPath === path)
  const helpers = makeHelpers({}, () => ({ resolve, moduleAt, modules: () => modules }))('web')
  t.true(helpers.importMap({ entry: 'app' }).includes('/assets/other-1.js'))
  t.is(
    helpers.importMap({ entry: 'other' }),
    '<script type="importmap">{"imports":{"/assets/other.js":"/assets/other-1.js"}}</script>'
  )
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
  const remembered = makePageMemory(() => '')
  for (let at = 0; at < 1000; at++) remembered(['a', at], () => ++written)
  const kept = Array.from({ length: 1000 }, (_, at) => at).filter(at => {
    const before = written
    remembered(['a', at], () => ++written)
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
      const [href, src] = [`href="/assets/${version}/app.css"`, `src="/assets/${version}/app.js"`]
      t.is(helpers.stylesheet('app'), `<link ${href} type="text/css" rel="stylesheet">`)
      t.is(
        helpers.stylesheet('app', { media: 'print' }),
        `<link ${href} type="text/css" rel="stylesheet" media="print">`
      )
      t.is(helpers.javascript('app'), `<script ${src} type="text/javascript"></script>`)
    }
  }
})

test('JSM-06 preloads and import maps follow the manifest', t => {
  let version = 'one'
  const helpers = makeHelpers({}, () => ({
    version: () => version,
    resolve: name => ({ path: `/${version}/${name}`, plainPath: `/assets/${name}` }),
    moduleAt: path => ({ path: `/${version}${path}`, plainPath: path, imports: ['/assets/b.js'] })
  }))('web')
  const tags = () =>
    helpers.importMap({ entry: 'a' }) +
    helpers.javascript('a', { type: 'module', modulepreload: true })
  const first = tags()
  t.is(tags(), first)
  version = 'two'
  t.is(tags(), first.replaceAll('/one/', '/two/'))
})
