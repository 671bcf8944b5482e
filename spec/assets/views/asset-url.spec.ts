import test from 'ava'
import { plainAddress } from '../../../lib/assets/views/asset-url.ts'
import { fingerprinted, makeHelpers } from './view-helpers-site.ts'

const assets = makeHelpers()('web')
const cdn = makeHelpers({ host: 'https://cdn.example' })('web')

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
] as const) {
  test(`REN-04 javascript('${name}') asks for ${file}`, t => {
    t.is(assets.javascript(name), `<script src="/assets/${file}" type="text/javascript"></script>`)
  })
}

test('REN-04 a query is removed before the name is resolved, and appended to the URL', t => {
  const asked: string[] = []
  const { path } = makeHelpers({}, app => ({
    resolve: name => {
      asked.push(`${app}:${name}`)
      return { path: '/assets/sprite-0123.svg' }
    }
  }))('web')
  t.is(path('sprite.svg?v=2#home'), '/assets/sprite-0123.svg?v=2#home')
  t.deepEqual(asked, ['web:sprite.svg'])
})

test('REN-09 path() has no host, url() has one', t => {
  t.is(assets.path('application.js'), '/assets/application.js')
  t.is(cdn.path('application.js'), '/assets/application.js')
  t.is(cdn.url('application.js'), 'https://cdn.example/assets/application.js')
})

test('REN-09 url() without a host is the path', t => {
  t.is(assets.url('application.js'), '/assets/application.js')
})

test('REN-10 absolute and protocol-relative URLs are emitted unchanged', t => {
  const { javascript, stylesheet, image, favicon, video, path, url } = fingerprinted({
    host: 'https://cdn.example'
  })('web')
  for (const given of ['https://a.example/x', 'HTTP://a.example/x?y#z', '//a.example/x y']) {
    t.is(javascript(given), `<script src="${given}" type="text/javascript"></script>`)
    t.is(stylesheet(given), `<link href="${given}" type="text/css" rel="stylesheet">`)
    t.is(video(given), `<video src="${given}"></video>`)
    t.is(path(given), given)
    t.is(url(given), given)
  }
  t.is(favicon('data:,'), '<link href="data:," rel="shortcut icon" type="image/x-icon">')
  t.is(image('data:image/png;base64,AA=='), '<img src="data:image/png;base64,AA==" alt="">')
})

test('REN-11 every helper emits the host', t => {
  for (const host of ['https://cdn.example', 'https://cdn.example/']) {
    const { javascript, stylesheet, image, favicon, video, audio, preload } = makeHelpers({ host })(
      'web'
    )
    t.is(
      javascript('a'),
      '<script src="https://cdn.example/assets/a.js" type="text/javascript"></script>'
    )
    t.is(
      stylesheet('a'),
      '<link href="https://cdn.example/assets/a.css" type="text/css" rel="stylesheet">'
    )
    t.is(image('a.png'), '<img src="https://cdn.example/assets/a.png" alt="A">')
    t.is(
      favicon(),
      '<link href="https://cdn.example/assets/favicon.ico" rel="shortcut icon" type="image/x-icon">'
    )
    t.is(
      video('a.mp4', { poster: 'a.png' }),
      '<video poster="https://cdn.example/assets/a.png" src="https://cdn.example/assets/a.mp4"></video>'
    )
    t.is(
      audio({ sources: ['a.mp3'] }),
      '<audio>\n<source src="https://cdn.example/assets/a.mp3" type="audio/mpeg">\n</audio>'
    )
    t.is(preload('a.css'), '<https://cdn.example/assets/a.css>; rel=preload; as=style')
  }
})

for (const name of [
  '',
  '?v=1',
  '/app.css',
  'a/',
  'a//b',
  '.',
  '..',
  '../a',
  'a/../b',
  'a\\b',
  '/\\evil.example',
  'a:b',
  'javascript:alert(1)',
  'https:evil.example',
  'a\0',
  'a\nb',
  '\ud800'
]) {
  test(`${JSON.stringify(name)} is a TypeError as a name`, t => {
    const invalid = { instanceOf: TypeError, message: /^an asset's name is a path without prefix/ }
    t.throws(() => assets.path(name), invalid)
    t.throws(() => assets.javascript(name), invalid)
    t.throws(() => assets.preload(name, { as: 'image' }), invalid)
  })
}

test('anything but a string is a TypeError as a name', t => {
  const { javascript, path, url, image, preload } = assets
  for (const args of [[42], ['a.css', 42, {}], [42, 'a.css'], [['a.css']]]) {
    t.throws(() => Reflect.apply(javascript, null, args), { instanceOf: TypeError })
  }
  for (const helper of [path, url, image, preload]) {
    t.throws(() => Reflect.apply(helper, null, [42]), {
      instanceOf: TypeError,
      message: "an asset's name must be a string, got 42"
    })
  }
})

test('a plain address is encoded segment by segment; a percent sign is part of the name', t => {
  for (const [name, path] of [
    ['app.css', '/assets/app.css'],
    ['admin/my menu.css', '/assets/admin/my%20menu.css'],
    ['spa~ce-1_2.css', '/assets/spa~ce-1_2.css'],
    ['logo@2x.png', '/assets/logo@2x.png'],
    ['größe.css', '/assets/gr%C3%B6%C3%9Fe.css'],
    ['🦊.svg', '/assets/%F0%9F%A6%8A.svg'],
    ['100%25.css', '/assets/100%2525.css'],
    ["a'b(c)!*+,;=&$.css", '/assets/a%27b%28c%29%21%2A%2B%2C%3B%3D%26%24.css'],
    ['c#?.css', '/assets/c%23%3F.css'],
    ['\ud800', '/assets/%EF%BF%BD']
  ] as const) {
    t.deepEqual(plainAddress('/assets', name), { path })
  }
})
