// The README's promises: its examples do what they say, its tables name what there is.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Router from '@koa/router'
import test from 'ava'
import Koa from 'koa'
import supertest from 'supertest'
import { MOUNT } from '../lib/assets/settings/mount-options.ts'
import { APP, LAYERED, TOP } from '../lib/assets/settings/option-table.ts'
import { koaHttpCache } from '../lib/koa-http-cache.ts'
import { makeProject } from './support/site.ts'
import { koaAssets, type KoaAssetsOptions } from '../lib/koa-assets.ts'
import { COMMANDS } from '../lib/cli/commands/index.ts'

const readme = readFileSync('README.md', 'utf8')

function section(title: string): string {
  const start = readme.indexOf(`## ${title}\n`)
  if (start === -1) throw new Error(`the README has no section ${title}`)
  const end = readme.slice(start + 3).search(/^## |^### /m)
  return readme.slice(start, end === -1 ? undefined : start + 3 + end)
}

/** The cells of each row of the tables of a section. */
function rows(title: string): string[][] {
  return rowsOf(section(title))
}

function rowsOf(text: string): string[][] {
  return text
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

test('the first example serves its stylesheet, and its page with a 304 for what is unchanged', async t => {
  const root = makeProject(t, {
    'apps/web/assets/stylesheets/app.css.scss': 'a { b { color: red } }'
  })
  const [, example = ''] = /```js\n([^]*?)```/.exec(readme) ?? []
  const body = example.replaceAll(/^import .*$/gm, '').replace('app.listen(3000)', 'return app')
  const books = { find: () => ({ updatedAt: new Date('2024-05-01T10:00:00Z') }) }
  const render = (_: object, { stylesheet }: { stylesheet: string }) => stylesheet
  // oxlint-disable-next-line typescript/no-implied-eval -- the README's own words
  const run = new Function('Koa', 'Router', 'koaAssets', 'koaHttpCache', 'books', 'render', body)
  const here = (options: KoaAssetsOptions) => koaAssets({ ...options, root, env: 'development' })
  const app = run(Koa, Router, here, koaHttpCache, books, render) as Koa
  const agent = supertest(app.callback())
  const page = await agent.get('/books/1')
  t.is(page.text, '<link href="/assets/app.css" type="text/css" rel="stylesheet">')
  t.is(page.headers['cache-control'], 'public, max-age=600')
  t.regex((await agent.get('/assets/app.css')).text, /a b \{/)
  const date = page.headers['last-modified'] as string
  t.is((await agent.get('/books/1').set('If-Modified-Since', date)).status, 304)
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

test('docs/mounts.md names every option of a mount, and no other', t => {
  const named = rowsOf(readFileSync('docs/mounts.md', 'utf8')).map(([option]) => code(option) ?? '')
  t.deepEqual(new Set(named), new Set(Object.keys(MOUNT)))
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
