// Pages for everybody under the strictest policy: no nonce, and no script without integrity.
import { createHash } from 'node:crypto'
import type { ViewHelpers } from '../../lib/runtime/views/view-helpers.ts'
import { makeProject, placed, run, test, type ExecutionContext } from '../support/index.ts'
import type { Files } from '../support/index.ts'
import { visit, type View } from './page.ts'

const FILES: Files = {
  'javascripts/app.js': `
    import { tip } from 'tip'
    import { star } from './stars.js'
    import confetti from 'confetti'
    globalThis.all = [tip, star, confetti].join()`,
  'javascripts/lazy.js': `
    import { star } from './stars.js'
    globalThis.all = import('./later.js').then(({ deep }) => [star, deep].join())`,
  'javascripts/stars.js': "export const star = 'star'",
  'javascripts/confetti.js': "export default 'confetti'",
  'javascripts/later.js': "export { deep } from './deep.js'",
  'javascripts/deep.js': "export const deep = 'deep'",
  '/node_modules/tip/package.json': '{"name":"tip","version":"1.0.0","module":"tip.js"}',
  '/node_modules/tip/tip.js': "export * from './part.js'",
  '/node_modules/tip/part.js': "export const tip = 'tip'"
}

type Helpers = (assets: ViewHelpers) => string
const eagerly: Helpers = ({ importMap, javascript }) =>
  importMap({ entry: 'app' }) + javascript('app', { type: 'module' })

/** @param scriptSrc of the policy; `<hash>` stands for that of the import map */
async function makePage(
  t: ExecutionContext,
  view: Helpers,
  { bundle = false, scriptSrc = "'self'" }: { bundle?: 'packages' | false; scriptSrc?: string } = {}
) {
  const root = makeProject(t, placed(FILES))
  const options = { root, packages: 'tip', imports: { confetti: 'confetti.js' }, bundle }
  await run(options)
  let html = ''
  const policed: View = ctx => {
    html = view(ctx.assets)
    const map = /<script type="importmap">(.*?)<\/script>/.exec(html)?.[1] ?? ''
    const hash = `'sha256-${createHash('sha256').update(map).digest('base64')}'`
    ctx.set({
      'Content-Security-Policy': `default-src 'none'; img-src 'self' data:; script-src ${scriptSrc.replace('<hash>', hash)}`,
      'Integrity-Policy': 'blocked-destinations=(script)',
      'Cache-Control': 'public, max-age=600'
    })
    return html
  }
  const { page } = await visit(t, { view: policed, ...options, env: 'production' })
  return { page, html }
}

const lazily: Helpers = ({ importMap, javascript }) =>
  importMap({ entry: 'lazy' }) + javascript('lazy', { type: 'module' })

for (const bundle of [false, 'packages'] as const) {
  test(`a public page runs its modules under script-src 'self' and an Integrity-Policy (bundle: ${bundle})`, async t => {
    const { page, html } = await makePage(t, eagerly, { bundle })
    t.false(html.includes('importmap'))
    t.is(await page.evaluate('all'), 'tip,star,confetti')
    t.deepEqual(page.complaints, [])
    t.deepEqual(page.remarks, [])
  })
}

test('what is imported later has its integrity in the import map, which the policy allows by its hash', async t => {
  const { page, html } = await makePage(t, lazily, { scriptSrc: "'self' <hash>" })
  t.is(await page.evaluate('all'), 'star,deep')
  t.deepEqual(page.complaints, [])
  t.deepEqual(page.remarks, [])
  const hashes = [...html.matchAll(/sha384-[^"]+/g)].map(([hash]) => hash)
  t.is(hashes.length, 4)
  t.is(new Set(hashes).size, 4, 'each once')
})
