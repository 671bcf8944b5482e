import { rmSync } from 'node:fs'
import type { Middleware } from 'koa'
import { fingerprinted, makeHelpers } from '../../runtime/views/view-helpers-site.ts'
import type { ViewHelpers } from '../../../lib/runtime/views/view-helpers.ts'
import { sizeOf } from '../../../lib/extras/media/image-size.ts'
import { helpersOf } from '../../../lib/extras/media/media.ts'
import { avif, IMAGES, jpeg, png } from '../../support/images.ts'
import { ask, costsAtMost, makeFingerprinted, makeSite, MODES } from '../../support/index.ts'
import { readManifest, test, type Files } from '../../support/index.ts'

const HELPERS = helpersOf()
const assets = makeHelpers({}, undefined, [HELPERS])('web')

test('image() has an alt from the file name, unless one is given, even an empty one', t => {
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

test('image() resolves the names in srcset', t => {
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

test('video() and audio() write the tag of one file, or of sources with their types', t => {
  const autoplay = '<video autoplay="autoplay" controls="controls" src="/assets/m.mp4"></video>'
  t.is(assets.video('m.mp4', { autoplay: true, controls: true }), autoplay)
  const audio = '<audio controls="controls" src="/assets/m.mp3"></audio>'
  t.is(assets.audio('m.mp3', { controls: true }), audio)
  const wide = { src: 'm.mp4?v=1', media: '(min-width: 1px)' }
  const sources = ['m.webm', wide, { src: 'm', type: 'a/b' }]
  const video = `<video controls="controls" poster="/assets/m.jpg">
<source src="/assets/m.webm" type="video/webm">
<source src="/assets/m.mp4?v=1" type="video/mp4" media="(min-width: 1px)">
<source src="/assets/m" type="a/b">
</video>`
  t.is(assets.video({ controls: true, poster: 'm.jpg', sources }), video)
  const source = '<source src="/assets/m.ogg" type="audio/ogg">'
  t.is(assets.audio({ sources: ['m.ogg'] }), `<audio>\n${source}\n</audio>`)
})

test('video() and audio() throw a TypeError unless they get either a name or sources', t => {
  const refuses = (args: readonly unknown[], message: string) =>
    t.throws(() => Reflect.apply(assets.video, null, args), { instanceOf: TypeError, message })
  for (const args of [[], [{}], [{ sources: [] }], ['m.mp4', { sources: ['m.webm'] }], [null]])
    refuses(args, 'video() needs either a name or { sources: [name, …] }')
  refuses([{ sources: 'm.mp4' }], "sources must be a list, got 'm.mp4'")
  t.throws(() => assets.audio({ src: 'm.mp3' }), { instanceOf: TypeError, message: /audio\(\)/ })
})

test('media tags lead to the named file, on the host of the option or by an absolute URL', t => {
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

const SIZE = / width="(\d+)" height="(\d+)"/
const NONE: Files = {
  'img/text.png': 'not an image',
  'img/cut.jpg': jpeg(6).subarray(0, 30),
  'img/cut.png': Buffer.from(IMAGES['a.png']).subarray(0, 12),
  'img/empty.gif': '',
  'img/share.svg': '<svg width="100%" height="100%"/>',
  'img/huge.png': png(2 ** 31, 30),
  'img/endless.svg': '<svg width="1e400" height="30"/>',
  // Each of these sizes would be compared with what follows it.
  'img/bomb.avif': avif(12_000),
  'img/zero.svg': '<svg width="0" height="30"/>'
}
const FILES: Files = {
  ...Object.fromEntries(Object.entries(IMAGES).map(([name, file]) => [`img/${name}`, file])),
  // Beyond a megabyte only the beginning is in memory.
  'img/large.png': Buffer.concat([IMAGES['a.png'], Buffer.alloc(2_000_000)]),
  'img/turned.jpg': jpeg(6),
  'img/mirrored.jpg': jpeg(2),
  'img/stray.jpg': Buffer.concat([jpeg().subarray(0, 4), Buffer.alloc(1), jpeg().subarray(4)]),
  ...NONE
}
const names = (files: Files) => Object.keys(files).map(path => path.replace('img/', ''))

/** `40x30` for each name; undefined without a size. */
const sizesBy = (assets: ViewHelpers) =>
  Object.fromEntries(
    names(FILES).map(name => [name, SIZE.exec(assets.image(name))?.slice(1).join('x')])
  )
const EXPECTED = {
  ...Object.fromEntries(names(FILES).map(name => [name, '40x30'])),
  'turned.jpg': '30x40',
  ...Object.fromEntries(names(NONE).map(name => [name, undefined]))
}

for (const mode of MODES) {
  test(`image() has the size with which a browser shows the file, if the file says one (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, FILES)
    const sizes = await site.render(assets => JSON.stringify(sizesBy(assets)))
    t.is(sizes, JSON.stringify(EXPECTED))
    await site.edit({ 'img/a.png': jpeg(6) })
    t.regex(await site.render(({ image }) => image('a.png')), / width="30" height="40"/)
  })
}

for (const env of ['development', 'test']) {
  test(`in ${env} every page has the current size of an image, from the first one on`, async t => {
    let view = (assets: ViewHelpers) => JSON.stringify(sizesBy(assets))
    const routes: Middleware = ctx => void (ctx.body = view(ctx.assets))
    const site = await makeSite(t, FILES, { env, routes })
    const page = async () => (await ask(site.port, '/')).text
    t.is(await page(), JSON.stringify(EXPECTED))
    view = ({ image }) => image('a.png')
    site.write('img/a.png', jpeg(6))
    t.is(await page(), '<img src="/assets/a.png" alt="A" width="30" height="40">')
    rmSync(site.at('img/a.png'))
    t.is(await page(), '<img src="/assets/a.png" alt="A">')
  })
}

test('image() writes the size in the manifest, or none if that is of a release without sizes', async t => {
  const files = { 'img/a.png': IMAGES['a.png'], 'js/a.js': '' }
  const site = await makeFingerprinted(t, 'precompiled', files)
  const { assets } = readManifest(site.root)
  t.deepEqual(assets['/assets/a.png']?.imageSize, { width: 40, height: 30 })
  t.false('imageSize' in (assets['/assets/a.js'] ?? {}))
  const older = { ...assets, '/assets/a.png': { ...assets['/assets/a.png'], imageSize: undefined } }
  site.write('/public/assets.json', JSON.stringify({ version: 1, assets: older }))
  t.notRegex(await site.render(({ image }) => image('a.png')), SIZE)
})

test('the size of an image is read quickly, even from a file that was crafted to take long', t => {
  const most = 256 * 1024
  const root = `<svg width='40' height='30'>`
  // Each of these elements might end beyond the string, which does.
  const many = `${'<svg '.repeat(140)}"`
  const crafted = {
    svg: Buffer.from(`${many}${root}${' '.repeat(most)}"`),
    jpg: Buffer.concat([Buffer.from(jpeg()).subarray(0, 4), Buffer.alloc(most)]),
    segments: Buffer.from(`ffd8ffe0${'0000ffe1'.repeat(most / 4)}`, 'hex'),
    avif: Buffer.from(avif(12_000))
  }
  const plain = () => sizeOf(Buffer.from(IMAGES['a.svg']))
  for (const [name, bytes] of Object.entries(crafted))
    t.true(
      costsAtMost(30, () => sizeOf(bytes), plain),
      name
    )
})

test('a width or height given to image() wins, with the other side in proportion', t => {
  const imageSize = { width: 40, height: 30 }
  const resolve = (name: string) => ({ path: `/${name}`, target: `/${name}`, imageSize })
  const { image } = makeHelpers({}, () => ({ resolve }), [HELPERS])('web')
  for (const [given, written] of [
    [{}, ' width="40" height="30"'],
    [{ width: 400 }, ' height="300" width="400"'],
    [{ height: '100' }, ' width="133" height="100"'],
    [{ WIDTH: 10.5 }, ' height="8" width="10.5"'],
    [{ width: 1, height: 1 }, ' width="1" height="1"'],
    [{ width: '50%' }, ' width="50%"'],
    [{ width: false }, ''],
    [{ height: null }, ''],
    [{ width: undefined, class: 'a' }, ' width="40" height="30" class="a"']
  ] as const)
    t.is(image('a.png', { alt: null, ...given }), `<img src="/a.png"${written}>`)
})
