// docs/csp.md, in a browser: a public page without a nonce.
import Koa, { type Middleware } from 'koa'
import { koaAssets, precompile, type ViewHelpers } from '../../lib/koa-assets.ts'
import { koaHttpCache } from '../../lib/koa-http-cache.ts'
import { asBody, blocksLeft, evaluate, readPage } from '../support/examples.ts'
import { open } from '../support/cached-site.ts'
import { makeProject, test, until } from '../support/index.ts'
import { createHash } from 'node:crypto'
import { launch } from './chromium.ts'

const [example] = readPage('docs/csp.md').take('').map(asBody)

interface Example {
  readonly head: (assets: ViewHelpers) => string
  readonly policy: Middleware
}

const { head, policy } = evaluate(
  `${example?.replaceAll(/^export /gm, '')}\nreturn { head, policy }`,
  { createHash }
) as Example

const FILES = {
  'assets/app.css': 'p { color: rgb(0, 128, 0) }',
  'assets/favicon.ico': '',
  'assets/app.js': "import { turn } from './lib/dial.js'\nturn()\nimport('./lib/later.js')",
  'assets/lib/later.js': 'globalThis.later = true',
  'assets/lib/dial.js': 'export const turn = () => { globalThis.turned = true }'
}

for (const env of ['production', 'development']) {
  test(`in ${env}, a public page without a nonce runs its own scripts alone`, async t => {
    const root = makeProject(t, { ...FILES })
    if (env === 'production') await precompile({ root })
    const isProduction = env === 'production'
    const app = new Koa()
    app.use(koaAssets({ root, env, serve: true }))
    app.use(koaHttpCache({ cacheControl: ['public', { maxAge: '1m' }] }))
    app.use(policy)
    app.use(ctx => {
      if (!isProduction) ctx.remove('Integrity-Policy')
      if (ctx.path !== '/') return
      ctx.body = `<!doctype html>${ctx.assets.favicon()}${head(ctx.assets)}
        ${ctx.assets.live()}<p>green</p>
        ${ctx.query['attack'] === undefined ? '' : '<script>globalThis.attacked = true</script>'}`
    })
    const site = await open(t, app)
    t.is((await site.get()).headers['cache-control'], 'public, max-age=60')
    const browser = launch(t)
    const page = await browser.open(`http://127.0.0.1:${site.port}/`)
    t.deepEqual(blocksLeft(), [])
    await until(() => page.evaluate('globalThis.later === true'), 'what is imported later runs')
    const seen = await page.evaluate(`[
      globalThis.turned, document.documentElement.className,
      getComputedStyle(document.querySelector('p')).color
    ]`)
    t.deepEqual(seen, [true, 'js', 'rgb(0, 128, 0)'])
    t.deepEqual(page.complaints, [])
    const attacked = await browser.open(`http://127.0.0.1:${site.port}/?attack`)
    t.is(await attacked.evaluate('typeof globalThis.attacked'), 'undefined')
    const isRefused = () =>
      attacked.complaints.some(each => each.includes('Content Security Policy'))
    await until(isRefused, 'Chromium says that it refused the script')
    if (!isProduction) return
    // Without integrity, Integrity-Policy refuses a script that the other policy allows.
    const loads = `new Promise(done => {
      const script = document.createElement('script')
      script.onload = () => done('ran')
      script.onerror = () => done('refused')
      script.src = trustedTypes.createPolicy('spec', { createScriptURL: url => url }).createScriptURL('/assets/app.js')
      document.head.append(script)
    })`
    t.is(await page.evaluate(loads), 'refused')
  })
}
