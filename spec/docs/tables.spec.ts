// The pages to look things up: their tables name what there is, with type, unit and default, and nothing else.
// And the documentation as a whole: every page is found, every link leads somewhere, every code block is run.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import Router from '@koa/router'
import ejs from 'ejs'
import Koa, { type Middleware } from 'koa'
import supertest from 'supertest'
import { MOUNT, APP, LAYERED, LIVE, TOP } from '../../lib/runtime/settings/table.ts'
import { SHARED_OPTIONS } from '../../lib/publishing/cli/arguments.ts'
import * as assets from '../../lib/koa-assets.ts'
import { koaHttpCache } from '../../lib/koa-http-cache.ts'
import type { Expectation } from '../../lib/runtime/check-options.ts'
import { DIGEST_LENGTH } from '../../lib/runtime/files/digest.ts'
import { blocksLeft, blocksOf, evaluate, makeExample, readPage } from '../support/examples.ts'
import { png } from '../support/images.ts'
import { makeProject, makeSite, soakTest, test, withDigest } from '../support/index.ts'
import { COMMANDS } from '../support/ready.ts'

const optionsPage = readPage('docs/options.md')
const helpersPage = readPage('docs/helpers.md')
const commandsPage = readPage('docs/commands.md')
const mountsText = readFileSync('docs/mounts.md', 'utf8')
const liveText = readFileSync('docs/live.md', 'utf8')

/** The rows of the tables of a section, those of its subsections left out, without their headings. */
function rows(page: string, title: string): ReadonlyArray<readonly string[]> {
  const start = new RegExp(`^#+ ${title}$`, 'm').exec(page)
  if (!start) throw new Error(`there is no section ${title}`)
  const [section = ''] = page.slice(start.index + start[0].length).split(/^#/m)
  return (section.match(/^\| .* \|$/gm) ?? [])
    .map(line => line.slice(2, -2).split(' | '))
    .filter(([first = '']) => first.includes('`') || first.startsWith('the same'))
}

const names = (page: string, title: string) => rows(page, title).map(([name]) => code(name) ?? '')

const codes = (cell = '') => Array.from(cell.matchAll(/`([^`]+)`/g), ([, text = '']) => text)
const code = (cell = '') => /^`([^`]+)`$/.exec(cell)?.[1]
const sorted = (names: Iterable<string>) => [...names].toSorted((a, b) => (a < b ? -1 : 1))

/** What an error about an unknown option advises. */
const knownIn = (message: string) => message.split('known options: ')[1]?.split(', ') ?? []

interface Known extends Expectation {
  readonly default?: (situation: { env: string; isPrecompile: boolean }) => unknown
}

const inside = (name: string, fields: object) =>
  Object.fromEntries(Object.entries(fields).map(([field, known]) => [`${name}.${field}`, known]))
const { memory, index, ...others } = TOP

/** The options of koaAssets, those inside of an object by their path. */
const OPTIONS: Readonly<Record<string, Known>> = {
  ...others,
  ...inside('memory', memory.fields),
  ...inside('index', index.fields),
  ...inside('live', TOP.live.fields),
  ...inside('apps.<name>', { dir: APP.dir, path: APP.path })
}

/** What a type says about what the code expects. */
function typeOf({ expected }: Expectation): RegExp {
  if (expected === 'true or false') return /boolean/
  const words = Array.from(expected.matchAll(/'([\w-]+)'/g), ([, word]) => `(?=.*\`${word}\`)`)
  if (/^('[\w-]+'(, | or |$))+$/.test(expected)) return new RegExp(words.join(''))
  const unit = /number of (\w+)/.exec(expected)?.[1]
  return new RegExp(unit ?? (expected.includes('list') ? 'list' : '.'))
}

test('the table of koaAssets lists exactly its options, with type, unit and default', t => {
  const ofApps = rows(optionsPage.text, 'Options of each app')
  const described = [...rows(optionsPage.text, 'koaAssets'), ...ofApps]
  t.deepEqual(sorted(described.flatMap(([name]) => codes(name))), sorted(Object.keys(OPTIONS)))
  t.deepEqual(sorted(ofApps.flatMap(([name]) => codes(name))), sorted(Object.keys(LAYERED)))
  for (const [name = '', type = '', written = '', meaning] of described) {
    const option = OPTIONS[code(name) ?? ''] as Known
    t.regex(type, typeOf(option), name)
    t.truthy(written && meaning, name)
    const [value, other] = ['development', 'production'].map(env =>
      option.default?.({ env, isPrecompile: false })
    )
    if (value === undefined || value !== other) continue
    t.is(codes(written)[0]?.replaceAll('_', ''), String(value as boolean | number | string), name)
  }
})

test('docs/mounts.md and docs/live.md list exactly the options of mounts and live reload', t => {
  t.deepEqual(sorted(names(mountsText, 'Options')), sorted(Object.keys(MOUNT)))
  t.deepEqual(sorted(names(liveText, 'Options')), sorted(Object.keys(TOP.live.fields)))
  for (const [, editor = ''] of LIVE.editor.expected.matchAll(/'([^']+)'/g))
    t.true(liveText.includes(`\`${editor}\``), editor)
})

test('the table of koaHttpCache lists exactly its options, with type and default', t => {
  const known = (options: object) =>
    knownIn(t.throws(() => koaHttpCache(options), { instanceOf: TypeError }).message)
  const groups = known({ groups: { '?': true } }).map(name => `groups.${name}`)
  const all = [...known({ '?': true }).filter(name => name !== 'groups'), ...groups]
  t.deepEqual(sorted(names(optionsPage.text, 'koaHttpCache')), sorted(all))
  for (const row of rows(optionsPage.text, 'koaHttpCache'))
    t.true(row.length === 4 && row.every(Boolean), row[0])
})

test('every view helper is in the table, whose calls give the output beside them', async t => {
  let helpers: readonly string[] = []
  const images = { 'logo.png': png(320, 80), 'my-cool_logo.png': png(320, 80) }
  const routes: Middleware = ctx => {
    const { devOrigins, version } = ctx.assets
    const named = { ...ctx.assets, devOrigins, version }
    helpers = Object.keys(named)
    ctx.body = evaluate(`return ${ctx.get('X-Call')}`, named)
  }
  const site = await makeSite(t, images, { routes })
  const table = rows(helpersPage.text, 'In views')
  const calls = table.flatMap(([call, output]) => {
    const [source, expected] = [code(call), code(output)]
    return source && expected && /^[</]/.test(expected) && !/…|\$|<32/.test(expected)
      ? [[source, expected]]
      : []
  })
  t.true(calls.length >= 8)
  for (const [call = '', expected = ''] of calls)
    t.is((await site.ask('/', { headers: { 'x-call': call } })).text, expected, call)
  const described = table.filter(row => row.length === 2).flatMap(([call]) => codes(call))
  const called = new Set(described.map(call => /^\w+/.exec(call)?.[0] ?? call))
  t.deepEqual(sorted(called), sorted(helpers))
  const options = table.filter(row => row.length === 5)
  t.true(options.length > 8)
  for (const [name, of, type, byDefault, meaning] of options) {
    t.truthy(type && byDefault && meaning, name)
    for (const helper of codes(of)) t.true(helpers.includes(helper), `${name} of ${helper}`)
  }
})

const [iconView] = helpersPage.take('Icons in the page')

test('the example of an icon puts its svg element into the page', async t => {
  const routes: Middleware = ctx => {
    ctx.body = ejs.render(iconView?.text.trim() ?? '', { assets: ctx.assets })
  }
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1"/></svg>'
  const site = await makeSite(t, { 'images/icons/cart.svg': svg }, { routes })
  const icon =
    '<svg viewBox="0 0 1 1" class="icon" aria-hidden="true"><path d="M0 0h1"></path></svg>'
  t.is((await site.ask('/')).text, `<a href="/cart">${icon} Cart</a>`)
})

const fragments = helpersPage.take('One file from a route')

const PRELOAD = {
  as: true,
  type: true,
  crossorigin: true,
  integrity: true,
  media: true,
  fetchpriority: true,
  mount: true
} satisfies Record<keyof assets.PreloadOptions, true>

test('the tables of ctx.preload and ctx.sendFile list exactly their options', async t => {
  const root = makeProject(t, { 'data/reports/5.pdf': 'report', 'assets/app.css': '' })
  const app = new Koa()
  const router = new Router()
  let advice = ''
  app.use((ctx, next) => {
    ctx.state.user = ctx.get('X-User')
    return next()
  })
  app.use(assets.koaAssets({ root, serve: true, env: 'development' }))
  for (const { text } of fragments) evaluate(text, { router })
  app.use(router.routes())
  app.use(async ctx => {
    const wrong = { root: 'data', '?': true }
    await ctx.sendFile('5.pdf', wrong).catch((error: unknown) => (advice = String(error)))
  })
  const agent = supertest(app.callback())
  t.is((await agent.get('/reports/5')).status, 401)
  const report = await agent.get('/reports/5').set('X-User', 'ada')
  t.is(report.headers['content-disposition'], 'attachment; filename="Report.pdf"')
  t.is(report.headers['cache-control'], 'private, no-cache')
  await agent.get('/other')
  t.deepEqual(sorted(names(helpersPage.text, 'One file from a route')), sorted(knownIn(advice)))
  t.deepEqual(sorted(names(helpersPage.text, 'Early loading')), sorted(Object.keys(PRELOAD)))
})

test('the tables of commands list exactly the commands and their options', t => {
  const commands = COMMANDS.map(({ name, argument }) => [name, argument].filter(Boolean).join(' '))
  t.deepEqual(names(commandsPage.text, 'Commands'), commands)
  const described = rows(commandsPage.text, 'Options of commands')
  for (const row of described) t.true(row.length === 5 && row.every(Boolean), row[0])
  const spelled = (specs: typeof SHARED_OPTIONS) =>
    Object.entries(specs).map(([name, { value, short }]) =>
      [value ? `--${name} ${value}` : `--${name}`, ...(short ? [`-${short}`] : [])].join(', ')
    )
  for (const { name, options = {} } of [{ name: 'all', options: SHARED_OPTIONS }, ...COMMANDS]) {
    const ofCommand = described.filter(([, of = '']) => of === name || codes(of).includes(name))
    const named = ofCommand.map(([option]) => codes(option).join(', '))
    t.deepEqual(sorted(named), sorted(spelled(options)), name)
  }
})

test('every function behind a command is in the table, with the options that it knows', async t => {
  const functions = rows(commandsPage.text, 'In code')
  const named = functions.map(([call]) => /^`(\w+)/.exec(call ?? '')?.[1] ?? '')
  const exported = Object.entries(assets).filter(
    ([name, value]) => typeof value === 'function' && /^[a-z]/.test(name) && name !== 'koaAssets'
  )
  t.deepEqual(sorted(named), sorted(exported.map(([name]) => name)))
  const [root, wrong] = [makeProject(t), { '?': true } as object]
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    precompile: () => assets.precompile({ root }, wrong),
    compress: () => assets.compress(root, wrong),
    keep: () => assets.keep(root, root, wrong),
    clean: () => assets.clean({ root }, wrong),
    cleanKept: () => assets.cleanKept(root, wrong)
  }
  for (const [at, [, options]] of functions.entries()) {
    const call = calls[named[at] ?? '']
    const known = call && knownIn((await t.throwsAsync(call, { instanceOf: TypeError })).message)
    t.deepEqual(sorted(codes(options)), sorted(known ?? []), named[at])
  }
})

const shared = commandsPage.take('Configuration')

soakTest('the command and the application share a configuration', async t => {
  const site = makeExample(t, {
    'assets/app.css': 'p { color: red }',
    'server.js': `import Koa from 'koa'
      import { koaAssets } from 'koa-fresh-assets'
      import options from './assets.config.js'
      const app = new Koa()
      app.use(koaAssets(options))
      app.use(ctx => { ctx.body = ctx.assets.url('app.css') })
      app.listen(3000)`
  })
  await site.follow(shared)
  await site.run('npx koa-fresh-assets precompile')
  await site.run('NODE_ENV=production SERVE_STATIC_ASSETS=true node server.js')
  const url = withDigest(/^https:\/\/cdn\.example\.com(\/assets\/app-DIGEST\.css)$/)
  const [, path = ''] = url.exec((await site.ask('/')).text) ?? []
  t.regex((await site.ask(path)).text, /^p ?\{ ?color: ?red;? ?\}/)
})

const target = readPage('docs/target.md').take('')

test('with the configuration of docs/target.md, stylesheets have prefixes', async t => {
  const site = makeExample(t, {
    'assets/app.css': 'a { user-select: none; color: oklch(60% 0.1 200) }'
  })
  await site.follow(target)
  await site.run('npx koa-fresh-assets precompile')
  t.is(
    site.read('public/assets/app.css').split('\n')[0],
    'a{-webkit-user-select:none;user-select:none;color:oklch(60% .1 200)}'
  )
})

test('every block of the pages with tables is run here', t => {
  t.deepEqual(blocksLeft(), [])
})

const isPage = (name: string) => name.endsWith('.md')
const PAGES = readdirSync('docs')
  .filter(isPage)
  .map(name => `docs/${name}`)
const WITH_README = ['README.md', ...PAGES]
/** Without the two pages for readers of the repository alone. */
const GUIDES = PAGES.filter(path => !/(?:bench|decisions)\.md$/.test(path))
const read = (path: string) => readFileSync(path, 'utf8')

/** The targets of links, without code and without other sites. */
function linksOf(path: string): readonly string[] {
  const prose = read(path).replaceAll(/^```[^]*?^```$|`[^`\n]*`/gm, '')
  return Array.from(prose.matchAll(/\]\((?!\w+:)([^)\s]+)\)/g), ([, target = '']) => target)
}

/** The anchors of headings, as GitHub and npm make them. */
function anchorsOf(path: string): ReadonlySet<string> {
  const headings = read(path).replaceAll(/^```[^]*?^```$/gm, '')
  const anchorOf = (heading: string) =>
    heading
      .replaceAll(/\]\([^)]*\)/g, ']')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
  return new Set(Array.from(headings.matchAll(/^#+ (.*)$/gm), ([, text = '']) => anchorOf(text)))
}

test('no link of the documentation is dead, anchors included', t => {
  const others = ['CONTRIBUTING.md', 'CHANGELOG.md', 'demo/README.md']
  const dead = [...WITH_README, ...others].flatMap(from =>
    linksOf(from).filter(link => {
      const [file = '', anchor] = link.split('#')
      const to = file === '' ? from : normalize(join(dirname(from), file))
      return !existsSync(to) || (anchor !== undefined && !anchorsOf(to).has(anchor))
    })
  )
  t.deepEqual(dead, [])
})

test('the nginx and Varnish files of demo/deploy expect fingerprints of the right length', t => {
  for (const file of ['nginx/files.conf', 'nginx/proxy.conf', 'varnish/replicas.vcl']) {
    const lengths = read(`demo/deploy/${file}`).match(/(?<=\[0-9a-f\]\{)\d+(?=\})/g) ?? []
    t.deepEqual(lengths.map(Number), [DIGEST_LENGTH])
  }
})

test('every guide can be reached from README by way of docs/README.md', t => {
  const linked = linksOf('docs/README.md').map(link => `docs/${link.split('#')[0]}`)
  const found = new Set(['docs/README.md', ...linked])
  const missing = GUIDES.filter(path => !found.has(path))
  t.deepEqual(missing, [])
  t.true(linksOf('README.md').includes('docs/README.md'))
})

test('the pages have 24,500 words at most, and the decisions 70 kB', t => {
  const { length } = GUIDES.flatMap(path => read(path).match(/\S+/g) ?? [])
  t.true(length > 10_000 && length <= 24_500, String(length))
  const decisions = statSync('docs/decisions.md').size
  t.true(decisions <= 70_000, String(decisions))
})

test('every page says in its first sentence whom it is for', t => {
  for (const path of GUIDES) t.regex(read(path), /^(?:[#!\n].*\n+)*For /, path)
})

test('every page with code has a spec that runs it', t => {
  const specs = readdirSync('spec', { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.spec.ts'))
    .map(path => read(join('spec', path)))
  const withCode = WITH_README.filter(path => blocksOf(read(path)).length > 0)
  t.true(withCode.length > 3)
  const runs = (spec: string, path: string) =>
    spec.includes(`readPage('${path}')`) && spec.includes('blocksLeft(), []')
  const notRun = withCode.filter(path => !specs.some(spec => runs(spec, path)))
  t.deepEqual(notRun, [])
})

test('every code block of a page is fenced at the start of a line, with its language', t => {
  for (const path of WITH_README) {
    const fences = read(path).match(/^.*```.*$/gm) ?? []
    t.is(fences.length, 2 * blocksOf(read(path)).length, path)
    for (const { language, line } of blocksOf(read(path))) t.not(language, '', `${path}:${line}`)
  }
})
