// What `explain` says of a path is what a request for it gets.
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Explanation, Step } from '../../../lib/extras/telling/explain.ts'
import { explain } from './told.ts'
import { type KoaAssetsOptions, precompile } from '../../../lib/index.ts'
import { makeProject, makeSite } from '../../support/site.ts'
import { CODINGS } from '../../support/copies.ts'
import { withDigest } from '../../support/digest.ts'
import { AS_WRITTEN } from '../../support/as-written.ts'

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

const OPTIONS: KoaAssetsOptions = {
  env: 'development',
  serve: true,
  sources: '../../package/assets'
}

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

const BROWSED = '200, after publishing its source'

test('BAS-10 explain takes a URL with base as the request without it', async t => {
  const { ask } = makeExplainer(t)
  const options = { base: '/shop' }
  const explained = await ask('https://example.org/shop/assets/app.css', options)
  t.deepEqual(explained, await ask('/assets/app.css', options))
  t.true(explained.isFound)
  t.is(finding(explained, 'helpers'), 'emit /shop/assets/app.css')
})

test('explain follows a path, a name and a URL from the request to the response', async t => {
  const { root, ask } = makeExplainer(t)
  const explained = await ask('/assets/app.css')
  for (const asked of ['app.css', 'https://example.org/assets/app.css', '/assets/app.css?v=1']) {
    t.deepEqual(await ask(asked), explained)
  }
  t.deepEqual(explained, {
    path: '/assets/app.css',
    verdict: { state: 'unpublished', reason: undefined },
    steps: [
      {
        subject: 'settings',
        finding: 'development; serving is on',
        details: [`root: ${root}`, 'public: public']
      },
      { subject: 'path', finding: '/assets/app.css is canonical', details: [] },
      {
        subject: 'app',
        finding: 'web: compiles on request, plain names',
        details: ['/assets/admin/… belongs to the app admin', '/assets/… belongs to the app web']
      },
      {
        subject: 'sources',
        finding: 'found apps/web/assets/stylesheets/app.css.scss',
        details: ['apps/web/assets: stylesheets/app.css.scss', 'package/assets: no match']
      },
      { subject: 'helpers', finding: 'emit /assets/app.css', details: [] },
      { subject: 'file', finding: 'public/assets/app.css does not exist', details: [] }
    ],
    outcome: BROWSED,
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

test('explain names the candidates of an ambiguous tail, and the losers of a collision', async t => {
  const { root, ask } = makeExplainer(t)
  const ambiguous = await ask('/assets/menu.css')
  const several = `menu.css is ambiguous in ${join(root, 'apps/web/assets')}: use one of stylesheets/panel/menu.css, stylesheets/shop/menu.css`
  t.is(finding(ambiguous, 'sources'), several)
  t.false(ambiguous.isFound)
  const collision = await ask('/assets/logo.png')
  t.is(collision.source, 'apps/web/assets/docs/logo.png')
  t.deepEqual(step(collision, 'sources')?.details, [
    'apps/web/assets: docs/logo.png, images/logo.png',
    'package/assets: no match',
    `several sources in ${join(root, 'apps/web/assets')} are published as logo.png: docs/logo.png, images/logo.png; development uses the first, precompile refuses them: rename or exclude all but one`
  ])
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

test('in production explain names the manifest entry, and every representation with its headers', async t => {
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

test('in production explain reports a missing manifest, wrong bytes, and a link that points outside', async t => {
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
  writeFileSync(join(root, target), 'edited')
  const edited = await ask(`/${target.replace('public/', '')}`, production)
  t.is(finding(edited, 'file'), `${target} does not match its fingerprint, and is not served`)
  const linked = '/assets/package/assets/stylesheets/lib.css'
  symlinkSync(join(root, 'package'), join(root, 'public/assets/package'))
  const led = finding(await ask(linked, production), 'file')
  t.is(led, `public${linked} is a symbolic link that may not be followed (option symlinks)`)
  const unknown = await ask('ap.css', production)
  t.regex(finding(unknown, 'helpers'), /^fail: .*; did you mean 'app\.css'\?$/)
})
