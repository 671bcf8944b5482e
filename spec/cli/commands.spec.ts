import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { Explanation } from '../../lib/assets/inspecting/explain.ts'
import { withFingerprint } from '../../lib/assets/urls/fingerprint.ts'
import { digestOf } from '../../lib/files/digest.ts'
import type { CleanReport, VerifyReport } from '../../lib/index.ts'
import { makeFingerprinted } from '../support/fingerprinted.ts'
import { makeSite } from '../support/site.ts'
import { warningsAbout } from '../support/warnings.ts'
import { makeShop, run } from './run.ts'

const fingerprinted = (name: string, text: string) =>
  withFingerprint(`/assets/${name}`, digestOf(Buffer.from(text)))

test.serial(
  'FPR-16 verify exits with 0, and with 1 after an edit, a deletion, a truncation',
  async t => {
    const root = makeShop(t, { 'a.txt': 'a'.repeat(9), 'b.txt': 'b', 'c.txt': 'c'.repeat(9) })
    const [a, b, c] = [
      fingerprinted('a.txt', 'a'.repeat(9)),
      fingerprinted('b.txt', 'b'),
      fingerprinted('c.txt', 'c'.repeat(9))
    ]
    await run(root, 'precompile --quiet')
    const fine = { status: 0, stdout: '3 assets, no problems\n', stderr: '' }
    t.deepEqual(await run(root, 'verify'), fine)
    writeFileSync(join(root, 'public', a), 'A'.repeat(9))
    rmSync(join(root, 'public', b))
    writeFileSync(join(root, 'public', c), 'c')
    t.deepEqual(await run(root, 'verify'), {
      status: 1,
      stdout: '3 assets, 3 problems\n',
      stderr: [
        `${a} does not match its fingerprint\n`,
        `${b} is missing\n`,
        `${c} has size 1, not 9\n`
      ].join('')
    })
    const json = await run(root, 'verify --json')
    t.is(json.status, 1)
    t.is(json.stderr, '')
    t.is((JSON.parse(json.stdout) as VerifyReport).problems.length, 3)
  }
)

test.serial('FPR-15 clean names what it removes, by --keep and --age', async t => {
  const root = makeShop(t, { 'a.txt': 'now' })
  await run(root, 'precompile --quiet')
  const old = fingerprinted('a.txt', 'old')
  writeFileSync(join(root, 'public', old), 'old')
  t.is((await run(root, 'clean --keep 1')).stdout, '0 files removed, 0 B; 2 kept\n')
  const report = (verb: string) => `${old}\n1 file ${verb}, 3 B; 1 kept\n`
  const dry = await run(root, 'clean --keep 1 --age 0s --dry-run')
  t.deepEqual(dry, { status: 0, stdout: report('would be removed'), stderr: '' })
  t.is((await run(root, 'clean --keep 1 --age 0s')).stdout, report('removed'))
  const { stdout } = await run(root, 'clean --json')
  const nothing = { removed: [], bytes: 0, kept: 1, dryRun: false }
  t.deepEqual(JSON.parse(stdout) as CleanReport, nothing)
})

test.serial(
  'explain prints one step per line, and exits with 1 when the response is not a file',
  async t => {
    const root = makeShop(t, { 'stylesheets/app.css': 'a{}' })
    const env = { SERVE_STATIC_ASSETS: 'true' }
    t.deepEqual(await run(root, 'explain /assets/app.css', env), {
      status: 0,
      stderr: '',
      stdout: `settings  development; serving is on
          root: ${root}
          public: public
path      /assets/app.css is canonical
app       web: compiles on request, plain names
          /assets/… belongs to the app web
sources   found apps/web/assets/stylesheets/app.css
          apps/web/assets: stylesheets/app.css
helpers   emit /assets/app.css
file      public/assets/app.css does not exist
response  200, after publishing its source
`
    })
    const missing = await run(root, 'explain nothing.css --json --env production', env)
    t.is(missing.status, 1)
    const explanation = JSON.parse(missing.stdout) as Explanation
    t.is(explanation.path, '/assets/nothing.css')
    t.is(explanation.steps[0]?.finding, 'production; serving is on')
  }
)

test.serial('list prints every asset, before it is precompiled and after', async t => {
  const root = makeShop(t, { 'stylesheets/app.css': 'a{}', 'b.txt': 'b' })
  const before = await run(root, 'list')
  t.deepEqual(before, {
    status: 0,
    stderr: '',
    stdout: `asset            source                               size  target
/assets/app.css  apps/web/assets/stylesheets/app.css     -  -
/assets/b.txt    apps/web/assets/b.txt                   -  -
`
  })
  await run(root, 'precompile --quiet')
  rmSync(join(root, 'apps/web/assets/b.txt'))
  const { stdout } = await run(root, 'list --json')
  t.deepEqual(JSON.parse(stdout), [
    {
      path: '/assets/app.css',
      source: 'apps/web/assets/stylesheets/app.css',
      target: fingerprinted('app.css', 'a{}'),
      size: 3
    },
    { path: '/assets/b.txt', source: 'b.txt', target: fingerprinted('b.txt', 'b'), size: 1 }
  ])
  t.is((await run(makeShop(t, {}), 'list')).stdout, 'No assets found.\n')
})

test('the command is executable once it is built, and declared in the package', t => {
  const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    bin: Record<string, string>
  }
  t.deepEqual(bin, { 'koa-fresh-assets': './dist/cli.js' })
  t.true(statSync('lib/cli.ts').isFile())
  t.true(readFileSync('lib/cli.ts', 'utf8').startsWith('#!/usr/bin/env node\n'))
})

const ESCAPES = '\u001b]0;owned\u0007\u001b[2J\n\rPublished\u009b31m'
const TURNED = 'images/a\u202egnp.exe'
const UNSAFE = /[\0-\t\v-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

test.serial('S60 list, explain and precompile print names with escapes', async t => {
  const root = makeShop(t, { 'fine.txt': 'fine', [TURNED]: 'x', [`images/${ESCAPES}.png`]: 'x' })
  for (const [line, expected] of [
    ['list', 'images/\\u001b]0;owned\\u0007\\u001b[2J\\u000a\\u000dPublished\\u009b31m.png'],
    ['precompile --verbose', 'Building /assets/a\\u202egnp.exe'],
    [
      'precompile',
      'apps/web/assets/images/\\u001b]0;owned\\u0007\\u001b[2J\\u000a\\u000dPublished'
    ],
    [`explain a\u202egnp.exe`, 'found apps/web/assets/images/a\\u202egnp.exe']
  ] as const) {
    const { stdout, stderr } = await run(root, line)
    t.true(`${stdout}${stderr}`.includes(expected), `${line}: ${stdout}${stderr}`)
    t.notRegex(stdout + stderr, UNSAFE, line)
    t.false(/^\s*Published/m.test(stdout + stderr), line)
  }
})

test.serial('S60 a warning and an error of the running site name files with escapes', async t => {
  const name = `twice\u001b[2J`
  const site = await makeSite(t, { [`a/${name}.txt`]: 'x', [`b/${name}.txt`]: 'y' })
  await site.ask(`/assets/${encodeURIComponent(name)}.txt`)
  await site.ask('/')
  site.write(`css/broken\u001b[2J.css.scss`, 'a {')
  site.write('css/app.css.scss', '@use "broken\u001b[2J.css"')
  await site.ask('/assets/app.css')
  const texts = [...warningsAbout('twice'), ...site.errors.map(error => `${error.stack}`)]
  t.true(texts.length > 0)
  for (const text of texts) t.notRegex(text, UNSAFE, JSON.stringify(text))
  const published = await makeFingerprinted(t, 'precompiled', { 'app.css': 'a{}' })
  writeFileSync(join(published.root, 'public/assets.json'), '{ "\u001b[2J": ')
  const error = await t.throwsAsync(() => published.path('x\u202ey.css'), { code: 'asset-unknown' })
  t.notRegex(error?.message ?? '', UNSAFE)
})
