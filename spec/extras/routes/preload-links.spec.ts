import test from 'ava'
import * as fc from 'fast-check'
import { HELPERS } from '../../../lib/extras/routes/preload-links.ts'
import { fingerprinted, makeHelpers } from '../../assets/views/view-helpers-site.ts'
import { cases } from '../../support/soak.ts'
import { anyText } from '../../support/texts.ts'

const SHEET = `app-${'b'.repeat(32)}.css`
const APP = `app-${'a'.repeat(32)}.js`

const { preload } = makeHelpers({}, undefined, [HELPERS])('web')

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
  const { preload } = fingerprinted({}, [HELPERS])('web')
  for (const [name, options, expected] of [
    [
      'app.css',
      {},
      `${SHEET}>; rel=preload; as=style; integrity="sha256-bb+/ sha512-bbbb"; crossorigin`
    ],
    [
      'app.js',
      { as: 'module' },
      `${APP}>; rel=modulepreload; integrity="sha384-aaaa"; crossorigin`
    ],
    ['app.css', { integrity: false }, `${SHEET}>; rel=preload; as=style`],
    ['logo.png', {}, `logo-${'c'.repeat(32)}.png>; rel=preload; as=image`],
    ['inter.woff2', {}, `inter-${'e'.repeat(32)}.woff2>; rel=preload; as=font; crossorigin`]
  ] as const) {
    t.is(preload(name, options), `</assets/${expected}`)
  }
})

test('preload() appends the extension of the tag, and writes the other parameters, quoted where necessary', t => {
  for (const [name, options, expected] of [
    ['app', { as: 'style' }, 'app.css>; rel=preload; as=style'],
    ['jquery.min', { as: 'script' }, 'jquery.min.js>; rel=preload; as=script'],
    ['app', { type: 'module' }, 'app.js>; rel=modulepreload'],
    [
      'a.png',
      {
        type: 'image/png',
        crossorigin: 'use-credentials',
        media: '(min-width: 40em) and "\\"',
        fetchpriority: 'high'
      },
      'a.png>; rel=preload; as=image; type="image/png"; crossorigin=use-credentials;' +
        ' media="(min-width: 40em) and \\"\\\\\\""; fetchpriority=high'
    ],
    ['a.png', { crossorigin: 'anonymous' }, 'a.png>; rel=preload; as=image; crossorigin'],
    ['a.woff2', { crossorigin: false }, 'a.woff2>; rel=preload; as=font']
  ] as const) {
    t.is(preload(name, options), `</assets/${expected}`)
  }
  t.regex(preload('https://a.example/ä b>.css'), /^<https:\/\/a\.example\/%C3%A4%20b%3E\.css>; /)
})

test('preload() throws when neither `as` nor the extension shows the use, and for what could break the header', t => {
  const list = 'fetch, font, image, module, script, style, track'
  const printable = /^media of a preload must be printable ASCII/
  for (const [args, message] of [
    [['app'], `preload('app') needs { as } with one of ${list}, got undefined`],
    ...['stile', 'constructor', 42].map(as => [['app.css', { as }], /needs \{ as \}/] as const),
    ...['a\r\nSet-Cookie: b', 'größer'].map(media => [['a.css', { media }], printable] as const)
  ] as const) {
    t.throws(() => Reflect.apply(preload, null, args), { instanceOf: TypeError, message })
  }
})

test('REN-11 BAS-02 preload() emits the host, and base behind it', t => {
  const given = { host: 'https://cdn.example/', base: '/shop' }
  const { preload } = makeHelpers(given, undefined, [HELPERS])('web')
  t.is(preload('a.css'), '<https://cdn.example/shop/assets/a.css>; rel=preload; as=style')
})

test('no name and no URL breaks out of a Link header', t => {
  const link = /^<[\x21\x23-\x3b\x3d\x3f-\x7e]*>; rel=preload; as=style$/
  const nasty = fc.oneof(anyText(), fc.string())
  const url = nasty.map(rest => `https://a.example/${rest}`)
  const isLink = (name: string): boolean => {
    try {
      return link.test(preload(name, { as: 'style' }))
    } catch (error) {
      return error instanceof TypeError
    }
  }
  fc.assert(fc.property(fc.oneof(nasty, url), isLink), { numRuns: cases(100, 1000) })
  t.pass()
})
