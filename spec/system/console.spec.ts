// What goes wrong in a page, as the terminal of the server shows it.
import { makeSite, serial as test, until, warningsAbout } from '../support/index.ts'
import type { ExecutionContext, Files, SiteOptions } from '../support/index.ts'
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
  'javascripts/box.js': 'export const box = 1\nexport const Box = () => <b>box</b>\n',
  'javascripts/side.js': "globalThis.side = () => { throw 'a text' }\n"
}

let opened = 0

/** What the server has printed of a page in which nothing inline may run. */
async function open(
  t: ExecutionContext,
  launch: Launch,
  options: SiteOptions = {},
  ...more: string[]
) {
  const path = `/books/${opened++}/`
  const site = await makeSite(t, FILES, {
    ...options,
    routes: ctx => {
      if (ctx.path !== path) return
      const nonce = setPolicy(ctx, "script-src NONCE 'strict-dynamic'")
      ctx.body = `<!doctype html><link rel="icon" href="data:,"><script>inline()</script>${ctx.assets.live({ nonce })}
        ${ctx.assets.javascript('app', ...more, { type: 'module', nonce })}`
    }
  })
  const page = await launch(t).open(`http://127.0.0.1:${site.port}${path}`)
  await until(() => page.evaluate('!!globalThis.buy'), 'the module has run')
  const lines = () => warningsAbout(`in the page ${path}`)
  const isRefused = (line: string) => / (?:inline|data)\b/.test(line)
  const printed = () => lines().filter(line => !isRefused(line))
  const told = async (expression: string, count = 1) => {
    const { length } = printed()
    await page.evaluate(`void setTimeout(() => { ${expression} })`)
    await until(() => printed().length >= length + count, expression)
    return printed().slice(length).join('\n')
  }
  return { site, page, printed, told, refusals: () => lines().filter(isRefused).join() }
}

inEach('errors of a page are printed with their places in sources', async (t, launch) => {
  const { told, printed, refusals } = await open(t, launch, {}, 'box')
  await until(() => printed().length > 0, 'the module is refused')
  t.regex(printed().join(), /SyntaxError: [^]*apps\/web\/assets\/javascripts\/box\.js:2:\d+$/)
  const isTold = () => /script-src-elem does not allow inline/.test(refusals())
  if (launch === launchChromium) await until(isTold, 'what was refused before is told')
  const frames =
    /price.*apps\/web\/assets\/javascripts\/price\.js:3:\d+[^]*buy.*apps\/web\/assets\/javascripts\/app\.js\.ts:5:\d+/
  const uncaught = await told('buy()')
  t.regex(uncaught, /^koa-fresh-assets: in the page \/books\/\d\/: Uncaught TypeError: /)
  t.regex(uncaught, frames)
  const rejected = await told("Promise.reject(new Error('late'))")
  t.regex(rejected, /\/books\/\d\/: Unhandled rejection: Error: late/)
  t.regex(await told('side()'), /a text[^]*javascripts\/side\.js:1:\d+$/)
  const logged = await told("console.error('%s is %o', 'Ada', { at: 1 }, '\\u001b[2J\\u202e')")
  t.regex(logged, /console\.error: Ada is \{"at":1\} \\u001b\[2J\\u202e/)
  const circular = 'const it = Object.create(null); it.self = it; console.error(1n, Symbol(), it)'
  t.regex(
    await told(circular),
    /console\.error: 1 Symbol\(\) \[object Object\], which is not JSON: /
  )
  const refused = await told("document.body.append(Object.assign(new Image(), { src: '/a.png' }))")
  t.regex(refused, /Content-Security-Policy: img-src does not allow http:\/\/.*\/a\.png/)
})

test('a repeated error is printed only the 1st, 10th and 100th time', async t => {
  const { told, printed } = await open(t, launchChromium)
  const lines = await told('for (let at = 0; at < 120; at++) console.error(1)', 3)
  // Requests may overtake each other.
  for (const times of ['', ' (10 times by now)', ' (100 times by now)'])
    t.is(lines.split(`/${times}: console.error: 1`).length, 2, lines)
  await told("console.error('last')")
  t.is(printed().length, 4)
})

test('with live: { console: false } no error of a page is printed', async t => {
  const { page, printed, site } = await open(t, launchChromium, { live: { console: false } })
  await page.evaluate("void setTimeout(() => { console.error('quiet'); buy() })")
  const own = `fetch('/assets/-/live', { method: 'POST', body: 'x' }).then(({ status }) => status)`
  t.is(await page.evaluate(own), 404)
  t.is((await site.ask('/assets/-/live-console.js')).text, '')
  t.deepEqual(printed(), [])
})
