// docs/next-page.md, in a browser: the next page is fetched ahead, and used.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Koa from 'koa'
import { blocksLeft, readPage } from '../support/examples.ts'
import { open } from '../support/cached-site.ts'
import { makeProject, moduleFile, test, until } from '../support/index.ts'
import { launch } from './chromium.ts'
import { linkPackages } from './installed.ts'

const [program] = readPage('docs/next-page.md').take('')

test('the next page is fetched once, as soon as the pointer is on a link that does not log out', async t => {
  const root = makeProject(t, { 'package.json': '{ "type": "module" }' })
  linkPackages(root)
  const library = pathToFileURL(moduleFile('lib/index.ts')).href
  const file = join(root, 'next-page.js')
  writeFileSync(file, program?.text.replace("'koa-fresh-assets'", `'${library}'`) ?? '')
  const { app: site } = (await import(pathToFileURL(file).href)) as { app: Koa }
  const asked: { path: string; purpose: string }[] = []
  const app = new Koa()
  app.use(async (ctx, next) => {
    asked.push({ path: ctx.url, purpose: ctx.get('Sec-Purpose') })
    await next()
  })
  app.use(async (ctx, next) => {
    if (ctx.path === '/favicon.ico') ctx.status = 204
    else await next()
  })
  for (const each of site.middleware) app.use(each)
  const here = await open(t, app)
  const first = await here.get({}, '/books/7')
  t.is(first.headers['cache-control'], 'private, no-cache')
  t.is(first.headers['no-vary-search'], 'params=("utm_source" "utm_medium")')
  const url = `http://127.0.0.1:${here.port}`
  const page = await launch(t).open(`${url}/books/7`)
  const hover = async (selector: string) => {
    const box = await page.evaluate<{ x: number; y: number }>(
      `(({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 }))(document.querySelector('${selector}').getBoundingClientRect())`
    )
    await page.command('Input.dispatchMouseEvent', { type: 'mouseMoved', ...box })
  }
  await hover('a[href="/log-out"]')
  await hover('a[href^="/books"]')
  const ahead = () => asked.filter(({ purpose }) => purpose.startsWith('prefetch'))
  await until(async () => ahead().length > 0, 'the next page is fetched ahead')
  const paths = ahead().map(({ path }) => path)
  t.deepEqual(paths, ['/books/8?utm_source=list'])
  // By No-Vary-Search it is the page that was fetched.
  await page.follow(`${url}/books/8?utm_source=other`)
  t.is(await page.evaluate('document.title'), 'Book 8')
  const visits = asked.filter(({ path, purpose }) => path.startsWith('/books/8') && purpose === '')
  t.deepEqual(visits, [], 'no second request')
  t.deepEqual(page.complaints, [])
  t.deepEqual(blocksLeft(), [])
})
