// What an edit of a module does to an open page: `import.meta.hot`, under a policy that allows nothing inline. In both browsers
// is what depends on how one keeps modules, states and errors; hot-model.spec.ts has which modules run.
import type { Context } from 'koa'
import { makeSite, serial as test, until } from '../support/index.ts'
import type { ExecutionContext, Files, SiteOptions } from '../support/index.ts'
import type { DrivenPage } from './browser.ts'
import { launch } from './chromium.ts'
import { atRoot, inEach, setPolicy, shows, type Launch } from './page.ts'

function view(ctx: Context): string {
  const nonce = setPolicy(ctx, "img-src data:; script-src NONCE 'strict-dynamic'")
  return `${ctx.assets.live({ nonce })}${ctx.assets.javascript('app', { type: 'module', nonce })}
    <input><dialog>open</dialog>${'<p>text</p>'.repeat(300)}`
}

const OVERLAY =
  "(document.querySelector('koa-fresh-assets-problems')?.shadowRoot.textContent ?? '')"

async function open(t: ExecutionContext, launch: Launch, files: Files, options: SiteOptions = {}) {
  const requested: string[] = []
  const site = await makeSite(t, files, {
    ...options,
    front: (ctx, next) => {
      requested.push(ctx.url)
      return next()
    },
    routes: atRoot(view)
  })
  const page = await launch(t).open(`http://127.0.0.1:${site.port}/`)
  await shows(page, 'document.readyState', 'complete')
  await page.evaluate('globalThis.isSamePage = true')
  await until(() => requested.some(url => url.includes('/-/live?')), 'the page is connected')
  /** Empties what was told, edits, and waits for what is told then. */
  const edit = async (name: string, code: string, expected: string) => {
    await page.evaluate('(globalThis.log ??= []).length = 0')
    site.write(name, code)
    await shows(page, LOG, expected)
  }
  return { site, page, requested, edit }
}

/** What modules have told, in order. */
const LOG = '(globalThis.log ??= []).join()'
const told = (text: string) => `;(globalThis.log ??= []).push(${text});\n`
const isSame = (page: DrivenPage) => page.evaluate('globalThis.isSamePage === true')

const APP = `import { value } from './self'\n${told('`app ${value}`')}`
const self = (value: number) => `export const value: number = ${value}
${told(`'self ${value}'`)}
import.meta.hot?.accept((next: any) => { ${told('`accepted ${next.value}`')} })
import.meta.hot?.dispose((data: any) => { data.before = ${value}; ${told(`'disposed ${value}'`)} })
${told('`data ${import.meta.hot?.data.before}`')}`

inEach('an edit of a module that accepts itself replaces only that module', async (t, browser) => {
  const { page, edit } = await open(t, browser, { 'js/app.js': APP, 'js/self.ts': self(1) })
  await shows(page, LOG, 'self 1,data undefined,app 1')
  await page.evaluate(`
    const input = document.querySelector('input')
    input.value = 'typed'
    document.querySelector('dialog').show()
    input.focus({ preventScroll: true })
    scrollTo(0, 1000)`)
  for (const value of [2, 3]) {
    const last = value - 1
    const expected = [`disposed ${last}`, `self ${value}`, `data ${last}`, `accepted ${value}`]
    await edit('js/self.ts', self(value), expected.join())
  }
  const state = `[document.querySelector('input').value, document.activeElement.tagName,
    document.querySelector('dialog').open, Math.round(scrollY)].join()`
  t.is(await page.evaluate(state), 'typed,INPUT,true,1000')
  t.true(await isSame(page))
  t.deepEqual(page.complaints, [])
})

test('an edit of data runs the modules that import it again', async t => {
  const app = `import data from './data.json' with { type: 'json' }
${told('`app ${data}`')}
import.meta.hot?.accept()`
  const { page, edit } = await open(t, launch, { 'js/app.js': app, 'js/data.json': '1' })
  for (const value of [2, 3]) await edit('js/data.json', String(value), `app ${value}`)
  t.true(await isSame(page))
})

test('with hot: false pages have no import.meta.hot, so that an edit reloads them', async t => {
  const files = { 'js/app.js': APP, 'js/self.ts': self(1) }
  const { site, page, requested } = await open(t, launch, files, { hot: false })
  await shows(page, LOG, 'self 1,data undefined,app 1')
  site.write('js/self.ts', self(2))
  await shows(page, LOG, 'self 2,data undefined,app 2')
  t.false(await isSame(page))
  t.false(
    requested.some(url => /hot|\?t=/.test(url)),
    requested.join(' ')
  )
})

inEach('a compile error of a module is shown until a fix replaces it', async (t, browser) => {
  const { site, page, edit } = await open(t, browser, { 'js/app.js': APP, 'js/self.ts': self(1) })
  site.write('js/self.ts', 'export const value: = 2')
  await shows(page, `${OVERLAY}.includes('self.ts:1')`, true)
  await edit('js/self.ts', self(2), 'disposed 1,self 2,data 1,accepted 2')
  await shows(page, OVERLAY, '')
  site.write('js/new.ts', 'export const = 1')
  site.write('js/self.ts', `import './new'\n${self(3)}`)
  await shows(page, `${OVERLAY}.includes('new.ts:1')`, true)
  await edit('js/new.ts', told("'new'"), 'disposed 2,new,self 3,data 2,accepted 3')
  await shows(page, OVERLAY, '')
  t.true(await isSame(page))
})

inEach('what a module throws is shown until its next version runs', async (t, browser) => {
  const { site, page } = await open(t, browser, { 'js/app.js': APP, 'js/self.ts': self(1) })
  const rest = 'import.meta.hot?.accept()\nexport const value = 2'
  site.write('js/self.ts', `throw new Error('thrown while it runs')\n${rest}`)
  await shows(page, `${OVERLAY}.includes('thrown while it runs')`, true)
  const thrown = "next: any) => { throw new Error('thrown by accept')"
  site.write('js/self.ts', self(3).replace('next: any) => {', thrown))
  await shows(page, `${LOG}.includes('self 3')`, true)
  await shows(page, OVERLAY, '')
  site.write('js/self.ts', self(4))
  await shows(page, `${OVERLAY}.includes('thrown by accept')`, true)
  site.write('js/self.ts', self(5))
  await shows(page, OVERLAY, '')
  await shows(page, `${LOG}.endsWith('self 5,data 4,accepted 5')`, true)
  t.true(await isSame(page))
})

test('the correction of an import reloads a page whose importer never ran', async t => {
  const app = `import('./between').catch(error => { ${told('error.message')} })
import.meta.hot?.accept()`
  const between = `import './self'\n${told("'between'")}
import.meta.hot?.accept('./self', () => undefined)`
  const thrown = "throw new Error('thrown')"
  const files = { 'js/app.js': app, 'js/between.js': between, 'js/self.js': thrown }
  const { site, page } = await open(t, launch, files)
  await shows(page, LOG, 'thrown')
  site.write('js/self.js', 'export const value = 2')
  await shows(page, LOG, 'between')
  t.false(await isSame(page))
})

test('a module runs anew when it is imported again after it was pruned', async t => {
  const app = (imported = '') => `${imported}\nimport.meta.hot?.accept()\n${told("'app'")}`
  const part = `${told("'part'")}
import.meta.hot?.dispose(() => { ${told("'disposed'")} })
import.meta.hot?.prune(() => { ${told("'pruned'")} })`
  const files = { 'js/app.js': app("import './part'"), 'js/part.js': part }
  const { page, edit } = await open(t, launch, files)
  await edit('js/app.js', app(), 'app,disposed,pruned')
  await edit('js/app.js', app("import './part'"), 'part,app')
  t.true(await isSame(page))
})

inEach('a page opened after an edit has one instance of each module', async (t, browser) => {
  const files = {
    'js/app.js': `import './self'\nexport const app = 1\n${told("'app'")}
      globalThis.load = () => import('./later.js')`,
    'js/self.ts': self(1),
    'js/later.js': `import { app } from './app.js'\nimport { value } from './self'\n${told('`later ${app} ${value}`')}`
  }
  const { page, edit } = await open(t, browser, files)
  await edit('js/self.ts', self(2), 'disposed 1,self 2,data 1,accepted 2')
  await page.evaluate('location.reload()')
  await shows(page, LOG, 'self 2,data undefined,app')
  await page.evaluate('load()')
  t.is(await page.evaluate(LOG), 'self 2,data undefined,app,later 1 2')
})
