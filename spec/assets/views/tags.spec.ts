import test from 'ava'
import { makeViewHelpers } from '../../../lib/assets/views/view-helpers.ts'
import { fingerprinted, makeHelpers } from './view-helpers-site.ts'

const assets = makeHelpers()('web')

test('REN-01 javascript() is a script tag', t => {
  t.is(
    assets.javascript('application'),
    '<script src="/assets/application.js" type="text/javascript"></script>'
  )
})

test('REN-02 several names are several lines that share the attributes, false leaves one out', t => {
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

test('REN-03 an attribute of the tag is replaced in place, src and href are not', t => {
  t.is(
    assets.javascript('a', { type: 'module', src: '/evil.js', SRC: '/evil.js' }),
    '<script src="/assets/a.js" type="module"></script>'
  )
  t.is(
    assets.stylesheet('a', { media: 'print', rel: 'alternate stylesheet', href: '/evil.css' }),
    '<link href="/assets/a.css" type="text/css" rel="alternate stylesheet" media="print">'
  )
  t.is(assets.image('a.png', { src: '/evil.png' }), '<img src="/assets/a.png" alt="A">')
  t.is(
    assets.favicon('a.ico', { href: '/evil.ico' }),
    '<link href="/assets/a.ico" rel="shortcut icon" type="image/x-icon">'
  )
  t.is(assets.video('a.mp4', { src: '/evil.mp4' }), '<video src="/assets/a.mp4"></video>')
})

test('REN-03 null and false remove an attribute of the tag, undefined keeps it', t => {
  t.is(assets.javascript('a', { type: null }), '<script src="/assets/a.js"></script>')
  t.is(assets.javascript('a', { type: false }), '<script src="/assets/a.js"></script>')
  t.is(
    assets.javascript('a', { type: undefined, nonce: undefined }),
    '<script src="/assets/a.js" type="text/javascript"></script>'
  )
})

test('REN-03 names of attributes are case-insensitive', t => {
  t.is(
    assets.javascript('a', { TYPE: 'module', crossOrigin: 'anonymous' }),
    '<script src="/assets/a.js" type="module" crossorigin="anonymous"></script>'
  )
})

test('REN-05 stylesheet() is a link', t => {
  t.is(assets.stylesheet('main'), '<link href="/assets/main.css" type="text/css" rel="stylesheet">')
})

test('REN-06 favicon() is a link to favicon.ico by default', t => {
  t.is(
    assets.favicon(),
    '<link href="/assets/favicon.ico" rel="shortcut icon" type="image/x-icon">'
  )
  t.is(
    assets.favicon('f.png', { rel: 'icon', type: 'image/png' }),
    '<link href="/assets/f.png" rel="icon" type="image/png">'
  )
})

test('REN-12 integrity is followed by crossorigin', t => {
  const { javascript, stylesheet } = fingerprinted()('web')
  t.is(
    javascript('app', { defer: true }),
    `<script src="/assets/app-${'a'.repeat(32)}.js" type="text/javascript"` +
      ' integrity="sha384-aaaa" crossorigin="anonymous" defer="defer"></script>'
  )
  t.is(
    stylesheet('app'),
    `<link href="/assets/app-${'b'.repeat(32)}.css" type="text/css" rel="stylesheet"` +
      ' integrity="sha256-bb+/ sha512-bbbb" crossorigin="anonymous">'
  )
})

test('REN-12 a given crossorigin wins', t => {
  const { javascript } = fingerprinted()('web')
  const start = `<script src="/assets/app-${'a'.repeat(32)}.js" type="text/javascript"`
  t.is(
    javascript('app', { crossorigin: 'use-credentials' }),
    `${start} integrity="sha384-aaaa" crossorigin="use-credentials"></script>`
  )
  t.is(javascript('app', { crossorigin: false }), `${start} integrity="sha384-aaaa"></script>`)
})

test('REN-12 a given integrity wins, false omits both, true is the default', t => {
  const { javascript } = fingerprinted()('web')
  const start = `<script src="/assets/app-${'a'.repeat(32)}.js" type="text/javascript"`
  t.is(javascript('app', { integrity: false }), `${start}></script>`)
  t.is(
    javascript('app', { integrity: false, crossorigin: 'anonymous' }),
    `${start} crossorigin="anonymous"></script>`
  )
  t.is(javascript('app', { integrity: true }), javascript('app'))
  t.is(
    javascript('https://a.example/x.js', { integrity: 'sha384-mine' }),
    '<script src="https://a.example/x.js" type="text/javascript"' +
      ' integrity="sha384-mine" crossorigin="anonymous"></script>'
  )
})

test('REN-15 values are escaped', t => {
  t.is(
    assets.image('a.png', { title: `"><script>alert('&')</script>` }),
    '<img src="/assets/a.png" alt="A"' +
      ' title="&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;">'
  )
  t.is(
    assets.image('https://a.example/?a=1&b="'),
    '<img src="https://a.example/?a=1&amp;b=&quot;" alt="">'
  )
})

test('REN-15 a name that HTML does not allow is a TypeError', t => {
  for (const name of ['', 'a b', 'a"', "a'", 'a>', 'a<', 'a=', 'a/', 'a\n', 'a\0']) {
    t.throws(() => assets.image('a.png', { [name]: false }), {
      instanceOf: TypeError,
      message: /cannot be the name of an HTML attribute$/
    })
  }
  t.is(
    assets.image('a.png', { 'data-a.b': 0, '@click': 'go()' }),
    '<img src="/assets/a.png" alt="A" data-a.b="0" @click="go()">'
  )
})

test('REN-15 a value that is not a string, number or boolean is a TypeError', t => {
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
      return { path: path.replace('assets/', 'assets/1-'), integrity, imports: imports ?? [] }
    }
  }))('web')

test('JSM-06 modulepreload links share the CORS mode and the nonce of the script, not its own integrity', t => {
  const link = '<link href="https://cdn.example/assets/1-b.js" rel="modulepreload"'
  const links = (attributes: object, integrity = ['sha384-b']) =>
    modulesOf(integrity)
      .javascript('a', { type: 'module', modulepreload: true, ...attributes })
      .split('\n')
      .slice(1)
  t.deepEqual(links({}), [`${link} integrity="sha384-b" crossorigin="anonymous">`])
  t.deepEqual(links({ crossorigin: 'use-credentials', nonce: '"n', id: 'app', defer: true }), [
    `${link} integrity="sha384-b" crossorigin="use-credentials" nonce="&quot;n">`
  ])
  t.deepEqual(links({ integrity: 'sha384-own' }), links({}))
  t.deepEqual(links({ integrity: false }), [`${link}>`])
  t.deepEqual(links({}, []), [`${link}>`])
})

test('JSM-06 modulepreload links no entry and no module twice, in a cycle either', t => {
  const helpers = modulesOf([])
  const options = { type: 'module', modulepreload: true } as const
  const tags = (...names: [string, ...string[]]) =>
    [...helpers.javascript(...names, options).matchAll(/<(\w+) \w+="[^"]*1-(\w+)/g)].map(
      ([, tag, name]) => `${tag} ${name}`
    )
  t.deepEqual(tags('a'), ['script a', 'link b'])
  t.deepEqual(tags('c', 'a'), ['script c', 'script a', 'link b'])
  t.deepEqual(tags('a', 'b.js'), ['script a', 'script b'])
  t.is(helpers.javascript('https://x.example/a.js', options).split('\n').length, 1)
})

test('JSM-06 modulepreload is no attribute, and adds nothing without fingerprints', t => {
  const tag = '<script src="/assets/a.js" type="module"></script>'
  for (const modulepreload of [true, false, undefined]) {
    t.is(assets.javascript('a', { type: 'module', modulepreload }), tag)
  }
})

test('JSM-06 modulepreload for a classic script is an error, and so is another value', t => {
  t.throws(() => assets.javascript('a', { modulepreload: true }), {
    instanceOf: TypeError,
    message: "modulepreload needs type: 'module', got undefined"
  })
  const given: object = { type: 'module', modulepreload: 'yes' }
  t.throws(() => assets.javascript('a', given as never), {
    instanceOf: TypeError,
    message: "modulepreload must be true or false, got 'yes'"
  })
})

test('REN-07 image() has an alt from the file name', t => {
  t.is(assets.image('my-cool_logo.png'), '<img src="/assets/my-cool_logo.png" alt="My Cool Logo">')
  t.is(
    assets.image('photos/summer house.jpg?v=1'),
    '<img src="/assets/photos/summer%20house.jpg?v=1" alt="Summer House">'
  )
})

test('REN-07 a given alt wins, even an empty one, and other attributes follow', t => {
  t.is(
    assets.image('logo.png', { width: 10, alt: '', height: 5.5, loading: 'lazy' }),
    '<img src="/assets/logo.png" alt="" width="10" height="5.5" loading="lazy">'
  )
  t.is(assets.image('logo.png', { alt: undefined }), '<img src="/assets/logo.png" alt="Logo">')
})

test('REN-07 a fingerprint never shows in alt', t => {
  const { image } = fingerprinted()('web')
  t.is(image('logo.png'), `<img src="/assets/logo-${'c'.repeat(32)}.png" alt="Logo">`)
  const url = `https://cdn.example/assets/my%20logo-${'c'.repeat(32)}.png`
  t.is(image(url), `<img src="${url}" alt="My Logo">`)
})

test('REN-07 image() resolves the names in srcset', t => {
  const { image } = fingerprinted({ host: 'https://cdn.example' })('web')
  t.is(
    image('logo.png', { srcset: { 'logo@2x.png': '2x' }, width: 10 }),
    `<img src="https://cdn.example/assets/logo-${'c'.repeat(32)}.png" alt="Logo"` +
      ` srcset="https://cdn.example/assets/logo@2x-${'d'.repeat(32)}.png 2x" width="10">`
  )
  t.is(
    assets.image('a.png', {
      srcset: [
        ['a, b.png', '640w'],
        ['https://elsewhere.example/a b.png', '1.5x']
      ]
    }),
    '<img src="/assets/a.png" alt="A"' +
      ' srcset="/assets/a%2C%20b.png 640w, https://elsewhere.example/a%20b.png 1.5x">'
  )
  t.is(
    assets.image('a.png', { srcset: 'as it is 2x' }),
    '<img src="/assets/a.png" alt="A" srcset="as it is 2x">'
  )
  t.is(assets.image('a.png', { srcset: false }), '<img src="/assets/a.png" alt="A">')
  t.throws(() => assets.image('a.png', { srcset: { 'b.png': '2' } }), {
    instanceOf: TypeError,
    message: "a size in srcset is written like '2x' or '640w', got '2'"
  })
})

test('REN-08 video() and audio() of one file', t => {
  t.is(
    assets.video('m.mp4', { autoplay: true, controls: true }),
    '<video autoplay="autoplay" controls="controls" src="/assets/m.mp4"></video>'
  )
  t.is(
    assets.audio('m.mp3', { controls: true }),
    '<audio controls="controls" src="/assets/m.mp3"></audio>'
  )
})

test('REN-08 sources are tags with their types, tracks and a text follow', t => {
  t.is(
    assets.video({
      controls: true,
      poster: 'm.jpg',
      sources: [
        'm.webm',
        { src: 'm.mp4?v=1', media: '(min-width: 1px)' },
        { src: 'm', type: 'a/b' }
      ],
      tracks: [{ kind: 'captions', src: 'm.en.vtt', srclang: 'en', default: true }],
      content: 'No <video>'
    }),
    '<video controls="controls" poster="/assets/m.jpg">\n' +
      '<source src="/assets/m.webm" type="video/webm">\n' +
      '<source src="/assets/m.mp4?v=1" type="video/mp4" media="(min-width: 1px)">\n' +
      '<source src="/assets/m" type="a/b">\n' +
      '<track kind="captions" src="/assets/m.en.vtt" srclang="en" default="default">\n' +
      'No &lt;video&gt;\n' +
      '</video>'
  )
  t.is(
    assets.audio({ sources: ['m.ogg'] }),
    '<audio>\n<source src="/assets/m.ogg" type="audio/ogg">\n</audio>'
  )
})

test('REN-08 neither a name nor sources, and both, are a TypeError', t => {
  for (const args of [[], [{}], [{ sources: [] }], ['m.mp4', { sources: ['m.webm'] }], [null]]) {
    t.throws(() => Reflect.apply(assets.video, null, args), {
      instanceOf: TypeError,
      message: 'video() needs either a name or { sources: [name, …] }'
    })
  }
  t.throws(() => assets.audio({ src: 'm.mp3' }), { instanceOf: TypeError, message: /audio\(\)/ })
  t.throws(() => Reflect.apply(assets.video, null, [{ sources: 'm.mp4' }]), {
    instanceOf: TypeError,
    message: "sources must be a list, got 'm.mp4'"
  })
})

const helpers = makeViewHelpers(
  {
    apps: [
      { name: 'web', path: '/' },
      { name: 'admin', path: '/admin' }
    ],
    host: 'https://cdn.example',
    liveScript: '/assets/-/live.js'
  },
  () => ({
    resolve: () => ({ path: '' }),
    modules: () => [],
    imports: new Map(),
    moduleAt: () => undefined,
    version: () => ''
  })
)

test('live() writes a script of this server with the nonce, in every app of a live page', t => {
  const { live, app } = helpers('web', true)
  t.is(live(), '<script src="/assets/-/live.js" type="module" async="async"></script>')
  const tag =
    '<script src="/assets/-/live.js" type="module" async="async" nonce="&quot;&gt;"></script>'
  t.is(live({ nonce: '">' }), tag)
  t.is(app('admin').live({ nonce: '">' }), tag)
})

test('live() writes nothing in any other page', t => {
  t.is(helpers('web').live({ nonce: 'n' }), '')
  t.is(helpers('web', false).app('admin').live(), '')
})

test('live() rejects an unknown option in every page', t => {
  for (const isLive of [true, false]) {
    const { live } = helpers('web', isLive)
    t.throws(() => live({ nonse: 'n' } as object), { instanceOf: TypeError, message: /nonce/ })
    t.throws(() => live({ q: 1, __keywords: true } as object), {
      message: "unknown option 'live.q': known options: nonce"
    })
  }
})
