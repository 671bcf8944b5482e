// What goes wrong in a page, as the terminal of the server shows it.
import type { ExecutionContext } from '../support/test.ts'
import { makeSite, type Files, type SiteOptions } from '../support/site.ts'
import { until } from '../support/until.ts'
import { launch as launchChromium } from './chromium.ts'
import { inEach, setPolicy, type Launch } from './page.ts'

const FILES: Files = {
  'javascripts/app.js.ts': `import { price } from './price.js'

interface Book { price: number }
globalThis.buy = function buy(book?: Book): number {
  return price(book!)
}
`,
  'javascripts/price.js': "import './side.js'\n\nexport const price = book => book.price\n",
  'javascripts/side.js': "globalThis.side = () => { throw 'a text' }\n"
}

/** What the server has printed since, and a page that nothing inline may run in. */
async function open(t: ExecutionContext, launch: Launch, options: SiteOptions = {}) {
  const printed: string[] = []
  const { warn } = console
  const early: string[] = []
  console.warn = (line: unknown) =>
    void (/ inline\b/.test(String(line)) ? early : printed).push(String(line))
  t.teardown(() => (console.warn = warn))
  const site = await makeSite(t, FILES, {
    ...options,
    routes: ctx => {
      if (ctx.path !== '/books') return
      const nonce = setPolicy(ctx, "script-src NONCE 'strict-dynamic'")
      ctx.body = `<!doctype html><link rel="icon" href="data:,"><script>inline()</script>${ctx.assets.live({ nonce })}
        ${ctx.assets.javascript('app', { type: 'module', nonce })}`
    }
  })
  const page = await launch(t).open(`http://127.0.0.1:${site.port}/books`)
  await until(() => page.evaluate('!!globalThis.buy'), 'the module has run')
  printed.length = 0
  const told = async (expression: string, count = 1) => {
    const { length } = printed
    await page.evaluate(`void setTimeout(() => { ${expression} })`)
    await until(() => printed.length >= length + count, expression)
    return printed.slice(length).join('\n')
  }
  return { site, page, printed, told, early }
}

inEach('errors of a page are in the terminal with their places in sources', async (t, launch) => {
  const { told, early } = await open(t, launch)
  const isTold = () => /script-src-elem does not allow inline/.test(early.join())
  if (launch === launchChromium) await until(isTold, 'what was refused before is told')
  const frames =
    /price.*apps\/web\/assets\/javascripts\/price\.js:3:\d+[^]*buy.*apps\/web\/assets\/javascripts\/app\.js\.ts:5:\d+/
  const uncaught = await told('buy()')
  t.regex(uncaught, /^koa-fresh-assets: in the page \/books: Uncaught TypeError: /)
  t.regex(uncaught, frames)
  const rejected = await told("Promise.reject(new Error('late'))")
  t.regex(rejected, /\/books: Unhandled rejection: Error: late/)
  t.regex(await told('side()'), /a text[^]*javascripts\/side\.js:1:\d+$/)
  const logged = await told("console.error('%s is %o', 'Ada', { at: 1 }, '\\u001b[2J\\u202e')")
  t.regex(logged, /console\.error: Ada is \{"at":1\} \\u001b\[2J\\u202e/)
  const circular = 'const it = Object.create(null); it.self = it; console.error(1n, Symbol(), it)'
  t.regex(
    await told(circular),
    /console\.error: 1 Symbol\(\) \[object Object\], which is no JSON: /
  )
  const refused = await told("document.body.append(Object.assign(new Image(), { src: '/a.png' }))")
  t.regex(refused, /Content-Security-Policy: img-src does not allow http:\/\/.*\/a\.png/)
})

inEach('an error that repeats is told once, and for each power of ten', async (t, launch) => {
  const { told, printed } = await open(t, launch)
  const repeat = 'for (let at = 0; at < 120; at++) console.error(1)'
  t.regex(await told(repeat, 3), /books: [^]*\(10 times by now\)[^]*\(100 times by now\)/)
  await told("console.error('last')")
  t.is(printed.length, 4)
})

inEach('with live: { console: false } a page tells nothing', async (t, launch) => {
  const { page, printed, site } = await open(t, launch, { live: { console: false } })
  await page.evaluate("void setTimeout(() => { console.error('quiet'); buy() })")
  const own = `fetch('/assets/-/live', { method: 'POST', body: 'x' }).then(({ status }) => status)`
  t.is(await page.evaluate(own), 404)
  t.is((await site.ask('/assets/-/live-console.js')).text, '')
  t.deepEqual(printed, [])
})
