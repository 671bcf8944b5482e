// width and height of image(), as the files have them.
import { mkdirSync, rmSync } from 'node:fs'
import test from 'ava'
import type { Middleware } from 'koa'
import type { ViewHelpers } from '../../../lib/assets/views/view-helpers.ts'
import { sizeOf } from '../../../lib/extras/media/image-size.ts'
import { HELPERS } from '../../../lib/extras/media/media.ts'
import { makeHelpers } from '../../assets/views/view-helpers-site.ts'
import { ask } from '../../support/ask.ts'
import { costsAtMost } from '../../support/cost.ts'
import { makeFingerprinted, MODES, readManifest } from '../../support/fingerprinted.ts'
import { makeSite, type Files } from '../../support/site.ts'
import { avif, IMAGES, jpeg, png } from '../../support/images.ts'

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
  test(`REN-25 PIC-01 S88 image() has the size that the file says, as a browser shows it, and none for what says none (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, FILES)
    const sizes = await site.render(assets => JSON.stringify(sizesBy(assets)))
    t.is(sizes, JSON.stringify(EXPECTED))
    await site.edit({ 'img/a.png': jpeg(6) })
    t.regex(await site.render(({ image }) => image('a.png')), / width="30" height="40"/)
  })
}

for (const env of ['development', 'test']) {
  test(`REN-25 in ${env}, the first page has it, and the page after an edit the new one`, async t => {
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

test('REN-25 an image that cannot be read has none, and its page is rendered', async t => {
  const routes: Middleware = ctx => {
    // As if it were unreadable: no event has told of it yet.
    rmSync(site.at('img/a.png'))
    mkdirSync(site.at('img/a.png'))
    ctx.body = ctx.assets.image('a.png')
  }
  const site = await makeSite(t, { 'img/a.png': IMAGES['a.png'] }, { routes })
  t.is((await site.ask('/assets/a.png')).status, 200)
  t.is((await ask(site.port, '/')).text, '<img src="/assets/a.png" alt="A">')
})

test('REN-25 the manifest has the sizes; one of an earlier release has none, and pages do without', async t => {
  const files = { 'img/a.png': IMAGES['a.png'], 'js/a.js': '' }
  const site = await makeFingerprinted(t, 'precompiled', files)
  const { assets } = readManifest(site.root)
  t.deepEqual(assets['/assets/a.png']?.imageSize, { width: 40, height: 30 })
  t.false('imageSize' in (assets['/assets/a.js'] ?? {}))
  const older = { ...assets, '/assets/a.png': { ...assets['/assets/a.png'], imageSize: undefined } }
  site.write('/public/assets.json', JSON.stringify({ version: 1, assets: older }))
  t.notRegex(await site.render(({ image }) => image('a.png')), SIZE)
})

test('S88 a file that was crafted to take long has no size, or takes as long as any other', t => {
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
  for (const [name, bytes] of Object.entries(crafted)) {
    const isQuick = costsAtMost(
      10,
      () => sizeOf(bytes),
      () => sizeOf(Buffer.from(IMAGES['a.svg']))
    )
    t.true(isQuick, name)
  }
})

test('REN-26 given attributes win; with one side, the other is in proportion', t => {
  const imageSize = { width: 40, height: 30 }
  const { image } = makeHelpers(
    {},
    () => ({ resolve: name => ({ path: `/${name}`, imageSize }) }),
    [HELPERS]
  )('web')
  const size = (attributes: object) =>
    image('a.png', { alt: null, ...attributes }).slice('<img src="/a.png"'.length, -1)
  t.is(size({}), ' width="40" height="30"')
  t.is(size({ width: 400 }), ' height="300" width="400"')
  t.is(size({ height: '100' }), ' width="133" height="100"')
  t.is(size({ WIDTH: 10.5 }), ' height="8" width="10.5"')
  t.is(size({ width: 1, height: 1 }), ' width="1" height="1"')
  t.is(size({ width: '50%' }), ' width="50%"')
  t.is(size({ width: false }), '')
  t.is(size({ height: null }), '')
  t.is(size({ width: undefined, class: 'a' }), ' width="40" height="30" class="a"')
})
