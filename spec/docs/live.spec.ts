// docs/live.md
import test from 'ava'
import ejs from 'ejs'
import { LIVE } from '../../lib/assets/settings/option-table.ts'
import type { KoaAssetsOptions } from '../../lib/koa-assets.ts'
import { asBody, evaluate, readPage } from '../support/examples.ts'
import { makeSite } from '../support/site.ts'

const page = readPage('docs/live.md')
const [tag] = page.take('')
const [options] = page.take('Options').map(asBody)
const [withNonce] = page.take('With a Content-Security-Policy')

test('every block of the page is run here', t => {
  t.deepEqual(page.left(), [])
})

test('the table names every option of live, and no other', t => {
  const named = Array.from(page.text.matchAll(/^\| `(\w+)` /gm), ([, name = '']) => name)
  t.deepEqual(named.toSorted(), Object.keys(LIVE).toSorted())
  for (const [, editor = ''] of LIVE.editor.expected.matchAll(/'([^']+)'/g)) {
    t.true(page.text.includes(`\`${editor}\``), editor)
  }
})

test('the tags of the page lead to the script', async t => {
  let given: KoaAssetsOptions = {}
  evaluate(options ?? '', { koaAssets: (options: KoaAssetsOptions) => (given = options) })
  const site = await makeSite(
    t,
    { '/apps/web/views/page.ejs': '' },
    {
      ...given,
      routes: ctx => {
        const { text } = (ctx.path === '/' ? tag : withNonce) ?? { text: '' }
        ctx.body = ejs.render(text.trim(), { ...ctx.state, nonce: 'once' })
      }
    }
  )
  const { text } = await site.ask('/')
  t.is(text, '<script src="/assets/-/live.js" type="module" async="async"></script>')
  t.is((await site.ask('/nonce')).text, text.replace('></', ' nonce="once"></'))
  t.is((await site.ask('/assets/-/live.js')).status, 200)
})
