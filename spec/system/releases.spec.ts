// A page that is open while its application is deployed, in a browser.
import { readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { build } from 'vite'
import { cleanKept, keep } from '../../lib/index.ts'
import { makeBundlerProject } from '../support/bundler-project.ts'
import { isAble } from '../support/deltas.ts'
import { blocksOf } from '../support/examples.ts'
import { makeSite, writeFiles } from '../support/site.ts'
import { until } from '../support/until.ts'
import { launch, type Page } from './chromium.ts'
import { folderOf } from './installed.ts'

const KATEX = folderOf('katex/dist/katex.mjs')

const reloadOnce = blocksOf(readFileSync('docs/open-pages.md', 'utf8')).find(
  ({ file }) => file === 'src/reload-once.js'
)

test('BND-16 an open page loads its lazy chunk after a deploy, reloads once where that is gone, and the next main script costs a delta', async t => {
  const { root, remove } = makeBundlerProject({ 'src/reload-once.js': reloadOnce?.text ?? '' })
  t.teardown(remove)
  const release = async (number: number): Promise<string> => {
    const outDir = `releases/${number}`
    writeFiles(root, {
      'src/main.js': `import './reload-once.js'
        import katex from '${KATEX}'
        globalThis.release = ${number}
        globalThis.katex = katex
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
  const switchTo = (number: number) => {
    rmSync(join(root, 'dist'), { force: true })
    symlinkSync(`releases/${number}`, join(root, 'dist'))
  }
  const [one, two, three] = [await release(1), await release(2), await release(3)]
  switchTo(1)
  const site = await makeSite(
    t,
    {},
    {
      ...{ root, env: 'production', revalidate: 0 },
      mounts: { '/static': { dir: 'dist', manifest: 'dist/.vite/manifest.json' } },
      routes: (ctx, next) => {
        if (ctx.path !== '/') return next()
        ctx.type = 'html'
        ctx.set('Cache-Control', 'no-store')
        ctx.body = `<!doctype html><title>page</title><link rel="icon" href="data:,">${ctx.assets.entry('src/main.js')}`
        return undefined
      }
    }
  )
  const url = `http://127.0.0.1:${site.port}/`
  const browser = launch(t)
  const first = await browser.open(url)
  t.is(await first.evaluate('release'), 1)

  await keep(one, two)
  switchTo(2)
  await first.evaluate('loadMore().then(() => undefined)')
  t.is(await first.evaluate('document.title'), 'lazy 1')
  t.deepEqual(first.complaints, [])

  await first.follow(`${url}?again`)
  t.is(await first.evaluate('release'), 2)
  const main =
    "performance.getEntriesByType('resource').find(({ name }) => /main-.*js$/.test(name))"
  const { encodedBodySize, decodedBodySize } = await first.evaluate<Transfer>(
    `(({ encodedBodySize, decodedBodySize }) => ({ encodedBodySize, decodedBodySize }))(${main})`
  )
  t.true(decodedBodySize > 200_000, `${decodedBodySize} bytes`)
  t.is(encodedBodySize < 2000, isAble, `${encodedBodySize} bytes`)
  t.log(`main script: ${encodedBodySize} of ${decodedBodySize} bytes`)

  // Release 3 without the files of release 2, and those of release 1 are cleaned away.
  await cleanKept(two, { keep: 0, age: 0 })
  await keep(two, three, { keep: 0, age: 0 })
  switchTo(3)
  await first.evaluate('void loadMore()')
  await until(async () => (await releaseOf(first)) === 3, 'the page has reloaded itself')
  await first.evaluate('loadMore().then(() => undefined)')
  t.is(await first.evaluate('document.title'), 'lazy 3')
})

/** In bytes. */
interface Transfer {
  readonly encodedBodySize: number
  readonly decodedBodySize: number
}

/** Undefined while the page is being replaced. */
async function releaseOf(page: Page): Promise<number | undefined> {
  return page.evaluate<number | undefined>('globalThis.release').catch((error: Error) => {
    if (/context|navigat/i.test(error.message)) return undefined
    throw error
  })
}
