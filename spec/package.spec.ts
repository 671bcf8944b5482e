// What is published: one copy for `import` and `require`, the keys of package.json, what to read for which task.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import Koa from 'koa'
import supertest from 'supertest'
import type * as Package from '../lib/index.ts'
import { makeProject, test, withDigest } from './support/index.ts'

const require = createRequire(resolve('package.json'))
const first = require('./dist/index.js') as typeof Package
// As Jest, or a package with a node_modules of its own, loads another copy.
for (const file of Object.keys(require.cache))
  if (file.startsWith(resolve('dist') + sep)) delete require.cache[file]
const second = require('./dist/index.js') as typeof Package

const described = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly files: readonly string[]
  readonly [key: string]: unknown
}

test('import gives every export that require gives, of the same copy', async t => {
  for (const entry of ['index', 'koa-assets', 'koa-http-cache', 'vite']) {
    const required = require(`./dist/${entry}.js`) as Record<string, unknown>
    const imported = (await import(pathToFileURL(`dist/${entry}.js`).href)) as Record<
      string,
      unknown
    >
    for (const [name, value] of Object.entries(required)) t.is(imported[name], value, name)
    t.true(Object.keys(required).length > 0)
  }
})

test('the built package works: compiling, fingerprints, the inspector and precompile', async t => {
  const root = makeProject(t, {
    'assets/app.css.scss': 'a { b { background: url(dot.svg) } }',
    'assets/app.js': "import './menu.js'",
    'assets/menu.js': '',
    'assets/dot.svg': '<svg/>'
  })
  const app = new Koa()
  app.use(first.koaAssets({ root, env: 'development', serve: true, fingerprint: true }))
  app.use(({ path, response, assets }) => {
    if (path === '/') response.body = assets.path('app.css') + assets.path('app.js')
  })
  const agent = supertest(app.callback())
  const [, css = '', js = ''] = /^(.*\.css)(.*\.js)$/.exec((await agent.get('/')).text) ?? []
  const compiled = withDigest(/a b \{\n {2}background: url\(\/assets\/dot-DIGEST\.svg\)/)
  t.regex((await agent.get(css)).text, compiled)
  t.regex((await agent.get(js)).text, withDigest(/^import "\/assets\/menu-DIGEST\.js"/))
  for (const page of ['', 'live.js', 'live-channel.js', 'hot.js', 'refresh.js'])
    t.is((await agent.get(`/assets/-/${page}`).set('Host', 'localhost')).status, 200, page)
  await first.precompile({ root })
  t.deepEqual((await first.verify({ root })).problems, [])
})

test('two copies of the package in one process share assetSources', t => {
  t.not(first.assetSources, second.assetSources)
  first.assetSources.append('/by/first')
  second.assetSources.append('/by/second')
  t.deepEqual(first.assetSources.list(), ['/by/first', '/by/second'])
  t.deepEqual(second.assetSources.list(), first.assetSources.list())
})

test('koaHttpCache works with two copies of the package in one process', async t => {
  const app = new Koa()
  let thrown: unknown
  app.use(first.koaHttpCache({ cacheControl: 'no-cache' }))
  app.use((ctx, next) => (ctx.path === '/both' ? second.koaHttpCache()(ctx, next) : next()))
  app.use(async ctx => {
    ctx.cacheControl('public', { maxAge: 600 })
    ctx.cacheGroups('books')
    try {
      await ctx.fresh('one')
    } catch (error) {
      thrown = error
      throw error
    }
    ctx.body = 'page'
  })
  const agent = supertest(app.callback())
  for (const path of ['/both', '/outer', '/both']) {
    const page = await agent.get(path)
    t.deepEqual([page.status, page.text], [200, 'page'], path)
    t.is(page.headers['cache-control'], 'public, max-age=600')
    t.is(page.headers['cache-groups'], '"books"')
    t.is((await agent.get(path).set('If-None-Match', '"one"')).status, 304)
    t.true(thrown instanceof first.Halt && thrown instanceof second.Halt)
    thrown = undefined
  }
})

test('importing the package has no side effect but one global symbol', t => {
  const script = `
    const state = () => JSON.stringify([process.eventNames().flatMap(name => process.listeners(name)).length,
      Object.getOwnPropertyNames(globalThis).length])
    const before = state()
    for (const entry of ['index', 'vite']) require(${JSON.stringify(resolve('dist'))} + '/' + entry + '.js')
    const symbols = Object.getOwnPropertySymbols(globalThis).map(({ description }) => description)
    console.log(before === state(), ...symbols.filter(name => name.startsWith('koa-fresh-assets')))`
  const said = execFileSync(process.execPath, ['--eval', script], { encoding: 'utf8' })
  t.is(said, 'true koa-fresh-assets.sources\n')
  t.deepEqual(described['sideEffects'], ['./dist/cli.js'])
})

test('package.json refers to no file or website that does not exist', t => {
  const keys = ['main', 'types', 'exports', 'typesVersions', 'bin', 'sideEffects']
  const named = JSON.stringify(keys.map(key => described[key]))
  const paths = Array.from(named.matchAll(/"(\.\/[^"*]+)"(?!:)/g), ([, path = '']) => path)
  t.true(paths.length > 15)
  const missing = [...paths, ...described.files].filter(
    path => !path.startsWith('!') && !existsSync(path)
  )
  t.deepEqual(missing, [])
  const places = ['repository', 'homepage', 'bugs', 'author', 'funding']
  t.false(places.some(key => key in described))
})

test('llms.txt leads to every page of docs/ in at most 60 lines', t => {
  const text = readFileSync('llms.txt', 'utf8')
  t.true(text.split('\n').length <= 61)
  const linked = Array.from(text.matchAll(/\]\(([^)]+)\)/g), ([, path = '']) => path)
  const dead = linked.filter(path => !existsSync(path))
  const pages = readdirSync('docs').filter(name => name.endsWith('.md'))
  // The package has no others.
  const packed = pages.filter(name => name !== 'bench.md' && name !== 'decisions.md')
  const missing = packed.filter(name => !linked.includes(`docs/${name}`))
  t.deepEqual([dead, missing], [[], []])
})
