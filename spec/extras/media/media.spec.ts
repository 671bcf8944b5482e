import test from 'ava'
import * as fc from 'fast-check'
import { HELPERS } from '../../../lib/extras/media/media.ts'
import { fingerprinted, makeHelpers } from '../../assets/views/view-helpers-site.ts'
import { anyText } from '../../support/texts.ts'

const assets = makeHelpers({}, undefined, [HELPERS])('web')

test('REN-07 image() has an alt from the file name without its fingerprint; a given one wins, even an empty one', t => {
  t.is(assets.image('my-cool_logo.png'), '<img src="/assets/my-cool_logo.png" alt="My Cool Logo">')
  const summer = '<img src="/assets/photos/summer%20house.jpg?v=1" alt="Summer House">'
  t.is(assets.image('photos/summer house.jpg?v=1'), summer)
  const lazy = '<img src="/assets/logo.png" alt="" width="10" height="5.5" loading="lazy">'
  t.is(assets.image('logo.png', { width: 10, alt: '', height: 5.5, loading: 'lazy' }), lazy)
  t.is(assets.image('logo.png', { alt: undefined }), '<img src="/assets/logo.png" alt="Logo">')
  const { image } = fingerprinted({}, [HELPERS])('web')
  t.is(image('logo.png'), `<img src="/assets/logo-${'c'.repeat(32)}.png" alt="Logo">`)
  const url = `https://cdn.example/assets/my%20logo-${'c'.repeat(32)}.png`
  t.is(image(url), `<img src="${url}" alt="My Logo">`)
})

test('REN-07 image() resolves the names in srcset', t => {
  const { image } = fingerprinted({ host: 'https://cdn.example' }, [HELPERS])('web')
  t.is(
    image('logo.png', { srcset: { 'logo@2x.png': '2x' }, width: 10 }),
    `<img src="https://cdn.example/assets/logo-${'c'.repeat(32)}.png" alt="Logo"` +
      ` srcset="https://cdn.example/assets/logo@2x-${'d'.repeat(32)}.png 2x" width="10">`
  )
  for (const [srcset, written] of [
    [[['a, b.png', '640w']], ' srcset="/assets/a%2C%20b.png 640w"'],
    [[['https://a.example/a b', '1.5x']], ' srcset="https://a.example/a%20b 1.5x"'],
    [{ 'a.png': '1x', 'b.png': '2x' }, ' srcset="/assets/a.png 1x, /assets/b.png 2x"'],
    ['as it is 2x', ' srcset="as it is 2x"'],
    [false, '']
  ] as const) {
    t.is(assets.image('a.png', { srcset }), `<img src="/assets/a.png" alt="A"${written}>`)
  }
  const message = "a size in srcset is written like '2x' or '640w', got '2'"
  const wrong = () => assets.image('a.png', { srcset: { 'b.png': '2' } })
  t.throws(wrong, { instanceOf: TypeError, message })
})

test('REN-08 video() and audio() write the tag of one file', t => {
  const video = '<video autoplay="autoplay" controls="controls" src="/assets/m.mp4"></video>'
  t.is(assets.video('m.mp4', { autoplay: true, controls: true }), video)
  const audio = '<audio controls="controls" src="/assets/m.mp3"></audio>'
  t.is(assets.audio('m.mp3', { controls: true }), audio)
})

test('REN-08 sources are tags with their types', t => {
  t.is(
    assets.video({
      controls: true,
      poster: 'm.jpg',
      sources: [
        'm.webm',
        { src: 'm.mp4?v=1', media: '(min-width: 1px)' },
        { src: 'm', type: 'a/b' }
      ]
    }),
    '<video controls="controls" poster="/assets/m.jpg">\n' +
      '<source src="/assets/m.webm" type="video/webm">\n' +
      '<source src="/assets/m.mp4?v=1" type="video/mp4" media="(min-width: 1px)">\n' +
      '<source src="/assets/m" type="a/b">\n' +
      '</video>'
  )
  const source = '<source src="/assets/m.ogg" type="audio/ogg">'
  t.is(assets.audio({ sources: ['m.ogg'] }), `<audio>\n${source}\n</audio>`)
})

test('REN-08 giving neither a name nor sources, or both, is a TypeError', t => {
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

test('REN-03 src and poster are the helpers’ own, REN-10 absolute URLs stay, and REN-11 all have the host', t => {
  t.is(assets.image('a.png', { src: '/evil.png' }), '<img src="/assets/a.png" alt="A">')
  t.is(assets.video('a.mp4', { src: '/evil.mp4' }), '<video src="/assets/a.mp4"></video>')
  t.is(assets.video('//a.example/x y'), '<video src="//a.example/x y"></video>')
  t.is(assets.image('data:image/png;base64,AA=='), '<img src="data:image/png;base64,AA==" alt="">')
  const hosted = makeHelpers({ host: 'https://a.example/' }, undefined, [HELPERS])('web')
  const at = 'https://a.example/assets'
  t.is(hosted.image('a.png'), `<img src="${at}/a.png" alt="A">`)
  const video = `<video poster="${at}/a.png" src="${at}/a.mp4"></video>`
  t.is(hosted.video('a.mp4', { poster: 'a.png' }), video)
  const source = `<source src="${at}/a.mp3" type="audio/mpeg">`
  t.is(hosted.audio({ sources: ['a.mp3'] }), `<audio>\n${source}\n</audio>`)
})

const TAG = /^<[a-z]+(?: [^\s"'<>/=]+="[^"<>]*")*>(?:<\/video>)?$/

test('no name and no alt breaks out of its tag', t => {
  fc.assert(
    fc.property(anyText(), text => {
      const name = `https://a.example/${text}`
      const tags = [assets.video(name), assets.image(name, { alt: text })]
      return tags.every(tag => TAG.test(tag))
    })
  )
  t.pass()
})
