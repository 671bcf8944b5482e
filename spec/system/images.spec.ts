// The sizes of images in tags, beside those that Chromium knows.
import type { Middleware } from 'koa'
import { jpeg } from '../support/images.ts'
import { makeProject, placed, run, test, type ExecutionContext } from '../support/index.ts'
import type { Files } from '../support/index.ts'
import { visit, type View } from './page.ts'

async function drawn(t: ExecutionContext): Promise<Files> {
  const { page } = await visit(t, { view: () => '' })
  const draw = (type: string) =>
    page.evaluate<string>(`{
      const canvas = Object.assign(document.createElement('canvas'), { width: 40, height: 30 })
      canvas.getContext('2d').fillRect(0, 0, 20, 30)
      canvas.toDataURL('image/${type}').split(',')[1]
    }`)
  const [png, webp, photo] = await Promise.all(
    ['png', 'webp', 'jpeg'].map(async type => Buffer.from(await draw(type), 'base64'))
  )
  if (!png || !webp || !photo) throw new Error('nothing was drawn')
  // SOI, and the segment with the orientation; then the photo without its SOI.
  const exif = Buffer.from(jpeg(6)).subarray(0, 38)
  return {
    'images/a.png': png,
    'images/a.webp': webp,
    'images/a.jpg': photo,
    'images/turned.jpg': Buffer.concat([exif, photo.subarray(2)]),
    'images/a.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"/>'
  }
}

test('the size in the tag is the one that Chromium shows, and nothing moves when an image arrives late', async t => {
  const files = await drawn(t)
  const root = makeProject(t, placed(files))
  await run({ root })
  const names = Object.keys(files).map(path => path.replace('images/', ''))
  let arrive = () => {}
  const arrived = new Promise<void>(resolve => (arrive = resolve))
  const front: Middleware = async (ctx, next) => {
    if (ctx.path.startsWith('/assets/')) await arrived
    await next()
    if (ctx.path !== '/now') return
    arrive()
    ctx.body = 'arrived'
  }
  const view: View = ({ assets }) =>
    `<style>img { display: block; max-width: 100%; height: auto }</style>
      ${names.map(name => assets.image(name, { loading: 'lazy' })).join('')}<p>below</p>
      <script>const placeOf = () => document.querySelector('p').getBoundingClientRect().top; const before = placeOf()</script>`
  const { page } = await visit(t, { view, root, env: 'production', front })
  const { sizes, moved } = await page.evaluate<Record<string, unknown>>(`(async () => {
    const images = [...document.images]
    const shown = image => image.complete && image.naturalWidth > 0
    await fetch('/now')
    while (!images.every(shown)) await new Promise(requestAnimationFrame)
    const sizes = images.map(({ naturalWidth, naturalHeight, attributes }) =>
      [naturalWidth, naturalHeight, Number(attributes.width.value), Number(attributes.height.value)])
    return { sizes, moved: placeOf() - before }
  })()`)
  const expected = names.map(name => (name === 'turned.jpg' ? [30, 40, 30, 40] : [40, 30, 40, 30]))
  t.deepEqual(sizes, expected)
  t.is(moved, 0)
  t.deepEqual(page.complaints, [])
})
