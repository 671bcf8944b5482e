// The README's promises: its examples do what they say, its tables name what there is.
import { execFile, type ExecFileException } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import Router from '@koa/router'
import test from 'ava'
import Koa from 'koa'
import supertest from 'supertest'
import { APP, LAYERED, TOP } from '../lib/assets/settings/option-table.ts'
import { COMMANDS } from '../lib/cli/arguments.ts'
import { koaAssets, type KoaAssetsOptions } from '../lib/koa-assets.ts'
import { koaHttpCache } from '../lib/koa-http-cache.ts'
import { asBody, blocksLeft, evaluate, makeExample, readPage } from './support/examples.ts'
import { makeProject } from './support/site.ts'
import { withDigest } from './support/digest.ts'
import { soakTest } from './support/soak.ts'

const page = readPage('README.md')
const readme = page.text
const first = page.take('')
const fragments = [...page.take('Mounts'), ...page.take('One file from a route')].map(asBody)
const commands = page.take('Production', 'sh')
const shared = page.take('Production', 'js')

function section(title: string): string {
  const start = readme.indexOf(`## ${title}\n`)
  if (start === -1) throw new Error(`the README has no section ${title}`)
  const end = readme.slice(start + 3).search(/^## |^### /m)
  return readme.slice(start, end === -1 ? undefined : start + 3 + end)
}

/** The cells of each row of the tables of a section. */
function rows(title: string): string[][] {
  return section(title)
    .split('\n')
    .filter(line => line.startsWith('| ') && !line.includes('---'))
    .map(line =>
      line
        .slice(2, -2)
        .split(' | ')
        .map(cell => cell.trim())
    )
    .filter(([first]) => first?.startsWith('`'))
}

const code = (cell = '') => /^`([^`]+)`$/.exec(cell)?.[1]

test('every block of the README is run here', t => {
  t.deepEqual(blocksLeft(), [])
})

const BOOKS = `export const books = { find: () => ({ updatedAt: new Date('2024-05-01T10:00:00Z') }) }
  export const render = (book, { stylesheet }) => stylesheet`

test('the first example serves its stylesheet, and its page with a 304 for what is unchanged; then in production', async t => {
  const site = makeExample(t, {
    'books.js': BOOKS,
    'apps/web/assets/stylesheets/app.css.scss': 'a { b { color: red } }'
  })
  await site.follow(first)
  await site.run('node server.js')
  const { text, headers } = await site.ask('/books/1')
  t.is(text, '<link href="/assets/app.css" type="text/css" rel="stylesheet">')
  t.is(headers['cache-control'], 'public, max-age=600')
  t.regex((await site.ask('/assets/app.css')).text, /a b \{/)
  const again = { headers: { 'if-modified-since': headers['last-modified'] } }
  t.is((await site.ask('/books/1', again)).status, 304)
  await site.follow(commands)
  t.regex((await site.ask('/books/1')).text, withDigest(/\/assets\/app-DIGEST\.css/))
})

soakTest('the command and the application share a configuration', async t => {
  const folder = 'node_modules/a-package-that-adds-assets'
  const site = makeExample(t, { 'assets/app.css': 'p { color: red }' })
  site.write({
    [`${folder}/package.json`]: '{ "exports": "./index.js" }',
    [`${folder}/index.js`]: ''
  })
  await site.follow(shared)
  const page = "app.use(ctx => { ctx.body = ctx.assets.url('app.css') })\napp.listen(3000)"
  site.write({ 'server.js': `${site.read('server.js')}${page}` })
  await site.run('npx koa-fresh-assets precompile')
  await site.run('NODE_ENV=production SERVE_STATIC_ASSETS=true node server.js')
  const [, path = ''] =
    withDigest(/^https:\/\/cdn\.example\.com(\/assets\/app-DIGEST\.css)$/).exec(
      (await site.ask('/')).text
    ) ?? []
  t.regex((await site.ask(path)).text, /^p ?\{ ?color: ?red;? ?\}/)
})

test('the examples of mounts and of one file from a route serve what they name', async t => {
  const root = makeProject(t, {
    'data/uploads/cat.png': 'cat',
    'data/reports/5.pdf': 'report',
    'dist/index.html': 'admin',
    'dist/main.js': '',
    'dist/.vite/manifest.json': '{"main.js":{"file":"main.js","isEntry":true}}'
  })
  const [app, router] = [new Koa(), new Router()]
  app.use((ctx, next) => {
    ctx.state.user = ctx.get('X-User')
    return next()
  })
  const here = (options: KoaAssetsOptions) =>
    app.use(koaAssets({ ...options, root, env: 'production' }))
  for (const body of fragments) evaluate(body, { koaAssets: here, router })
  app.use(router.routes())
  const agent = supertest(app.callback())
  const upload = await agent.get('/uploads/cat.png')
  t.is(upload.headers['cache-control'], 'public, max-age=604800')
  t.is((await agent.get('/admin/users').set('Sec-Fetch-Mode', 'navigate')).text, 'admin')
  t.is((await agent.get('/reports/5')).status, 401)
  const report = await agent.get('/reports/5').set('X-User', 'ada')
  t.is(report.headers['content-disposition'], 'attachment; filename="Report.pdf"')
  t.is(report.headers['cache-control'], 'private, no-cache')
})

test('the table names every view helper, and each call gives what it says', async t => {
  let helpers: readonly string[] = []
  const app = new Koa()
  app.use(koaAssets({ root: makeProject(t), serve: false, env: 'development' }))
  app.use(ctx => {
    const names = Object.keys(ctx.assets)
    helpers = names
    const call = ctx.get('X-Call')
    // oxlint-disable-next-line typescript/no-implied-eval -- the README's own words
    const evaluate = new Function(...names, `return ${call}`) as (...args: unknown[]) => string
    ctx.body = evaluate(...names.map(name => ctx.assets[name as keyof typeof ctx.assets]))
  })
  const agent = supertest(app.callback())
  const calls = rows('In views').flatMap(([call, output]) => {
    const [source, expected] = [code(call), code(output)]
    return source && expected?.startsWith('<') && !/…|\$|<32/.test(expected)
      ? [[source, expected]]
      : []
  })
  t.true(calls.length >= 5)
  for (const [call = '', expected = ''] of calls) {
    t.is((await agent.get('/').set('X-Call', call)).text, expected, call)
  }
  t.true(helpers.length > 5)
  for (const name of helpers) t.regex(section('In views'), new RegExp(`\`${name}[(\`]`))
})

test('the tables name every option of koaAssets, and no other', t => {
  const named = rows('Options').map(([option]) => code(option) ?? '')
  t.deepEqual(
    named.toSorted((a, b) => (a < b ? -1 : 1)),
    Object.keys(TOP).toSorted((a, b) => (a < b ? -1 : 1))
  )
  const perApp = Object.keys(APP).filter(key => !(key in TOP))
  t.deepEqual(perApp, ['dir', 'path'])
  for (const key of Object.keys(LAYERED)) t.true(named.includes(key), key)
})

test('the table names every option of koaHttpCache, and no other', t => {
  const error = t.throws(() => koaHttpCache({ '?': true } as object), { instanceOf: TypeError })
  const known = error.message.split('known options: ')[1]?.split(', ') ?? []
  const cells = rows('HTTP caching').map(([option = '']) => option)
  const named = cells.flatMap(cell => (/ctx\./.test(cell) ? [] : cell.split(', ')))
  t.deepEqual(named.map(code), known)
})

test('each method of koaHttpCache writes what the table says', async t => {
  const app = new Koa()
  app.use(koaHttpCache())
  app.use(async ctx => {
    ctx.cacheControl('public', { maxAge: 600 })
    if (ctx.path === '/expires') ctx.expires(900, 'public')
    if (ctx.method === 'POST') ctx.invalidateCacheGroups('books')
    ctx.cacheGroups('book-7', 'books')
    await ctx.fresh('etag')
    ctx.body = 'fine'
  })
  const agent = supertest(app.callback())
  t.true(section('HTTP caching').includes('`Cache-Control: public, max-age=600`'))
  t.is((await agent.get('/')).headers['cache-control'], 'public, max-age=600')
  t.true(section('HTTP caching').includes('`Cache-Control: public, max-age=900`'))
  t.is((await agent.get('/expires')).headers['cache-control'], 'public, max-age=900')
  t.is((await agent.get('/').set('If-None-Match', '"etag"')).status, 304)
  t.true(section('HTTP caching').includes('`Cache-Groups: "book-7", "books"`'))
  t.is((await agent.get('/')).headers['cache-groups'], '"book-7", "books"')
  t.true(section('HTTP caching').includes('`Cache-Group-Invalidation: "books"`'))
  t.is((await agent.post('/')).headers['cache-group-invalidation'], '"books"')
})

test('the table names every command, and no other', t => {
  const named = rows('Production').map(([command]) => code(command)?.split(' ')[0])
  t.deepEqual(
    named,
    COMMANDS.map(({ name }) => name)
  )
})

test('CONTRIBUTING has every room, and names files that are there, as the decisions do', t => {
  const map = readFileSync('CONTRIBUTING.md', 'utf8')
  for (const place of ['lib', 'lib/assets']) {
    const folders = readdirSync(place, { withFileTypes: true }).filter(entry => entry.isDirectory())
    for (const { name } of folders) t.true(map.includes(`${name}/`), name)
  }
  const text = map + readFileSync('docs/decisions.md', 'utf8')
  const named = Array.from(
    text.matchAll(/`((?:lib|spec|assets)\/[\w./-]+|[\w-][\w./-]*(?:\.ts|\/))`/g),
    ([, path = '']) => path
  )
  t.true(named.length > 30)
  const roots = ['.', 'lib', 'lib/assets']
  const missing = named.filter(path => !roots.some(root => existsSync(join(root, path))))
  t.deepEqual(missing, [])
})

test('the README is short', t => {
  t.true(readme.split('\n').length < 250)
})

// What is published to a registry.

const run = promisify(execFile)

interface Packed {
  /** In bytes. */
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

async function pack(): Promise<Packed> {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'])
  const [packed] = JSON.parse(stdout) as [Packed]
  return packed
}

const packed = pack()

test('the package has less than 310 kB, and every page and picture that its pages link to', async t => {
  const { size, files } = await packed
  const paths = files.map(({ path }) => path)
  const has = (linked: string) => paths.some(path => `${path}/`.startsWith(`${linked}/`))
  for (const page of paths.filter(path => path.endsWith('.md'))) {
    const links = readFileSync(page, 'utf8').matchAll(/\]\((?<path>[^)#:\s]+)(?:#[^)]*)?\)/g)
    for (const { groups } of links) {
      const linked = posix.join(posix.dirname(page), groups?.['path'] ?? '')
      t.true(has(linked), `${page} links to ${linked}`)
    }
  }
  t.true(size < 310_000, `${size} bytes`)
})

test('the package has neither sources nor source maps, and its code keeps names and lines, its types their docstrings', async t => {
  const { files } = await packed
  const code = files.map(({ path }) => path).filter(path => path.startsWith('dist/'))
  t.deepEqual(
    code.filter(
      path =>
        !/^dist\/(?:cjs\/)?(?:chunks\/(?:client\/)?)?[\w-]+(?:\.js|\.d\.ts|(?<=cjs\/package)\.json)$/.test(
          path
        )
    ),
    []
  )
  const chunk = (name: string) => readFileSync(`dist/chunks/${name}.js`, 'utf8')
  t.regex(chunk('http'), /\nfunction evaluatePreconditions\(/)
  const types = readFileSync('dist/cjs/chunks/koa-assets.d.ts', 'utf8')
  t.true(
    types.includes(
      '/** The URL prefix of assets, and their folder in `public`. Default: `/assets`. */'
    )
  )
  const longest = Math.max(
    ...chunk('serving')
      .split('\n')
      .map(line => line.length)
  )
  t.true(longest < 1000, `a line of ${longest} characters`)
})

test('an error at start is printed with a short line of source, its class, and the names of functions', async t => {
  const root = makeProject(t, { 'apps/web/assets/app.css': '' })
  const { href } = pathToFileURL('dist/index.js')
  const start = `import { koaAssets } from '${href}'; koaAssets({ env: 'production' })`
  const failed = run(process.execPath, ['--input-type=module', '--eval', start], { cwd: root })
  const printed = String((await t.throwsAsync<ExecFileException>(failed))?.stderr)
  t.regex(printed, /^AssetError: there is no manifest /m)
  t.regex(printed, /^\s+at koaAssets \(.*dist\/chunks\/koa-assets\.js:\d+:\d+\)$/m)
  t.true(printed.length < 3000, printed)
})
