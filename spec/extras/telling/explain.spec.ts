// What `explain` says of a path is what a request for it gets.
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settleProject } from '../../../lib/runtime/app/extras.ts'
import type { Step } from '../../../lib/extras/telling/explain.ts'
import { overview, printOverview } from '../../../lib/extras/telling/overview.ts'
import { type KoaAssetsOptions, precompile } from '../../../lib/index.ts'
import { makeShop, run } from '../../publishing/cli/run.ts'
import { AS_WRITTEN, CODINGS, makeProject, makeSite, test } from '../../support/index.ts'
import { withDigest, type ExecutionContext } from '../../support/index.ts'
import { pkg } from '../modules/package-files.ts'
import { explain, type Explanation } from './told.ts'

const FILES = {
  'apps/web/assets/stylesheets/app.css.scss': 'a { color: red; }',
  'apps/web/assets/stylesheets/_part.scss': '',
  'apps/web/assets/stylesheets/panel/menu.css': 'b{}',
  'apps/web/assets/stylesheets/shop/menu.css': 'c{}',
  'apps/web/assets/docs/logo.png': 'one',
  'apps/web/assets/images/logo.png': 'two',
  'apps/admin/assets/stylesheets/app.css': 'd{}',
  'package/assets/stylesheets/lib.css': 'e{}',
  'public/robots.txt': 'robots'
}

const OPTIONS = { env: 'development', serve: true, sources: '../../package/assets' }

function makeExplainer(t: ExecutionContext) {
  const root = makeProject(t, FILES)
  const ask = (asked: string, options: KoaAssetsOptions = {}) =>
    explain(asked, { ...OPTIONS, root, ...options })
  return { root, ask }
}

const step = ({ steps }: Explanation, subject: Step['subject']): Step | undefined =>
  steps.find(one => one.subject === subject)

const finding = (explanation: Explanation, subject: Step['subject']): string =>
  step(explanation, subject)?.finding ?? ''

test('explain understands the URLs of a site with base and host', async t => {
  const { ask } = makeExplainer(t)
  const options = { base: '/shop', host: 'https://cdn.example' }
  const explained = await ask('https://example.org/shop/assets/app.css', options)
  t.deepEqual(explained, await ask('/assets/app.css', options))
  t.true(explained.isFound)
  t.is(finding(explained, 'helpers'), 'emit /shop/assets/app.css')
  const shown = 'host: https://cdn.example, in front of every URL that helpers emit'
  t.true(step(explained, 'settings')?.details.includes(shown))
})

test('explain follows a path, a name and a URL from the request to the response', async t => {
  const { root, ask } = makeExplainer(t)
  const explained = await ask('/assets/app.css')
  for (const asked of ['app.css', 'https://example.org/assets/app.css', '/assets/app.css?v=1'])
    t.deepEqual(await ask(asked), explained)
  const { steps, ...rest } = explained
  const lines = steps.flatMap(each => [`${each.subject}: ${each.finding}`, ...each.details])
  t.is(
    lines.join('\n'),
    `settings: development; serving is on
root: ${root}
public: public
path: /assets/app.css is canonical
app: web: compiles on request, plain names
/assets/admin/… belongs to the app admin
/assets/… belongs to the app web
sources: found apps/web/assets/stylesheets/app.css.scss
apps/web/assets: stylesheets/app.css.scss
package/assets: no match
helpers: emit /assets/app.css
file: public/assets/app.css does not exist`
  )
  t.deepEqual(rest, {
    path: '/assets/app.css',
    verdict: { state: 'unpublished', reason: undefined },
    outcome: '200, after publishing its source',
    isFound: true,
    source: 'apps/web/assets/stylesheets/app.css.scss',
    representations: []
  })
})

const AMBIGUOUS = 'it contains a backslash, a colon, a control character or an encoded slash'

test('explain shows why a path is not an asset path', async t => {
  const { ask } = makeExplainer(t)
  for (const [path, reason] of [
    ['/assets/%61pp.css', 'it percent-encodes a character that needs no encoding'],
    ['/assets//app.css', 'it has an empty segment'],
    ['/assets/../app.css', 'it has a segment that starts with a dot'],
    ['/assets/.env', 'it has a segment that starts with a dot'],
    ['/assets/a%5Cb.css', AMBIGUOUS],
    ['/assets/a%2Fb.css', AMBIGUOUS],
    ['/assets/é.css', 'it contains a character that must be percent-encoded'],
    ['/assets/aux.css', 'Windows interprets one of its segments as another name'],
    ['/assets.json', 'the manifest is never served']
  ] as const) {
    const explanation = await ask(path)
    t.is(finding(explanation, 'path'), `${path} is not an asset path: ${reason}`)
    t.is(explanation.outcome, 'passed to the next middleware')
    t.false(explanation.isFound)
  }
  t.is((await ask('/assets/%zz.css')).outcome, '400 Bad Request: the path cannot be decoded')
})

test('explain gives advice about a name that has no source', async t => {
  const { ask } = makeExplainer(t)
  const source = 'stylesheets/app.css.scss'
  const noTails = 'tails: false disables other names'
  for (const [asked, advice, options] of [
    ['app.css.scss', `${source} is a source; it is published as app.css`],
    ['_part.scss', 'a Sass or Less partial is not published'],
    ['_part.css', 'a Sass or Less partial is not published'],
    ['apq.css', "did you mean 'app.css'?"],
    ['mine', 'the import map has it, for app.css', { imports: { mine: 'app.css' } }],
    ['stylesheets/app.css', `${source} is published as app.css; ${noTails}`, { tails: false }]
  ] as const) {
    const explanation = await ask(asked, options)
    t.is(finding(explanation, 'sources'), `no source is published as ${asked}`)
    t.is(step(explanation, 'sources')?.details.at(-1), advice)
    t.is(explanation.outcome, 'passed to the next middleware; a 404 gets Cache-Control: no-store')
    t.false(explanation.isFound)
  }
})

test('in production explain names every representation with its headers', async t => {
  const root = makeProject(t, { 'apps/web/assets/app.css': 'body { color: red }\n'.repeat(100) })
  const options = { root, env: 'production', serve: true }
  await precompile({ ...options, ...AS_WRITTEN })
  const plain = await explain('app.css', options)
  const [, target = ''] = /^emit (.*)$/.exec(finding(plain, 'helpers')) ?? []
  t.regex(target, withDigest(/^\/assets\/app-DIGEST\.css$/))
  t.is(finding(plain, 'app'), 'web: does not compile on request, fingerprinted names')

  const fingerprinted = await explain(target, options)
  t.is(fingerprinted.source, 'apps/web/assets/app.css')
  t.is(fingerprinted.outcome, '200, the file in public')
  t.deepEqual(fingerprinted.representations.map(({ coding }) => coding).toSorted(), CODINGS)

  const site = await makeSite(t, {}, options)
  for (const { coding, headers } of fingerprinted.representations) {
    const response = await site.ask(target, { headers: { 'Accept-Encoding': coding } })
    const { date: _, connection: __, 'keep-alive': ___, ...sent } = response.headers
    const lowerCase = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
    t.deepEqual(sent, Object.fromEntries(lowerCase))
  }
})

test('in production explain reports a missing manifest, wrong bytes, and a link outside', async t => {
  const { root, ask } = makeExplainer(t)
  const production = { env: 'production' }
  const unpublished = await ask('app.css', production)
  const missing = `there is no manifest ${join(root, 'public/assets.json')}: run npx koa-fresh-assets precompile`
  t.is(finding(unpublished, 'helpers'), `fail: ${missing}`)
  t.false(unpublished.isFound)
  rmSync(join(root, 'apps/web/assets/docs/logo.png'))
  await precompile({ ...OPTIONS, root })
  const emitted = finding(await ask('app.css', production), 'helpers')
  const target = emitted.replace('emit /assets/', 'public/assets/')
  const helpers = async (asked: string) => step(await ask(asked, production), 'helpers')?.details
  t.deepEqual(await helpers('app.css'), [])
  writeFileSync(join(root, target), 'edited')
  const wrong = `${target} does not match its fingerprint, and is not served`
  t.deepEqual(await helpers('app.css'), [wrong])
  const edited = await ask(`/${target.replace('public/', '')}`, production)
  t.deepEqual(step(edited, 'helpers')?.details, [])
  t.is(finding(edited, 'file'), wrong)
  rmSync(join(root, target))
  t.false((await ask(`/${target.replace('public/', '')}`, production)).isFound)
  const linked = '/assets/package/assets/stylesheets/lib.css'
  symlinkSync(join(root, 'package'), join(root, 'public/assets/package'))
  const led = finding(await ask(linked, production), 'file')
  t.is(led, `public${linked} is a symbolic link that may not be followed (option symlinks)`)
  const unknown = await ask('ap.css', production)
  t.regex(finding(unknown, 'helpers'), /^fail: .*; did you mean 'app\.css'\?$/)
})

test('explain says that a mount of public leaves what is below the prefix to the apps', async t => {
  const root = makeProject(t, { 'public/index.html': '', 'assets/stylesheets/site.css': 'p{}' })
  const explained = await explain('/assets/site.css', { root, mounts: { '/': 'public' } })
  const mounts = step(explained, 'mounts')
  t.is(mounts?.finding, 'none has this path')
  t.deepEqual(mounts?.details, ['/…: public, except /assets/…, which the apps publish'])
})

test('explain says so when no mount has a path that is in public', async t => {
  const root = makeProject(t, { 'public/robots.txt': '', 'dist/app.js': '' })
  const mounts = { '/static': 'dist' }
  const options = { root, serve: true, apps: false, mounts, public: false } as const
  const { steps, outcome } = await explain('/robots.txt', options)
  t.is(outcome, 'passed to the next middleware')
  const findings = steps.map(({ subject, finding }) => `${subject}: ${finding}`)
  t.deepEqual(findings.slice(2), ['mounts: none has this path', 'file: no mount has /robots.txt'])
  const none = await explain('/static/none.js', { ...options, public: 'public' })
  const missing = 'no mount has /static/none.js, and public/static/none.js does not exist'
  t.is(finding(none, 'file'), missing)
  t.is(finding(await explain('/static/app.js', options), 'mounts'), 'the mount /static')
})

const PROJECT = {
  'apps/web/assets/css/app.css': 'a{}',
  'apps/admin/assets/css/app.css': 'a{}',
  'lib/assets/a.css': 'a{}',
  'dist/index.html': ''
}

test('the overview at start names all that is served: apps, their directories, packages and mounts', t => {
  const root = makeProject(t, PROJECT)
  const apps = { web: {}, admin: { sources: '../../lib/assets' } }
  const options = { root, apps, mounts: { '/docs': 'dist' }, serve: true, live: false }
  t.is(
    overview(settleProject(options), 'development'),
    `koa-fresh-assets: development, in ${root}
  /assets/admin/…  apps/admin/assets, lib/assets
  /assets/…        apps/web/assets
  /docs/…          dist
  This process serves them, and everything in public.`
  )
  const packages = ['tip', { '@fonts/inter': ['400.css'] }, { tip: ['more.js'] }]
  const built = overview(settleProject({ root, apps: { web: { packages } } }, {}), '')
  t.regex(built, /^  \/assets\/… +apps\/web\/assets, npm: tip, @fonts\/inter$/m, 'each once')
  const silent = overview(settleProject({ root, env: 'development', prefix: '/d\u00e4ta' }, {}), '')
  t.regex(silent, /^  \/däta\/admin\/…  apps\/admin\/assets$/m)
  t.regex(silent, /^  .* not serve them \(serve is off\): a front web server must serve public\.$/m)
  const none = overview(settleProject({ root, mounts: { '/uploads': 'a\u001b[2J\n' } }, {}), '')
  t.regex(none, /^  \/uploads\/… +a\\u001b\[2J\\u000a, which does not exist yet$/m)
  const only = { root, apps: false, public: false, mounts: { '/docs': 'dist' } } as const
  const lastOf = (serve: boolean) =>
    overview(settleProject({ ...only, serve, live: false }, {}), '')
      .split('\n')
      .at(-1)
  t.is(lastOf(true), '  This process serves them, and nothing else.')
  t.regex(lastOf(false) ?? '', /\(serve is off\): a front web server must do so\.$/)
})

async function printedBy(all: readonly KoaAssetsOptions[], processEnv: NodeJS.ProcessEnv = {}) {
  const printed: string[] = []
  for (const options of all) {
    const settings = settleProject({ serve: true, ...options }, processEnv)
    await printOverview({ settings }, processEnv, text => printed.push(text))
  }
  return printed.map(block => block.split('\n')[0])
}

test('the overview is printed once for each configuration, with the reason for development', async t => {
  const root = makeProject(t, PROJECT)
  const heading = `koa-fresh-assets: development, as NODE_ENV is not set, in ${root}`
  t.deepEqual(await printedBy([{ root }, { root }, { root, prefix: '/a' }]), [heading, heading])
  const named = `koa-fresh-assets: development, in ${root}`
  t.deepEqual(await printedBy([{ root }], { NODE_ENV: 'development' }), [named])
})

test('no overview is printed in tests, in production or with live: false', async t => {
  const root = makeProject(t, PROJECT)
  for (const [options, processEnv] of [
    [{ env: 'development' }, { NODE_ENV: 'test' }],
    [{}, { NODE_TEST_CONTEXT: 'child-v8' }],
    [{ fingerprint: false }, { NODE_ENV: 'production' }],
    [{ live: false }, {}]
  ] as const) {
    t.deepEqual(await printedBy([{ root, ...options }], processEnv), [])
  }
})

test.serial(
  'list and explain still tell of a precompile whose packages and sources are gone',
  async t => {
    const root = makeShop(t, {
      'css/app.css': 'a{}',
      '/assets.config.json': JSON.stringify({ packages: [{ tip: 'dist/tip.css' }] }),
      ...pkg('tip', {}, { 'dist/tip.css': 'b{}' })
    })
    await run(root, 'precompile')
    for (const path of ['apps', 'node_modules/tip']) rmSync(join(root, path), { recursive: true })
    const absent = 'the option packages names the package tip, which is not installed'
    const explained = await run(root, 'explain npm/tip/dist/tip.css --env production')
    t.is(explained.status, 0, explained.stderr)
    t.true(explained.stdout.includes(absent))
    t.regex(explained.stdout, /^helpers +emit \/assets\/npm\/tip\/dist\/tip-\w+\.css$/m)
    const listed = await run(root, 'list')
    t.is(listed.status, 0, listed.stderr)
    t.regex(listed.stdout, /^\/assets\/npm\/tip\/dist\/tip\.css /m)
    rmSync(join(root, 'public'), { recursive: true })
    t.true((await run(root, 'list')).stderr.includes(absent))
  }
)

test('explain knows a file of a package that a stylesheet refers to, before anything is rendered', async t => {
  const root = makeProject(t, {
    'package.json': '{ "dependencies": { "kit": "1" } }',
    'apps/web/assets/css/app.css': "@import 'kit';",
    'node_modules/kit/package.json': '{ "style": "a.css" }',
    'node_modules/kit/a.css': '.a { src: url(f.woff2) }',
    'node_modules/kit/f.woff2': 'font',
    'node_modules/kit/other.woff2': 'font'
  })
  for (const env of ['development', 'production']) {
    for (const name of ['a.css', 'f.woff2']) {
      const { source } = await explain(`npm/kit/${name}`, { root, env, compile: true })
      t.is(source, `node_modules/kit/${name}`)
    }
    t.is((await explain('npm/kit/other.woff2', { root, env, compile: true })).source, undefined)
  }
})
