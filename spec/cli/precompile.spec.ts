import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { PrecompileReport } from '../../lib/index.ts'
import { writeFiles } from '../support/site.ts'
import { until } from '../support/until.ts'
import { makeShop, run, start } from './run.ts'

test.serial('precompile prints few lines in a log, then a table of what it did', async t => {
  const root = makeShop(t, {
    'stylesheets/app.css': 'a{}',
    'javascripts/app.js': 'start()',
    'images/logo.png': 'x'.repeat(12_345)
  })
  const first = await run(root, 'precompile')
  t.is(first.status, 0)
  t.is(first.stderr, 'Building 3 assets\nWriting 3 assets\n')
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
})

test.serial(
  'precompile shows what was added, changed and removed since the last build',
  async t => {
    const root = makeShop(t, {
      'a.txt': 'a',
      'b.txt': 'b',
      '/assets.config.mjs': 'export default { sources: [] }'
    })
    await run(root, 'precompile --quiet')
    writeFiles(root, { 'apps/web/assets/a.txt': 'aa', 'apps/web/assets/c.txt': 'c' })
    const same = await run(root, 'precompile')
    t.regex(
      same.stdout,
      /Since the last build: 1 added, 1 changed\n {2}\+ \/assets\/c\.txt\n {2}~ \/assets\/a\.txt\n$/
    )
    t.regex(same.stdout, /\nKept +1 file of the last build\n/)
    const again = await run(root, 'precompile')
    t.regex(again.stdout, /\nNothing changed since the last build\.\n$/)
    t.notRegex(again.stdout, /Kept/)
  }
)

test.serial('precompile --json prints the report and nothing else', async t => {
  const root = makeShop(t, { 'a.txt': 'a', 'b.txt': 'bb' })
  const { status, stdout, stderr } = await run(root, 'precompile --json')
  t.is(status, 0)
  t.is(stderr, '')
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
})

test.serial('precompile --minify minifies and maps stylesheets, as its help states', async t => {
  const root = makeShop(t, { 'stylesheets/app.css': 'a {\n  color: red;\n}\n' })
  t.regex((await run(root, 'precompile --help')).stdout, /--minify +minify CSS and JavaScript/)
  t.is((await run(root, 'precompile --quiet --minify')).status, 0)
  t.regex(readFileSync(join(root, 'public/assets/app.css'), 'utf8'), /^a\{color:red\}\n/)
  t.true(readdirSync(join(root, 'public/assets')).includes('app.css.map'))
})

test.serial('precompile --quiet prints nothing, --verbose a line for each asset', async t => {
  const root = makeShop(t, { 'a.txt': 'a', 'b.txt': 'b' })
  t.deepEqual(await run(root, 'precompile --quiet'), { status: 0, stdout: '', stderr: '' })
  const { stderr } = await run(root, 'precompile --verbose')
  t.deepEqual(stderr.trimEnd().split('\n').toSorted(), [
    'Building /assets/a.txt',
    'Building /assets/b.txt',
    'Writing /assets/a.txt',
    'Writing /assets/b.txt'
  ])
})

test.serial(
  'FPR-10 precompile lists every broken source with its place and lines, and changes nothing',
  async t => {
    const root = makeShop(t, { 'good.txt': 'good' })
    await run(root, 'precompile')
    const before = readFileSync(join(root, 'public/assets.json'), 'utf8')
    const files = readdirSync(join(root, 'public/assets'))
    writeFiles(root, {
      'apps/web/assets/good.txt': 'better',
      'apps/web/assets/javascripts/app.js.ts': 'let fine = 1\nlet = = 2\n',
      'apps/web/assets/stylesheets/app.css.scss': 'a {\n  color: $unknown;\n}\n'
    })
    const { status, stdout, stderr } = await run(root, 'precompile')
    t.is(status, 1)
    t.is(stdout, '')
    t.is(
      stderr,
      `Building 3 assets
apps/web/assets/stylesheets/app.css.scss:2:10: Undefined variable.

    2 |   color: $unknown;
                 ^

apps/web/assets/javascripts/app.js.ts:2:7: Unexpected "="

    2 | let = = 2
              ^

Precompile failed with 2 errors; nothing was published.
`
    )
    t.is(readFileSync(join(root, 'public/assets.json'), 'utf8'), before)
    t.deepEqual(readdirSync(join(root, 'public/assets')), files)
  }
)

test.serial('precompile reports an error in one line, and with DEBUG its stack', async t => {
  const root = makeShop(t, { '/assets.config.json': '{ "fingerprints": true }' })
  const { status, stdout, stderr } = await run(root, 'precompile')
  t.is(status, 1)
  t.is(stdout, '')
  t.is(stderr, "koa-fresh-assets: unknown option 'fingerprints': did you mean 'fingerprint'?\n")
  t.regex((await run(root, 'precompile', { DEBUG: '1' })).stderr, /\n +at /)
})

test.serial(`precompile stops cleanly on SIGINT, and leaves the old manifest`, async t => {
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
  t.is(ended.status, 130)
  t.is(ended.stdout, '')
  t.true(ended.stderr.endsWith(`Stopped by SIGINT; nothing was published.\n`))
  t.is(readFileSync(join(root, 'public/assets.json'), 'utf8'), before)
  t.deepEqual(
    readdirSync(join(root, 'public/assets')).filter(name => name.startsWith('.')),
    []
  )
})

test.serial('a warning is printed once, on stderr', async t => {
  const root = makeShop(t, {
    'app.css': 'a { background: url(nowhere.png) }',
    '/assets.config.json': '{ "missing": "warn" }'
  })
  const { status, stderr } = await run(root, 'precompile')
  t.is(status, 0)
  t.true(
    stderr.includes(
      'warning: apps/web/assets/app.css:1:21 refers to nowhere.png, which was not found\n'
    )
  )
})
