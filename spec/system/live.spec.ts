// The live channel in a browser: what an edit does to an open page.
import { once } from 'node:events'
import { rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { Socket } from 'node:net'
import { freePort } from '../../demo/deploy/stack.ts'
import { startProcess } from '../support/processes.ts'
import { makeProject, makeSite, serial as test, until } from '../support/index.ts'
import { writeFiles, type ExecutionContext, type Files, type Site } from '../support/index.ts'
import { viteBuild, viteMount, type SiteOptions } from '../support/index.ts'
import type { DrivenPage } from './browser.ts'
import { launch as launchChromium } from './chromium.ts'
import {
  atRoot,
  inEach,
  setPolicy,
  shows,
  styleOf,
  textOf,
  visit,
  pixelOf,
  type Launch,
  type View
} from './page.ts'

const PIXEL = (color: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8" fill="${color}"/></svg>`

const FILES: Files = {
  'stylesheets/app.css.scss': "@use 'tokens';\nh1 { color: tokens.$ink }\n",
  'stylesheets/_tokens.scss': '$ink: rgb(1, 1, 1);\n',
  'stylesheets/outer.css': '@layer first;\n@import url(middle.css) all;\n',
  'stylesheets/middle.css': '@import url(inner.css);\nsmall { color: rgb(1, 1, 1) }\n',
  'stylesheets/inner.css': 'p { color: rgb(1, 1, 1) }\n',
  'stylesheets/inlined.css': 'em { color: rgb(1, 1, 1) }\n',
  'stylesheets/shown.css': 'body { background-image: url(../images/ground.svg) }\n',
  'images/ground.svg': PIXEL('red'),
  'images/logo.svg': PIXEL('red'),
  'javascripts/app.js': "import { answer } from './lib.js'\nglobalThis.answer = answer\n",
  'javascripts/lib.js': 'export const answer = 1\n',
  '/views/page.html': '<h1>first</h1>'
}

/** A page with a policy that allows nothing inline, and no HTML in scripts. */
function view(read: () => string): View {
  return ctx => {
    const nonce = setPolicy(ctx, "img-src 'self' data:; style-src 'self' NONCE; script-src NONCE")
    const { stylesheet, javascript, path, live } = ctx.assets
    return `${stylesheet('app', 'outer', 'shown')}
      ${javascript('app', { type: 'module', nonce })}
      <style nonce="${nonce}">@import "${path('inlined.css')}" all;</style>
      ${live({ nonce })}<link rel="icon" href="${path('logo.svg')}">
      ${read()}<p>text</p><small>text</small><em>text</em><img src="${path('logo.svg')}">`
  }
}

/** Of a request: what its response waits for. */
type Hold = (path: string, socket: Socket) => Promise<void> | undefined
const NOTHING: Hold = () => undefined

async function open(
  t: ExecutionContext,
  launch: Launch,
  options: SiteOptions = {},
  hold = NOTHING
) {
  let site: Site | undefined
  const requested: string[] = []
  let channels = 0
  site = await makeSite(t, FILES, {
    live: { watch: ['views'], editor: 'vscode' },
    ...options,
    front: async (ctx, next) => {
      requested.push(ctx.url)
      if (ctx.path.endsWith('/-/live')) {
        channels++
        ctx.res.once('close', () => channels--)
      }
      await hold(ctx.path, ctx.req.socket)
      return next()
    },
    routes: atRoot(view(() => site?.read('/views/page.html') ?? ''))
  })
  const page = await launch(t).open(`http://127.0.0.1:${site.port}/`)
  await mark(page)
  return { site, page, requested, channels: () => channels }
}

/** Marks the page, until it is reloaded. */
async function mark(page: DrivenPage): Promise<void> {
  await shows(page, 'document.readyState', 'complete')
  await page.evaluate('globalThis.isSamePage = true')
}

const ROOT = "document.querySelector('koa-fresh-assets-problems')?.shadowRoot"
const OVERLAY = `(${ROOT}?.textContent ?? '')`

async function checkSamePage(t: ExecutionContext, page: DrivenPage): Promise<void> {
  t.true(await page.evaluate('globalThis.isSamePage === true'), 'no reload')
  t.deepEqual(page.complaints, [])
}

/** Once a page that was reloaded is connected again, it follows an edit without another reload. */
async function checkReloadedOnce(
  t: ExecutionContext,
  page: DrivenPage,
  requested: readonly string[],
  edit: () => Promise<void>
): Promise<void> {
  const since = () => requested.slice(requested.lastIndexOf('/'))
  await until(() => since().some(url => url.includes('/-/live')), 'it is connected again')
  await mark(page)
  await edit()
  await checkSamePage(t, page)
}

for (const [mode, options] of Object.entries({
  'plain names': {},
  fingerprints: { fingerprint: true, compile: true }
}))
  inEach(`an edited Sass partial or CSS import shows at once, with ${mode}`, async (t, launch) => {
    const { site, page } = await open(t, launch, options)
    await shows(page, styleOf('h1'), 'rgb(1, 1, 1)')
    await page.evaluate(`
      globalThis.colors = new Set();
      (function look () {
        colors.add(${styleOf('h1')}).add(${styleOf('p')}).add(${styleOf('small')})
        requestAnimationFrame(look)
      })()`)
    for (const color of [10, 20, 30].map(tone => `rgb(${tone}, 1, 1)`)) {
      site.write('stylesheets/_tokens.scss', `$ink: ${color};`)
      await shows(page, styleOf('h1'), color)
      site.write('stylesheets/inner.css', `p { color: ${color} }`)
      await shows(page, styleOf('p'), color)
      site.write('stylesheets/middle.css', `@import url(inner.css);\nsmall { color: ${color} }`)
      await shows(page, styleOf('small'), color)
      t.is(await page.evaluate(styleOf('p')), color)
    }
    const colors = await page.evaluate<string[]>('[...colors]')
    t.false(colors.includes('rgb(0, 0, 0)'), 'no moment without style')
    t.is(await page.evaluate("document.querySelectorAll('link[rel=stylesheet]').length"), 3)
    site.write('stylesheets/inlined.css', 'em { color: rgb(5, 5, 5) }')
    await shows(page, styleOf('em'), 'rgb(5, 5, 5)')
    rmSync(site.at('stylesheets/inner.css'))
    site.write('stylesheets/inner.css', 'p { color: rgb(6, 6, 6) }')
    await shows(page, styleOf('p'), 'rgb(6, 6, 6)')
    await checkSamePage(t, page)
  })

// Firefox has the import of an import in memory.
inEach('a restart of the server loses no edit of a stylesheet', async (t, launch) => {
  let channel: Socket | undefined
  let [isEnding, lost] = [false, 0]
  const hold: Hold = (path, socket) => {
    if (path.endsWith('/-/live')) [channel, isEnding] = [socket, false]
    if (!isEnding || !path.endsWith('/app.css')) return undefined
    lost++
    // A browser may ask once more over another connection.
    for (const each of [socket, channel]) each?.destroy()
    return undefined
  }
  const { site, page } = await open(t, launch, {}, hold)
  await until(() => channel !== undefined, 'the page is connected')
  await shows(page, styleOf('h1'), 'rgb(1, 1, 1)')
  isEnding = true
  site.write('stylesheets/_tokens.scss', '$ink: rgb(2, 2, 2);\n')
  await shows(page, styleOf('h1'), 'rgb(2, 2, 2)')
  t.true(lost > 0)
  t.true(await page.evaluate('globalThis.isSamePage === true'), 'no reload')
})

inEach('an edited module, image or watched view reloads the page once', async (t, launch) => {
  const { site, page, requested } = await open(t, launch)
  const pages = () => requested.filter(url => url === '/').length
  const recolor = (tone: number) => async () => {
    site.write('stylesheets/_tokens.scss', `$ink: rgb(${tone}, 1, 1);`)
    await shows(page, styleOf('h1'), `rgb(${tone}, 1, 1)`)
  }
  t.is(pages(), 1)
  site.write('javascripts/lib.js', 'export const answer = 2\n')
  await shows(page, 'globalThis.answer', 2)
  await checkReloadedOnce(t, page, requested, recolor(2))
  t.is(pages(), 2)
  site.write('/views/page.html', '<h1>second</h1>')
  await shows(page, textOf('h1'), 'second')
  await checkReloadedOnce(t, page, requested, recolor(3))
  t.is(pages(), 3)
  const ground = '/url\\("(.*)"\\)/.exec(getComputedStyle(document.body).backgroundImage)[1]'
  for (const [at, [image, url]] of [
    ['logo', "document.querySelector('img').src"],
    ['ground', ground]
  ].entries()) {
    site.write(`images/${image}.svg`, PIXEL('lime'))
    await shows(page, 'globalThis.isSamePage', undefined)
    await checkReloadedOnce(t, page, requested, recolor(4 + at))
    t.is(await page.evaluate(pixelOf(String(url))), '0,255,0')
    t.is(pages(), 4 + at)
  }
})

inEach('an error is shown over the page, with its place, until it is fixed', async (t, launch) => {
  const { site, page } = await open(t, launch)
  site.write('stylesheets/_tokens.scss', '$ink: rgb(1, 1, 1);\n$other: }\n')
  await shows(page, `${OVERLAY} !== ''`, true)
  const text = await page.evaluate<string>(OVERLAY)
  t.regex(text, /This source does not compile/)
  t.regex(text, /apps\/web\/assets\/stylesheets\/_tokens\.scss:2:\d+/)
  t.regex(text, /\$other: \}/)
  const link = await page.evaluate<string>(`${ROOT}.querySelector('a').href`)
  t.is(link.replace(/:\d+$/, ''), `vscode://file${site.at('stylesheets/_tokens.scss')}:2`)
  const position = `getComputedStyle(${ROOT}.querySelector('.backdrop')).position`
  t.is(await page.evaluate(position), 'fixed', 'with its styles')
  t.is(await page.evaluate(styleOf('h1')), 'rgb(1, 1, 1)', 'the last good one stays')

  site.write('stylesheets/_tokens.scss', '$ink: rgb(4, 4, 4);\n')
  await shows(page, OVERLAY, '')
  await shows(page, styleOf('h1'), 'rgb(4, 4, 4)')

  site.write('stylesheets/_tokens.scss', '$ink: }')
  await shows(page, `${OVERLAY} !== ''`, true)
  await page.evaluate("dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))")
  t.is(await page.evaluate(OVERLAY), '')
  await checkSamePage(t, page)
})

const NAMED = "document.querySelector('#name').value"

inEach('what was typed stays when a server restarts with the same page', async (t, launch) => {
  const { page, restart, edit, requests } = await openRestarted(t, launch)
  await page.evaluate(`${NAMED} = 'Ada'`)
  await restart()
  await until(() => requests() === 1, 'the page is compared')
  await edit('rgb(4, 5, 6)')
  t.deepEqual([await page.evaluate(NAMED), requests()], ['Ada', 1])
  t.true(await page.evaluate('isSamePage'))
  await restart('<h1>edited</h1>')
  await shows(page, textOf('h1'), 'edited')
  await mark(page)
  await edit('rgb(7, 8, 9)')
  t.true(await page.evaluate('isSamePage'), 'no other reload')
  await until(() => requests() === 2, 'the other process tells of both requests')
})

test('after a restart a page is reloaded only if the server sends another one for its current URL', async t => {
  const { page, restart, edit, requests } = await openRestarted(t, launchChromium)
  await page.evaluate("void history.pushState({}, '', '/other')")
  await restart()
  await shows(page, 'document.title', '/other')
  await page.evaluate(`${NAMED} = 'Ada'; void history.pushState({}, '', '/other?sort=price')`)
  await mark(page)
  // Once it is connected.
  await edit('rgb(4, 5, 6)')
  await restart()
  await until(() => requests() === 1, 'the page is compared')
  t.true(await page.evaluate('isSamePage'))
  t.is(await page.evaluate(NAMED), 'Ada')
})

/** A page of a server that is killed and started again, with what is typed into its view. */
async function openRestarted(t: ExecutionContext, launch: Launch) {
  const root = makeProject(t, { 'apps/web/assets/css/app.css': 'a{}' })
  // Nobody else is given it while the server is away.
  const port = await freePort()
  let server = await startProcess(t, '../extras/live/live-site.ts', root, port)
  const page = await launch(t).open(`http://127.0.0.1:${port}/`)
  await mark(page)
  let requests = 0
  const edit = async (color: string) => {
    writeFiles(root, { 'apps/web/assets/css/app.css': `body { color: ${color} }` })
    await shows(page, styleOf('body'), color)
  }
  await edit('rgb(1, 2, 3)')
  return {
    page,
    edit,
    /** The number of requests for the page since the last restart. */
    requests: () => requests,
    restart: async (view = '') => {
      server.child.kill('SIGKILL')
      await once(server.child, 'exit')
      writeFiles(root, { 'view.html': view })
      requests = 0
      server = await startProcess(t, '../extras/live/live-site.ts', root, port)
      server.child.on('message', () => requests++)
    }
  }
}

test('without Vite a note that can be closed tells the date of the build in use', async t => {
  const root = makeProject(t, viteBuild('dist', { 'src/main.js': 'main-B1a2C3d4.js' }))
  const at = new Date(2020, 1, 29, 17, 17)
  utimesSync(join(root, viteMount().manifest), at, at)
  const view: View = ctx => {
    const nonce = setPolicy(ctx, 'img-src data:; script-src NONCE')
    return `${ctx.assets.entry('src/main.js', { nonce })}${ctx.assets.live({ nonce })}`
  }
  const { page } = await visit(t, { view, root, mounts: { '/admin': viteMount() } })
  const note = "document.querySelector('koa-fresh-assets-notes')?.shadowRoot"
  const text = `${note}?.textContent`
  await shows(page, text, 'Vite is not running: tags of the build of 2020-02-29 17:17×')
  await page.evaluate(`${note}.querySelector('button').click()`)
  t.is(await page.evaluate(text), undefined)
  t.deepEqual(page.complaints, [])
})

test('a tab behind others needs no connection to show all edits once it is in front again', async t => {
  const { site, page, channels } = await open(t, launchChromium)
  await until(() => channels() === 1, 'a channel is open')
  await hide(page, true)
  await until(() => channels() === 0, 'the channel is closed')
  site.write('stylesheets/_tokens.scss', '$ink: rgb(7, 7, 7);')
  site.write('stylesheets/inner.css', 'p { color: rgb(7, 7, 7) }')
  await hide(page, false)
  await shows(page, styleOf('h1'), 'rgb(7, 7, 7)')
  await shows(page, styleOf('p'), 'rgb(7, 7, 7)')
  await checkSamePage(t, page)
})

/** As a browser does with a tab that is behind another. */
async function hide(page: DrivenPage, isHidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)
}
