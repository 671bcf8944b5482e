import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PrecompileReport } from '../../../lib/index.ts'
import { isKnown, makeShop, run, start } from './run.ts'
import { AS_WRITTEN, makeFingerprinted, makeSite, serial as test } from '../../support/index.ts'
import { until, warningsAbout, words, writeFiles } from '../../support/index.ts'

const CONFIG = { '/assets.config.mjs': `export default ${JSON.stringify(AS_WRITTEN)}` }
const ESCAPES = '\u001b]0;owned\u0007\u001b[2J\n\rPublished\u009b31m'
const ESCAPED = 'images/\\u001b]0;owned\\u0007\\u001b[2J\\u000a\\u000dPublished\\u009b31m.png'
const TURNED = 'a\u202egnp.exe'
const UNSAFE =
  /[\0-\t\v-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

test('commands and the types print names with escapes, also as JSON', async t => {
  const named = { [`images/${TURNED}`]: 'x', [`images/${ESCAPES}.png`]: 'x' }
  const root = makeShop(t, { 'fine.txt': 'fine', ...named })
  for (const [line = '', expected = ''] of [
    ['list', ESCAPED],
    [`explain ${TURNED}`, 'found apps/web/assets/images/a\\u202egnp.exe'],
    ['precompile --verbose', 'Building /assets/a\\u202egnp.exe'],
    ['precompile', `apps/web/assets/${ESCAPED}`],
    ...words('verify clean types').map(line => [line])
  ].filter(([line = '']) => isKnown(line))) {
    for (const command of [line, `${line} --json`]) {
      const { stdout, stderr } = await run(root, command)
      const told = stdout + stderr
      t.notRegex(told, UNSAFE, command)
      if (command === line) t.true(told.includes(expected), `${command}: ${told}`)
      t.false(/^\s*Published/m.test(told), command)
      if (command !== 'list --json') continue
      const { path } = (JSON.parse(stdout) as Record<string, string>[]).find(
        ({ source }) => source === `apps/web/assets/images/${TURNED}`
      )!
      t.is(path, `/assets/${encodeURIComponent(TURNED)}`)
    }
  }
  const types = join(root, 'assets.d.ts')
  t.is(existsSync(types), isKnown('types'))
  if (existsSync(types)) t.notRegex(readFileSync(types, 'utf8'), UNSAFE)
})

test('a warning and an error of the running site name files with escapes', async t => {
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

test('precompile prints a summary of what it built and what changed since the last build', async t => {
  const root = makeShop(t, {
    'stylesheets/app.css': 'a{}',
    'javascripts/app.js': 'start()',
    'images/logo.png': 'x'.repeat(12_345),
    ...CONFIG
  })
  const first = await run(root, 'precompile')
  t.like(first, { status: 0, stderr: 'Building 3 assets\nWriting 3 assets\n' })
  t.is(
    first.stdout.replace(/\d+\.\d+ s/, '0.12 s'),
    `Assets      3
Bytes       12.4 kB
Compressed  12.4 kB
Time        0.12 s
Manifest    public/assets.json

Largest
  12.3 kB  /assets/logo.png
      7 B  /assets/app.js
      3 B  /assets/app.css

Since the last build: 3 added
  + /assets/app.css
  + /assets/app.js
  + /assets/logo.png
`
  )
  writeFiles(root, { 'apps/web/assets/stylesheets/app.css': 'b{}', 'apps/web/assets/c.txt': 'c' })
  const { stdout } = await run(root, 'precompile')
  const changes = '1 added, 1 changed\n  + /assets/c.txt\n  ~ /assets/app.css\n'
  t.true(stdout.endsWith(`last build: ${changes}`))
  t.regex(stdout, /\nKept +1 file of the last build\n/)
  const again = await run(root, 'precompile')
  t.regex(again.stdout, /\nNothing changed since the last build\.\n$/)
  t.notRegex(again.stdout, /Kept/)
})

test('precompile --json prints only the report, --quiet nothing, --verbose lines for each asset', async t => {
  const root = makeShop(t, { 'a.txt': 'a', 'b.txt': 'bb', ...CONFIG })
  const { status, stdout, stderr } = await run(root, 'precompile --json')
  t.deepEqual([status, stderr], [0, ''])
  const { seconds, ...report } = JSON.parse(stdout) as PrecompileReport
  t.true(seconds > 0)
  t.deepEqual(report, {
    manifest: join(root, 'public/assets.json'),
    assets: 2,
    bytes: 3,
    compressedBytes: 3,
    largest: [
      { path: '/assets/b.txt', size: 2 },
      { path: '/assets/a.txt', size: 1 }
    ],
    changes: { added: ['/assets/a.txt', '/assets/b.txt'], changed: [], removed: [] },
    kept: 0
  })
  t.deepEqual(await run(root, 'precompile --quiet'), { status: 0, stdout: '', stderr: '' })
  const verbose = await run(root, 'precompile --verbose')
  const told = verbose.stderr.trimEnd().split('\n').toSorted()
  const [a, b] = ['/assets/a.txt', '/assets/b.txt']
  t.deepEqual(told, [`Building ${a}`, `Building ${b}`, `Writing ${a}`, `Writing ${b}`])
})

test('precompile lists every broken source once, with its place and lines', async t => {
  const root = makeShop(t, {
    '/assets.config.json': '{ "sources": "../../shared" }',
    '/shared/of-both.css.scss': '@use "gone";',
    '/apps/admin/assets/good.txt': 'good',
    'javascripts/app.js.ts': 'let fine = 1\nlet = = 2\n',
    'stylesheets/app.css.scss': 'a {\n  color: $unknown;\n}\n'
  })
  t.deepEqual(await run(root, 'precompile'), {
    status: 1,
    stdout: '',
    stderr: `Building 5 assets
shared/of-both.css.scss:1:1: Can't find stylesheet to import.

    1 | @use "gone";
        ^

apps/web/assets/stylesheets/app.css.scss:2:10: Undefined variable.

    2 |   color: $unknown;
                 ^

apps/web/assets/javascripts/app.js.ts:2:7: Unexpected "="

    2 | let = = 2
              ^

Precompile failed with 3 errors; nothing was published.
See node_modules/koa-fresh-assets/docs/errors.md#compile-failed
`
  })
})

test('precompile reports an error in one line, unless DEBUG asks for the stack', async t => {
  const root = makeShop(t, { '/assets.config.json': '{ "fingerprints": true }' })
  const stderr = "koa-fresh-assets: unknown option 'fingerprints': did you mean 'fingerprint'?\n"
  t.deepEqual(await run(root, 'precompile'), { status: 1, stdout: '', stderr })
  t.regex((await run(root, 'precompile', { DEBUG: '1' })).stderr, /\n +at /)
})

test('a reader that closes the pipe early, as head does, is no error of a command', async t => {
  const { child, outcome } = start(makeShop(t, {}), ['--help'])
  child.stdout?.destroy()
  t.deepEqual(await outcome, { status: 0, stdout: '', stderr: '' })
})

test('precompile that does not stop on SIGTERM ends on SIGINT', async t => {
  const root = makeShop(t, {
    'a.txt.slow': 'a',
    '/assets.config.mjs': `export default { compilers: [{
        extensions: '.slow',
        target: '.txt',
        compile: () => new Promise(() => {
          setInterval(() => {}, 1000)
          process.once('SIGTERM', () => process.stderr.write('told'))
          process.stderr.write('at work')
        })
      }] }`
  })
  const { child, heard } = start(root, ['precompile'])
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  await until(() => heard().includes('at work'), 'the compiler is at work')
  child.kill('SIGTERM')
  await until(() => heard().includes('told'), 'it was told')
  child.kill('SIGINT')
  t.deepEqual(await ended, [null, 'SIGINT'])
})

test('precompile that is stopped by SIGINT publishes nothing', async t => {
  const root = makeShop(t, {
    'a.txt': 'a',
    '/assets.config.mjs': `export default { compilers: [{
        extensions: '.slow',
        target: '.txt',
        compile: async () => {
          process.stderr.write('at work')
          // A signal alone does not keep a process alive.
          const alive = setInterval(() => {}, 1000)
          await new Promise(resolve => process.once('SIGINT', resolve))
          clearInterval(alive)
          return { code: 'done' }
        }
      }] }`
  })
  await run(root, 'precompile')
  const before = readFileSync(join(root, 'public/assets.json'), 'utf8')
  writeFiles(root, { 'apps/web/assets/a.txt': 'b', 'apps/web/assets/b.txt.slow': 'b' })
  const { child, heard, outcome } = start(root, ['precompile'])
  t.teardown(() => child.kill('SIGKILL'))
  await until(() => heard().includes('at work'), 'the compiler is at work')
  child.kill('SIGINT')
  const ended = await outcome
  t.like(ended, { status: 130, stdout: '' })
  t.true(ended.stderr.endsWith('Stopped by SIGINT; nothing was published.\n'))
  t.is(readFileSync(join(root, 'public/assets.json'), 'utf8'), before)
  t.false(readdirSync(join(root, 'public/assets')).some(name => name.startsWith('.')))
})
