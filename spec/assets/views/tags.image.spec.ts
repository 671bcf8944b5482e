import test from 'ava'
import { fingerprinted, makeHelpers } from './view-helpers-site.ts'

const assets = makeHelpers()('web')

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
