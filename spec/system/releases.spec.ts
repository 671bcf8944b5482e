// A page that is open while its application is deployed, in a browser.
import { test } from '../support/test.ts'
import { cleanKept, keep } from '../../lib/index.ts'
import { isAble } from '../support/deltas.ts'
import { blocksLeft, readPage } from '../support/examples.ts'
import { folderOf } from './installed.ts'
import { LAZY_TITLE, makeReleases } from './lazy-releases.ts'
import { shows, visit } from './page.ts'

const page = readPage('docs/open-pages.md')
const [reloadOnce] = page.take('', 'js')
const MAIN = `import './reload-once.js'
  import katex from '${folderOf('katex/dist/katex.mjs')}'
  globalThis.katex = katex`

/** In bytes. */
interface Transfer {
  readonly encodedBodySize: number
  readonly decodedBodySize: number
}

test('an open page loads its lazy chunk after a deploy, reloads once where that is gone, and the next main script costs a delta', async t => {
  const files = { 'src/reload-once.js': reloadOnce?.text ?? '' }
  const { release, switchTo, options, view } = makeReleases(t, MAIN, files)
  const [one, two, three] = [await release(1), await release(2), await release(3)]
  switchTo(1)
  const { page, url } = await visit(t, { ...options, view })
  t.is(await page.evaluate('release'), 1)

  await keep(one, two)
  switchTo(2)
  t.is(await page.evaluate(LAZY_TITLE), 'lazy 1')
  t.deepEqual(page.complaints, [])

  await page.follow(`${url}?again`)
  t.is(await page.evaluate('release'), 2)
  const { encodedBodySize, decodedBodySize } = await page.evaluate<Transfer>(
    "performance.getEntriesByType('resource').find(({ name }) => /main-.*js$/.test(name)).toJSON()"
  )
  t.true(decodedBodySize > 200_000, `${decodedBodySize} bytes`)
  t.is(encodedBodySize < 2000, isAble, `${encodedBodySize} bytes`)
  t.log(`main script: ${encodedBodySize} of ${decodedBodySize} bytes`)

  // Release 3 without the files of release 2, and those of release 1 are cleaned away.
  await cleanKept(two, { keep: 0, age: 0 })
  await keep(two, three, { keep: 0, age: 0 })
  switchTo(3)
  await page.evaluate('void loadMore()')
  await shows(page, 'globalThis.release', 3)
  t.is(await page.evaluate(LAZY_TITLE), 'lazy 3')
})

test('every block of the page is run here', t => {
  t.deepEqual(blocksLeft(), [])
})
