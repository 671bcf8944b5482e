// A page that is open while its application is deployed, in a browser.
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { cleanKept, keep } from '../../lib/index.ts'
import { isAble } from '../support/deltas.ts'
import { blocksLeft, readPage } from '../support/examples.ts'
import { makeBundlerProject, test, writeFiles, type ExecutionContext } from '../support/index.ts'
import { folderOf } from './installed.ts'
import { dictionaries, shows, transferOf, visit, type View } from './page.ts'

const page = readPage('docs/open-pages.md')
const [reloadOnce] = page.take('', 'js')

/** Builds by Vite of one page after the other: a main script, and a lazy chunk with its stylesheet. */
function makeReleases(t: ExecutionContext) {
  const { root, remove } = makeBundlerProject({ 'src/reload-once.js': reloadOnce?.text ?? '' })
  t.teardown(remove)
  /** Resolves to the directory of its build. */
  const release = async (number: number): Promise<string> => {
    const outDir = `releases/${number}`
    writeFiles(root, {
      'src/main.js': `import './reload-once.js'
        import katex from '${folderOf('katex/dist/katex.mjs')}'
        globalThis.katex = katex
        globalThis.release = ${number}
        globalThis.loadMore = () => import('./lazy.js')`,
      'src/lazy.js': `import './lazy.css'\ndocument.title = 'lazy ${number}'`,
      'src/lazy.css': `:root { --release: ${number} }`
    })
    await build({
      ...{ root, base: '/static/', configFile: false, logLevel: 'error' },
      build: { outDir, manifest: true, rollupOptions: { input: 'src/main.js' } }
    })
    return join(root, outDir)
  }
  /** Makes it the one that the site serves. */
  const switchTo = (number: number): void => {
    rmSync(join(root, 'dist'), { force: true })
    symlinkSync(`releases/${number}`, join(root, 'dist'))
  }
  const options = {
    ...{ root, env: 'production', revalidate: 0 },
    mounts: { '/static': { dir: 'dist', manifest: 'dist/.vite/manifest.json' } }
  }
  const view: View = ctx => {
    ctx.set('Cache-Control', 'no-store')
    return ctx.assets.entry('src/main.js')
  }
  return { release, switchTo, options, view }
}

/** The title that the lazy chunk gives to a page. */
const LAZY_TITLE = 'loadMore().then(() => document.title)'

test('an open page gets its lazy chunk after each deploy, if need be by one reload', async t => {
  const { release, switchTo, options, view } = makeReleases(t)
  const [one, two, three] = [await release(1), await release(2), await release(3)]
  switchTo(1)
  const { note, stored } = dictionaries()
  const { page, url } = await visit(t, { ...options, view, front: note })
  t.is(await page.evaluate('release'), 1)
  if (isAble) await stored(page)

  await keep(one, two)
  switchTo(2)
  t.is(await page.evaluate(LAZY_TITLE), 'lazy 1')
  t.deepEqual(page.complaints, [])

  await page.follow(`${url}?again`)
  t.is(await page.evaluate('release'), 2)
  const { encodedBodySize, decodedBodySize } = await transferOf(page, /main-.*js$/)
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
  t.deepEqual(blocksLeft(), [])
})
