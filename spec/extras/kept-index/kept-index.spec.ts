// A server that restarts knows what the last one has published: node_modules/.cache keeps the index.
import { createHook } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import fs, { existsSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import ava, { type ExecutionContext } from 'ava'
import type { DiagnosticMessages } from '../../../lib/diagnostics.ts'
import { makeCounter } from '../../support/counting-compiler.ts'
import { filesBelow } from '../../support/fingerprinted.ts'
import {
  type Files,
  makeProject,
  makeSite,
  type Site,
  type SiteOptions
} from '../../support/site.ts'
import { cases } from '../../support/soak.ts'
import { until, untilSettled } from '../../support/until.ts'

const test = ava.serial

const FILES = {
  'css/app.css.scss': '@use "part"; a { color: part.$color }',
  'css/theme/_part.scss': '$color: red;',
  'css/other.css.less': 'b { color: red }',
  'css/plain.css': 'c { color: red }',
  '/node_modules/x.txt': ''
}
const PATHS = ['/assets/app.css', '/assets/other.css', '/assets/plain.css']
const OPTIONS = { apps: { web: { sources: ['assets/css/theme'] } } }

interface Given {
  readonly files?: Files
  readonly options?: SiteOptions
  /** What is awaited in the cache. */
  readonly kept?: readonly string[]
}

const memory = (root: string) => {
  const folder = join(root, 'node_modules/.cache/koa-fresh-assets')
  const file = filesBelow(folder).find(name => name.endsWith('.json'))
  return file === undefined ? undefined : join(folder, file)
}

/** A project whose server has published everything, and has kept its index. */
async function makeKept(
  t: ExecutionContext,
  { files = FILES, options = OPTIONS, kept = PATHS }: Given = {}
): Promise<string> {
  const { root, ask } = await makeSite(t, files, options)
  const isKept = (path: string) => readFileSync(memory(root) ?? '', 'utf8').includes(`"${path}"`)
  await until(async () => {
    // What was edited a moment ago is compiled once more.
    for (const path of PATHS) t.is((await ask(path)).status, 200, path)
    return memory(root) !== undefined && kept.every(isKept)
  }, 'the index has been kept')
  return root
}

/** What the next server publishes and compiles, by the names of the sources. */
async function restart(t: ExecutionContext, root: string, options: SiteOptions = OPTIONS) {
  const [published, compiled]: string[][] = [[], []]
  const onPublished = (message: unknown) =>
    void published?.push((message as DiagnosticMessages['published']).path)
  const onCompiled = (message: unknown) =>
    void compiled?.push((message as DiagnosticMessages['compiled']).source)
  subscribe('koa-fresh-assets:published', onPublished)
  subscribe('koa-fresh-assets:compiled', onCompiled)
  const site = await makeSite(t, {}, { ...options, root })
  const texts: string[] = []
  for (const path of PATHS) texts.push((await site.ask(path)).text)
  unsubscribe('koa-fresh-assets:published', onPublished)
  unsubscribe('koa-fresh-assets:compiled', onCompiled)
  return { published, compiled: compiled?.length, texts }
}

test('a server that restarts compiles and publishes nothing again', async t => {
  const root = await makeKept(t)
  const stats = statSync(join(root, 'public/assets/app.css'))
  const { published, compiled, texts } = await restart(t, root)
  t.deepEqual([published, compiled], [[], 0])
  t.regex(texts[0] ?? '', /a \{\s*color: red/)
  t.deepEqual(statSync(join(root, 'public/assets/app.css')).ino, stats.ino)
})

const changes: Record<string, readonly [path: string, change: (root: string) => void]> = {
  'a source was edited': [
    '/assets/plain.css',
    root => writeFileSync(join(root, 'apps/web/assets/css/plain.css'), 'c { color: BLUE }')
  ],
  'a partial was put before another': [
    '/assets/app.css',
    root => writeFileSync(join(root, 'apps/web/assets/css/_part.scss'), '$color: BLUE;')
  ],
  'a target was removed': [
    '/assets/app.css',
    root => unlinkSync(join(root, 'public/assets/app.css'))
  ],
  'a target was edited by hand': [
    '/assets/other.css',
    root => writeFileSync(join(root, 'public/assets/other.css'), 'by hand')
  ],
  'a partial was edited': [
    '/assets/app.css',
    root => writeFileSync(join(root, 'apps/web/assets/css/theme/_part.scss'), '$color: BLUE;')
  ]
}

for (const [what, [path, change]] of Object.entries(changes).slice(cases(-2, 0))) {
  test(`what changed while the server was down is published again: ${what}`, async t => {
    const root = await makeKept(t)
    change(root)
    const { published, texts } = await restart(t, root)
    t.deepEqual(published, [path])
    const written = readFileSync(join(root, 'public', path), 'utf8')
    t.is(texts[PATHS.indexOf(path)], written)
    if (what.endsWith('edited') || what.includes('before')) t.regex(written, /BLUE/)
    else t.notRegex(written, /by hand/)
  })
}

const circumstances: Record<string, (root: string) => SiteOptions> = {
  'a new source': root => {
    writeFileSync(join(root, 'apps/web/assets/css/new.css'), '')
    return OPTIONS
  },
  'another environment': () => ({ ...OPTIONS, env: 'test' }),
  'a compiler of the application': () => ({
    ...OPTIONS,
    compilers: [{ extensions: '.less', target: '.css', compile: () => ({ code: 'own{}' }) }]
  }),
  'a damaged cache': root => {
    const file = memory(root) ?? ''
    writeFileSync(file, readFileSync(file, 'utf8').replace('app.css', 'APP.css'))
    return OPTIONS
  }
}

for (const [what, change] of Object.entries(circumstances).slice(cases(-2, 0))) {
  test(`nothing that the last server kept is trusted after ${what}`, async t => {
    const root = await makeKept(t)
    const { published } = await restart(t, root, change(root))
    t.deepEqual(published, PATHS)
  })
}

test('what a compiler of the application made is compiled again, as its code may have changed', async t => {
  const { compiler } = makeCounter('.less')
  const options = { ...OPTIONS, compilers: [compiler] }
  const root = await makeKept(t, { options, kept: ['/assets/app.css', '/assets/plain.css'] })
  const { published } = await restart(t, root, options)
  t.deepEqual(published, ['/assets/other.css'])
})

test('what caused a warning causes it again', async t => {
  const files = { ...FILES, 'css/plain.css': 'a { background: url(none.png) }' }
  const root = await makeKept(t, { files, kept: ['/assets/app.css', '/assets/other.css'] })
  t.deepEqual((await restart(t, root)).published, ['/assets/plain.css'])
})

test('without node_modules nothing is kept, and a cache that cannot be written does no harm', async t => {
  const { '/node_modules/x.txt': _, ...files } = FILES
  const bare = await makeSite(t, files, OPTIONS)
  const blocked = await makeSite(t, { ...files, '/node_modules/.cache': 'a file' }, OPTIONS)
  const kept = await makeSite(t, FILES, { ...OPTIONS, root: makeProject(t) })
  for (const site of [bare, blocked, kept]) {
    for (const path of PATHS) t.is((await site.ask(path)).status, 200)
  }
  await until(() => memory(kept.root) !== undefined, 'the last one has kept its index')
  t.false(existsSync(join(bare.root, 'node_modules')))
  t.is(readFileSync(join(blocked.root, 'node_modules/.cache'), 'utf8'), 'a file')
  t.is((await blocked.ask(PATHS[0] ?? '')).status, 200)
})

// What a request costs the disk, counted where Node hands a call to the system: every asynchronous
// call of `fs` is a resource of async_hooks, and the synchronous ones are counted by name.

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

test('an unchanged asset costs at most one stat of each file that it was made from, and of each folder searched', async t => {
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
})

const REMEMBERING = { compile: false, fingerprint: false, revalidate: 3600 }

test('a page that is not a file costs nothing, and a missing file costs one attempt to open it', async t => {
  const routes: SiteOptions['routes'] = ctx => void (ctx.body = 'page')
  const site = await makeSite(t, { '/public/assets/a.css': 'a{}' }, { ...REMEMBERING, routes })
  const paths = ['/books/23', '/books', '/', '/none/a.css', '/assets/none.css']
  for (const path of paths) {
    for (let times = 0; times < 2; times++) await site.ask(path)
    const { calls, stats } = await costOf(site, path)
    const expected = path.startsWith('/assets') ? [1, []] : [0, []]
    t.deepEqual([path, calls, stats], [path, ...expected])
  }
})

test('a mount at `/` that trusts stats costs a page nothing once it is known, and its own files too', async t => {
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
})
