import test from 'ava'
import type { PreloadOptions } from '../../../lib/assets/views/preload.ts'
import { fingerprinted, makeHelpers } from './view-helpers-site.ts'

const { preload } = makeHelpers()('web')
const guarded = fingerprinted()('web').preload

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
  test(`preload('${name}') is ${parameters}`, t => {
    t.is(preload(name), `<${name.startsWith('https:') ? '' : '/assets/'}${name}>; ${parameters}`)
  })
}

test('preload() has the integrity and the crossorigin of the tag', t => {
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
})

test('preload() of an image or a font has no integrity, as the request for it has none', t => {
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

test('preload() throws when neither `as` nor the extension shows the use', t => {
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
})

test('no parameter can break the header of preload()', t => {
  for (const media of ['a\r\nSet-Cookie: b', 'größer']) {
    const options: PreloadOptions = { media }
    t.throws(() => preload('a.css', options), {
      instanceOf: TypeError,
      message: /^media of a preload must be printable ASCII/
    })
  }
})
