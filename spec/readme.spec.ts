// The README's promises: its examples do what they say.
import { execFile, type ExecFileException } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import Router from '@koa/router'
import Koa from 'koa'
import supertest from 'supertest'
import { koaAssets, type KoaAssetsOptions } from '../lib/koa-assets.ts'
import { koaHttpCache } from '../lib/koa-http-cache.ts'
import { asBody, blocksLeft, evaluate, makeExample, readPage } from './support/examples.ts'
import { makeProject, soakTest, test, viteBuild, withDigest } from './support/index.ts'
import { COMMANDS } from './support/ready.ts'

const page = readPage('README.md')
const readme = page.text
const first = page.take('')
const fragments = ['Respond 304 before the work', 'Serve what others built']
  .flatMap(section => page.take(section))
  .map(asBody)

test('every example of the README is tested', t => {
  t.deepEqual(blocksLeft(), [])
})

test('the first example of the README works in development and in production', async t => {
  const site = makeExample(t, { 'package.json': '{}' })
  for (const [, text = '', file = ''] of readme.matchAll(/\bsave `([^`]+)` as `([^`]+)`/gi))
    site.write({ [file]: text })
  await site.follow(first.slice(0, 2))
  const { text, headers } = await site.ask('/')
  t.true(text.includes('<link href="/assets/app.css" type="text/css" rel="stylesheet">'))
  t.true(text.includes('<script src="/assets/-/live.js"'))
  t.regex((await site.ask('/assets/app.css')).text, /^h1 \{ color: teal \}/)
  t.is((await site.ask('/', { headers: { 'if-none-match': headers.etag } })).status, 304)
  await site.follow(first.slice(2))
  const [path = ''] = withDigest(/\/assets\/app-DIGEST\.css/).exec((await site.ask('/')).text) ?? []
  const asset = await site.ask(path)
  t.is(asset.status, 200)
  t.is(asset.headers['cache-control'], 'public, max-age=31536000, immutable')
})

test('the examples of a route and of mounts respond as they say', async t => {
  const root = makeProject(t, {
    'data/uploads/cat.png': 'cat',
    'dist/index.html': 'admin',
    ...viteBuild('dist', { 'main.js': 'main.js' })
  })
  const [app, router] = [new Koa(), new Router()]
  app.use(koaHttpCache())
  const here = (options: KoaAssetsOptions) =>
    app.use(koaAssets({ ...options, root, env: 'production' }))
  const books = { find: () => ({ updatedAt: new Date('2024-05-01T10:00:00Z') }) }
  let rendered = 0
  const render = () => `page ${(rendered += 1)}`
  for (const body of fragments) evaluate(body, { koaAssets: here, router, books, render })
  app.use(router.routes())
  const agent = supertest(app.callback())
  const page = await agent.get('/books/1')
  t.deepEqual([page.text, page.headers['cache-control']], ['page 1', 'public, max-age=600'])
  const since = page.headers['last-modified'] ?? ''
  t.is((await agent.get('/books/1').set('If-Modified-Since', since)).status, 304)
  t.is(rendered, 1)
  const upload = await agent.get('/uploads/cat.png')
  t.is(upload.headers['cache-control'], 'public, max-age=604800')
  t.is((await agent.get('/admin/users').set('Accept', 'text/html')).text, 'admin')
})

test('the README names all commands in order, in at most 130 lines', t => {
  t.true(readme.split('\n').length <= 130)
  const [, line = ''] = /^`npx koa-fresh-assets` (.*)$/m.exec(readme) ?? []
  const named = Array.from(line.matchAll(/`([\w-]+)`/g), ([, name]) => name)
  const commands = COMMANDS.map(({ name }) => name)
  t.deepEqual(named, commands)
})

test('CONTRIBUTING and the decisions match the folders and files that exist', t => {
  const map = readFileSync('CONTRIBUTING.md', 'utf8')
  for (const place of ['lib', 'lib/runtime', 'lib/publishing', 'lib/extras']) {
    const folders = readdirSync(place, { withFileTypes: true }).filter(entry => entry.isDirectory())
    for (const { name } of folders) t.true(map.includes(`${name}/`), name)
  }
  const text = map + readFileSync('docs/decisions.md', 'utf8')
  const paths = /(?<=`)(?:(?:lib|spec|extras)\/[\w./-]+|[\w-][\w./-]*(?:\.ts|\/))(?=`)/g
  const named = text.match(paths) ?? []
  t.true(named.length > 30)
  const roots = ['.', 'lib', 'lib/runtime', 'lib/publishing']
  const missing = named.filter(path => !roots.some(root => existsSync(join(root, path))))
  t.deepEqual(missing, [])
})

// What is published to a registry.

const run = promisify(execFile)

async function pack() {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'])
  const [{ size, files }] = JSON.parse(stdout) as [{ size: number; files: { path: string }[] }]
  return { size, paths: files.map(({ path }) => path) }
}

soakTest('the package contains every page that its pages link to, in less than 345 kB', async t => {
  const { size, paths } = await pack()
  const has = (linked: string) => paths.some(path => `${path}/`.startsWith(`${linked}/`))
  for (const page of paths.filter(path => /\.md$|^llms\.txt$/.test(path))) {
    // Pictures are for the site.
    const links = readFileSync(page, 'utf8').matchAll(/(?<!!\[[^\]]*)\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)
    for (const [, link = ''] of links) {
      const linked = posix.join(posix.dirname(page), link)
      t.true(has(linked), `${page} links to ${linked}`)
    }
  }
  t.true(size < 345_000, `${size} bytes`)
})

soakTest('the package has only built code, which keeps names, lines and docstrings', async t => {
  const built = /^dist\/(?:chunks\/(?:client\/)?)?[\w-]+(?:\.js|\.d\.ts|(?<=dist\/package)\.json)$/
  const code = (await pack()).paths.filter(path => path.startsWith('dist/'))
  const strange = code.filter(path => !built.test(path))
  t.deepEqual(strange, [])
  const chunk = (name: string) => readFileSync(`dist/chunks/${name}.js`, 'utf8')
  t.regex(chunk('http'), /\nfunction evaluatePreconditions\(/)
  const types = readFileSync('dist/chunks/koa-assets.d.ts', 'utf8')
  t.true(types.includes('/** The URL prefix of assets, which is also their folder in `public`. '))
  t.notRegex(chunk('serving'), /^.{1000}/m)
})

test('an error at start is printed in short, with its class and the names of functions', async t => {
  const root = makeProject(t, { 'apps/web/assets/app.css': '' })
  const { href } = pathToFileURL('dist/index.js')
  const start = `import { koaAssets } from '${href}'; koaAssets({ env: 'production' })`
  const failed = run(process.execPath, ['--input-type=module', '--eval', start], { cwd: root })
  const printed = String((await t.throwsAsync<ExecFileException>(failed))?.stderr)
  t.regex(printed, /^AssetError: there is no manifest [^]*^  code: 'manifest-missing'/m)
  t.regex(printed, /^\s+at koaAssets \(.*dist\/koa-assets\.js:\d+:\d+\)$/m)
  t.true(printed.length < 3000, printed)
})
