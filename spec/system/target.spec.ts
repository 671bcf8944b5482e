// What the option target makes of stylesheets and scripts, in a Chromium that knows all that was lowered.
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'
import { makeProject, placed, run, test, words, writeFiles } from '../support/index.ts'
import type { ExecutionContext } from '../support/index.ts'
import { visit } from './page.ts'

const FILES = placed({
  'stylesheets/app.css.scss': `$gap: 3px;
    main { inset: 0 $gap; position: fixed; user-select: none; backdrop-filter: blur(2px);
      color: oklch(60% 0.2 200); background: linear-gradient(oklch(70% 0.1 90), color(display-p3 0 1 0));
      & p, & > i { color: lab(50% 40 20); &:hover, .x & { top: 0 } }
      @media (width > 10px) { b { color: rgb(1 2 3 / 50%) } }
    }`,
  'javascripts/app.ts': `import { told } from './part.ts'
    class Cart { #items = [1, 2]; static kind = 'cart'; get last() { return this.#items.at(-1) } }
    const { told: all, ...rest } = { told: told ?? 1, kind: Cart.kind, last: new Cart().last }
    globalThis.made = [all, rest, [...new Set([1, 1])], 2 ** 3]`,
  'javascripts/part.ts': "export const told = (globalThis as { a?: { b: string } }).a?.b ?? 'none'"
})
const SEEN = `({
  styles: ['main', 'p', 'i', 'b'].map(name => {
    const style = getComputedStyle(document.querySelector(name))
    return ['color', 'top', 'left', 'userSelect', 'backdropFilter', 'backgroundImage'].map(each => style[each])
  }),
  made: globalThis.made
})`

async function seen(t: ExecutionContext, options: KoaAssetsOptions) {
  const root = makeProject(t)
  writeFiles(root, FILES)
  if (options.env === 'production') await run({ ...options, root, minify: true })
  const { page } = await visit(t, {
    ...options,
    root,
    view: ({ assets }) =>
      `${assets.stylesheet('app')}${assets.javascript('app', { type: 'module' })}<main><p>p</p><i>i</i><b>b</b></main>`
  })
  t.deepEqual(page.complaints, [])
  return page.evaluate<object>(SEEN)
}

test('a browser that knows everything shows the same with any target, in development and precompiled', async t => {
  const plain = await seen(t, { env: 'development' })
  const known = /oklch\(0\.6 0\.2 200\).*lab\(50 40 20\).*"none",\{"kind":"cart","last":2\}/
  t.regex(JSON.stringify(plain), known)
  for (const target of ['chrome80 safari13', 'chrome125 safari17.5'].map(words))
    for (const options of [
      { env: 'development' },
      { env: 'production' },
      { env: 'production', bundle: true }
    ] as const)
      t.deepEqual(await seen(t, { ...options, target }), plain, JSON.stringify([target, options]))
})
