// What a request costs the disk, counted where Node hands a call to the system: every asynchronous
// call of `fs` is a resource of async_hooks, and the synchronous ones are counted by name.
import { createHook } from 'node:async_hooks'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import test from 'ava'
import { type Site, type SiteOptions, makeSite } from '../../../support/site.ts'
import { until, untilSettled } from '../../../support/until.ts'

let calls = 0
const stats: string[] = []
const sync: string[] = []

createHook({
  init(_, type) {
    if (type.startsWith('FSREQ') || type === 'FILEHANDLE' || type === 'FILEHANDLECLOSEREQ') calls++
  }
}).enable()

type Call = (...args: unknown[]) => unknown
const patched = fs as unknown as Record<string, Call>
for (const name of Object.keys(fs)) {
  const original = patched[name]
  if (!name.endsWith('Sync') || typeof original !== 'function') continue
  patched[name] = Object.assign((...args: unknown[]) => {
    sync.push(name)
    return original(...args)
  }, original)
}
const { stat } = patched
patched.stat = (...args) => {
  stats.push(String(args[0]))
  return stat?.(...args)
}
syncBuiltinESMExports()

/** What one request costs, once a second's background look at the folders is not among it. */
async function costOf(site: Site, path: string, method = 'GET') {
  let cost = { calls: 0, stats: [] as string[], sync: [] as string[], status: 0 }
  await until(async () => {
    calls = 0
    stats.length = 0
    sync.length = 0
    const { status } = await site.ask(path, { method })
    const looked = stats.map(path => path.slice(site.root.length + 1)).toSorted()
    cost = { calls, stats: looked, sync: [...sync], status }
    // The last two are asked for by the index that is kept: node_modules here, and in the folders above.
    return !['apps/web/assets', 'node_modules', ''].some(each => looked.includes(each))
  }, 'a request without the look of every second')
  return cost
}

/** Old files, known to the site, and young no more. */
async function makeSettledSite(...[t, files, options]: Parameters<typeof makeSite>) {
  const site = await makeSite(t, files, options)
  await untilSettled()
  for (const path of Object.keys(files ?? {})) {
    const url = `/assets/${path.slice(path.indexOf('/') + 1).replace('.scss', '')}`
    if (path.includes('/_')) continue
    for (let i = 0; i < 3; i++) await site.ask(url)
    await untilSettled()
    // What was young when it was read is read once more.
    await site.ask(url)
  }
  return site
}

test.serial('the counters count', async t => {
  const site = await makeSite(t, { 'css/a.css': 'a{}' })
  calls = 0
  stats.length = 0
  await site.ask('/assets/a.css')
  t.true(calls > 5, 'a first request costs')
  t.true(stats.includes(site.at('/public/assets/a.css')))
  sync.length = 0
  site.read('/public/assets/a.css')
  t.deepEqual([...new Set(sync)], ['existsSync', 'readFileSync'])
  const before = calls
  await fs.promises.readdir('.')
  t.true(calls > before)
})

test.serial(
  'an unchanged asset costs at most one stat of each file it was made of, and of each folder searched',
  async t => {
    const site = await makeSettledSite(t, {
      'css/a.css': 'a{}',
      'css/_one.scss': 'a { b: c }',
      'css/_two.scss': "@use 'one';",
      'css/app.css.scss': "@use 'two';"
    })
    for (const [path, most] of [
      ['/assets/a.css', 2],
      ['/assets/app.css', 5]
    ] as const) {
      for (const method of ['GET', 'HEAD']) {
        const { calls, sync, status } = await costOf(site, path, method)
        t.deepEqual([status, sync], [200, []])
        t.true(calls <= most, `${method} ${path}: ${calls}`)
      }
    }
  }
)

test.serial('a stale stylesheet costs few looks at the disk', async t => {
  const site = await makeSettledSite(t, {
    'css/_one.scss': 'a { b: c }',
    'css/app.css.scss': "@use 'one';"
  })
  site.write('css/_one.scss', 'a { b: d }')
  stats.length = 0
  t.regex((await site.ask('/assets/app.css')).text, /b: d/)
  // Beside those for the compiler's package.
  const looks = stats.filter(path => !path.endsWith('package.json'))
  t.true(looks.length <= 20, looks.join('\n'))
})

const REMEMBERING = { compile: false, fingerprint: false, revalidate: 3600 }

test.serial(
  'a page that is no file costs nothing, and a file that is missing a try to open it',
  async t => {
    const routes: SiteOptions['routes'] = ctx => void (ctx.body = 'page')
    const site = await makeSite(t, { '/public/assets/a.css': 'a{}' }, { ...REMEMBERING, routes })
    const paths = ['/books/23', '/books', '/', '/none/a.css', '/assets/none.css']
    for (const path of paths) {
      for (let times = 0; times < 2; times++) await site.ask(path)
      const { calls, stats } = await costOf(site, path)
      const expected = path.startsWith('/assets') ? [1, []] : [0, []]
      t.deepEqual([path, calls, stats], [path, ...expected])
    }
  }
)

test.serial(
  'a mount at `/` that trusts stats costs a page nothing once it is known, and its own files too',
  async t => {
    const routes: SiteOptions['routes'] = ctx => {
      if (ctx.path !== '/deep/link') ctx.body = 'page'
    }
    const mount = { dir: 'dist', index: 'index.html', fallback: 'index.html', revalidate: 3600 }
    const mounts = { '/': mount, '/static': { ...mount, immutable: true } }
    const files = { '/dist/index.html': 'index', '/dist/a.js': 'a', '/public/assets/b.css': 'b{}' }
    const site = await makeSite(t, files, { ...REMEMBERING, mounts, routes })
    await untilSettled()
    const free = { calls: 0, stats: [], sync: [], status: 200 }
    const own = ['/', '/a.js', '/static/a.js', '/static/', '/assets/b.css']
    for (const path of [...own, '/books/23', '/books', '/static/none']) {
      for (let times = 0; times < 3; times++) await site.ask(path)
      await untilSettled()
      await site.ask(path)
      t.deepEqual([path, await costOf(site, path)], [path, free])
    }
  }
)

test.serial('a mount without a manifest costs each request one stat, of its file', async t => {
  const routes: SiteOptions['routes'] = ctx => void (ctx.body = 'page')
  const mounts = { '/static': 'dist' }
  const site = await makeSite(t, { '/dist/a.js': 'a' }, { ...REMEMBERING, mounts, routes })
  await untilSettled()
  for (const path of ['/static/a.js', '/static/none']) {
    for (let times = 0; times < 3; times++) await site.ask(path)
    const stats = [path.replace('/static', 'dist')]
    t.deepEqual(await costOf(site, path), { calls: 1, stats, sync: [], status: 200 })
  }
})

test.serial('while compiling, a page behind two mounts costs one stat more for each', async t => {
  const routes: SiteOptions['routes'] = ctx => void (ctx.body = 'page')
  const files = { 'css/a.css': 'a{}', '/dist/a.js': 'a' }
  const mounts = { '/': 'dist', '/books': 'dist' }
  const site = await makeSettledSite(t, files, { routes, mounts })
  const cost = await costOf(site, '/books/23')
  t.deepEqual(cost.stats, ['dist/23', 'dist/books/23', 'public/books/23'])
  t.deepEqual([cost.calls, cost.sync, cost.status], [3, [], 200])
})
