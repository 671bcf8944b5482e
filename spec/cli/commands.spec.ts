import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import type { Explanation } from '../../lib/assets/inspecting/explain.ts'
import { withFingerprint } from '../../lib/assets/urls/fingerprint.ts'
import { digestOf } from '../../lib/files/digest.ts'
import type {
  CleanReport,
  CompressReport,
  KeepReport,
  PrecompileReport,
  VerifyCopiesReport,
  VerifyReport
} from '../../lib/index.ts'
import { WRITABLE_CODINGS } from '../support/copies.ts'
import { makeFingerprinted } from '../support/fingerprinted.ts'
import { type Files, makeProject, makeSite, writeFiles } from '../support/site.ts'
import { until } from '../support/until.ts'
import { warningsAbout } from '../support/warnings.ts'
import { makeShop, run, start, startNode } from './run.ts'

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
        `${b} is missing: copy it again, or run npx koa-fresh-assets precompile\n`,
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

test.serial(
  'list prints every asset, before it is precompiled, which it then advises, and after',
  async t => {
    const root = makeShop(t, {
      'stylesheets/app.css': 'a{}',
      'b.txt': 'b',
      '/assets.config.mjs': 'export default { minify: false }'
    })
    const before = await run(root, 'list')
    t.deepEqual(before, {
      status: 0,
      stderr: '',
      stdout: `asset            source                               size  target
/assets/app.css  apps/web/assets/stylesheets/app.css     -  -
/assets/b.txt    apps/web/assets/b.txt                   -  -

None of them is precompiled: run npx koa-fresh-assets precompile
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
    writeFiles(root, { 'apps/web/assets/stylesheets/app.css': 'a {\n  color: red;\n}\n' })
    await run(root, 'precompile --quiet --minify')
    t.regex(
      (await run(root, 'list')).stdout,
      /^\S+app\.css\.map +apps\/web\/assets\/stylesheets\/app\.css /m
    )
  }
)

const BUNDLE = {
  'src/main.js': {
    file: 'main-a1.js',
    isEntry: true,
    imports: ['_shared.js'],
    css: ['main.css'],
    dynamicImports: ['src/lazy.js']
  },
  'src/admin.js': { file: 'admin-b2.js', isEntry: true, imports: ['_shared.js'] },
  '_shared.js': { file: 'shared-c3.js' },
  'src/lazy.js': { file: 'lazy-d4.js' }
}
const MOUNTED = {
  '/assets.config.json': JSON.stringify({
    apps: false,
    mounts: { '/static': { dir: 'dist', manifest: 'dist/list.json' }, '/up': 'uploads' }
  }),
  '/dist/list.json': JSON.stringify(BUNDLE),
  '/dist/main-a1.js': 'main()',
  '/dist/main-a1.js.gz': gzipSync('main()'),
  '/dist/main.css': 'a{}',
  '/dist/admin-b2.js': 'admin()',
  '/dist/shared-c3.js': 'shared()',
  '/dist/lazy-d4.js': 'lazy()'
}

test.serial('BND-17 a project with only mounts lists and verifies its bundles', async t => {
  const root = makeShop(t, MOUNTED)
  t.deepEqual(await run(root, 'verify'), {
    status: 0,
    stdout: '5 files of bundles, 1 copy in mounts, no problems\n',
    stderr: ''
  })
  rmSync(join(root, 'dist/lazy-d4.js'))
  writeFileSync(join(root, 'dist/main-a1.js.gz'), gzipSync('other()'))
  t.deepEqual(await run(root, 'verify'), {
    status: 1,
    stdout: '5 files of bundles, 1 copy in mounts, 2 problems\n',
    stderr:
      '/static/lazy-d4.js is missing, and dist/list.json names it\n' +
      '/static/main-a1.js.gz does not decompress to the original\n'
  })
  t.deepEqual(await run(root, 'list'), {
    status: 0,
    stderr: '',
    stdout: `mount    directory  manifest
/static  dist       dist/list.json
/up      uploads    -

file                  source           size  br  zstd  gzip  entries
/static/admin-b2.js   src/admin.js      7 B   -     -     -  src/admin.js
/static/lazy-d4.js    src/lazy.js   missing   -     -     -  (src/main.js)
/static/main-a1.js    src/main.js       6 B   -     -  27 B  src/main.js
/static/main.css      -                 3 B   -     -     -  src/main.js
/static/shared-c3.js  _shared.js        8 B   -     -     -  src/main.js, src/admin.js
`
  })
  const listed = JSON.parse((await run(root, 'list --json')).stdout) as object[]
  t.is(listed.length, 7)
  t.deepEqual(listed.slice(0, 2), [
    {
      path: '/static',
      source: 'dist',
      target: '/static',
      mount: '/static',
      directory: 'dist',
      manifest: 'dist/list.json'
    },
    {
      path: '/static/admin-b2.js',
      source: 'src/admin.js',
      entries: ['src/admin.js'],
      usedBy: [],
      sizes: { identity: 7 },
      target: '/static/admin-b2.js',
      size: 7,
      mount: '/static',
      isMissing: false
    }
  ])
  rmSync(join(root, 'dist/list.json'))
  const { status, stderr } = await run(root, 'verify')
  t.is(status, 1)
  t.regex(stderr, /^\/static has no bundle: there is no .*dist\/list\.json: build first\n/)
  t.regex((await run(root, 'list')).stdout, /there is no .*list\.json: build first\n/)
  rmSync(join(root, 'dist'), { recursive: true })
  t.is((await run(root, 'verify')).status, 1, 'nothing was built')
})

test.serial('BND-17 precompile of a project with only mounts says so, and succeeds', async t => {
  const root = makeShop(t, MOUNTED)
  t.deepEqual(await run(root, 'precompile'), {
    status: 0,
    stdout: 'Nothing to compile: this project has no assets of its own.\n',
    stderr: ''
  })
  const { stdout } = await run(root, 'precompile --json')
  t.is((JSON.parse(stdout) as PrecompileReport).assets, 0)
  t.false(existsSync(join(root, 'public')))
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

test.serial('precompile prints few lines in a log, then a table of what it did', async t => {
  const root = makeShop(t, {
    'stylesheets/app.css': 'a{}',
    'javascripts/app.js': 'start()',
    'images/logo.png': 'x'.repeat(12_345),
    '/assets.config.mjs': 'export default { minify: false }'
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
    kept: 0,
    minified: { files: 0, bytes: 0, insteadOf: 0 }
  })
})

test.serial('precompile --minify minifies and maps stylesheets, as its help states', async t => {
  const root = makeShop(t, { 'stylesheets/app.css': 'a {\n  color: red;\n}\n' })
  t.regex(
    (await run(root, 'precompile --help')).stdout,
    /--minify +fail unless CSS and JavaScript can be minified/
  )
  t.is((await run(root, 'precompile --quiet --minify')).status, 0)
  t.regex(readFileSync(join(root, 'public/assets/app.css'), 'utf8'), /^a\{color:red\}\n/)
  t.true(readdirSync(join(root, 'public/assets')).includes('app.css.map'))
  t.regex((await run(root, 'precompile')).stdout, /^Minified +1 file, 13 B instead of 20 B$/m)
})

test.serial(
  'VEW-01 verify --views names file, line and the nearest name, with exit status 1',
  async t => {
    const root = makeShop(t, {
      'app.css': 'a{}',
      '/views/a.ejs': "<%- assets.stylesheet('app') %>\n<%- assets.stylesheet('apq') %>"
    })
    const { status, stdout, stderr } = await run(root, 'verify --views views/**/*.ejs')
    t.deepEqual([status, stdout], [1, '2 names in 1 view, 1 problem\n'])
    t.is(stderr, "views/a.ejs:2 'apq.css' is not an asset; did you mean 'app.css'?\n")
    const report = await run(root, 'verify --views views/*.ejs --json')
    t.like(JSON.parse(report.stdout), { files: 1, problems: [{ name: 'apq', near: 'app.css' }] })
    writeFiles(root, { 'views/a.ejs': "<%- assets.stylesheet('app') %>" })
    t.like(await run(root, 'verify --views views/**/*.ejs'), { status: 0, stderr: '' })
    t.is((await run(root, 'verify --views views/*.njk')).status, 2)
    t.is((await run(root, 'verify --views views/a.ejs views/b.ejs')).status, 2)
    const without = await run(root, 'verify --views')
    t.is(without.status, 2)
    t.regex(without.stderr, /--views requires a glob, or the option views/)
    const forgotten = await run(root, 'verify views/**/*.ejs')
    t.is(forgotten.status, 2)
    t.regex(forgotten.stderr, /is a glob: for views, write --views 'views\/\*\*\/\*\.ejs'/)
  }
)

test.serial(
  'VEW-01 verify --views checks the entries of importMap, and names of helpers',
  async t => {
    const lines: readonly (readonly [line: string, problem?: string])[] = [
      ["assets.importMap({ entry: 'shpo' })", "'shpo.js' is not an asset; did you mean 'shop.js'?"],
      [
        "importMap({ nonce, entry: 'shpo.js' })",
        "'shpo.js' is not an asset; did you mean 'shop.js'?"
      ],
      [
        "importMap({ entry: ['shop', 'chart.js', `crat`], nonce: 'x' })",
        "'crat.js' is not an asset; did you mean 'chart.js'?"
      ],
      ["importMap({ nonce: 'shpo' })"],
      ["importMap({ entry: name, imports: { a: 'shpo' } })"],
      ["assets.stylesheeet('app')", "'stylesheeet' is not a helper; did you mean 'stylesheet'?"],
      ["assets.app('web').pth('app.css')", "'pth' is not a helper; did you mean 'path'?"],
      ["assets.app('web').path('app.css')"],
      ["assets.push('app')"],
      ["shop.stylesheeet('app')"]
    ]
    const root = makeShop(t, {
      'app.css': 'a{}',
      'shop.js': '',
      'chart.js': '',
      '/views/a.ejs': lines.map(([line]) => `<%- ${line} %>`).join('\n')
    })
    const { status, stderr } = await run(root, 'verify --views views/*.ejs')
    t.is(status, 1)
    const expected = lines.flatMap(([, problem], at) =>
      problem ? `views/a.ejs:${at + 1} ${problem}\n` : []
    )
    t.is(stderr, expected.join(''))
  }
)

test.serial(
  'VEW-01 the option views: precompile warns about such names, and verify fails',
  async t => {
    const root = makeShop(t, {
      'app.css': 'a{}',
      '/views/a.ejs': "<%- assets.stylesheet('apq') %>",
      '/assets.config.mjs': "export default { views: 'views/**/*.ejs', minify: false }"
    })
    const message = "views/a.ejs:1 'apq.css' is not an asset; did you mean 'app.css'?"
    const { status, stderr } = await run(root, 'precompile')
    t.is(status, 0)
    t.true(stderr.endsWith(`warning: ${message}\n`), stderr)
    t.is((await run(root, 'verify --views')).stderr, `${message}\n`)
    const verified = await run(root, 'verify')
    t.deepEqual(verified, {
      status: 1,
      stdout: '1 asset, 1 name in 1 view, 1 problem\n',
      stderr: `${message}\n`
    })
  }
)

test.serial(
  'without esbuild precompile says that nothing was minified; with --minify it is an error',
  async t => {
    const root = makeShop(t, { 'app.css': 'a {\n  color: red;\n}\n' })
    cpSync('dist', join(root, 'node_modules/koa-fresh-assets/dist'), { recursive: true })
    cpSync('package.json', join(root, 'node_modules/koa-fresh-assets/package.json'))
    for (const name of readdirSync('node_modules')) {
      if (name === 'esbuild' || name === '.cache') continue
      symlinkSync(join(process.cwd(), 'node_modules', name), join(root, 'node_modules', name))
    }
    const cli = join(root, 'node_modules/koa-fresh-assets/dist/cli.js')
    const reason = 'minifying needs esbuild, which is not installed: npm install --save-dev esbuild'
    const { status, stdout } = await startNode(root, [cli, 'precompile'], {}).outcome
    t.is(status, 0)
    t.true(stdout.includes(`Minified    nothing: ${reason}`), stdout)
    const asked = await startNode(root, [cli, 'precompile', '--minify'], {}).outcome
    t.deepEqual([asked.status, asked.stderr], [1, `koa-fresh-assets: ${reason}\n`])
  }
)

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

const CSS = readFileSync('node_modules/bootstrap/dist/css/bootstrap.css').subarray(0, 10_000)
const JS = readFileSync('node_modules/bootstrap/dist/js/bootstrap.js').subarray(0, 50_000)
const TEXT = 'body { color: red }\n'.repeat(200)
const HAS_ZSTD = WRITABLE_CODINGS.some(({ name }) => name === 'zstd')
const withoutTime = (text: string) => text.replace(/\d+\.\d+ s/, '0.12 s')

test.serial(
  'compress prints a line in a log, then a table, and what this Node cannot write',
  async t => {
    const root = makeProject(t, { 'dist/a.css': TEXT, 'dist/b/c.js': TEXT, 'dist/photo.png': '' })
    const { status, stdout, stderr } = await run(root, 'compress dist')
    t.is(status, 0)
    t.is(stderr, 'Compressing 2 files\n')
    const sizes = (extension: string) => {
      const bytes = readFileSync(join(root, `dist/a.css${extension}`)).length * 2
      return `     2  8.0 kB  ${String(bytes).padStart(3)} B        2        0`
    }
    const unwritable = `Node ${process.versions.node} cannot write .zst; 22.15 and newer can.\n`
    t.is(
      withoutTime(stdout),
      `      copies  before  after  written  removed
.br   ${sizes('.br')}
.zst  ${HAS_ZSTD ? sizes('.zst') : '     -       -      -        -        0'}
.gz   ${sizes('.gz')}
${HAS_ZSTD ? '' : unwritable}2 files, 8.0 kB, in 0.12 s
`
    )
  }
)

test.serial(
  'compress --json prints the report, --quiet nothing, --verbose a line for each file',
  async t => {
    const root = makeProject(t, { 'dist/a.css': TEXT, 'dist/b/c.js': TEXT })
    const json = await run(root, 'compress dist --json')
    t.deepEqual([json.status, json.stderr], [0, ''])
    const report = JSON.parse(json.stdout) as CompressReport
    t.is(report.directory, join(root, 'dist'))
    t.is(report.codings[0]?.written, 2)
    t.deepEqual(await run(root, 'compress dist -q'), { status: 0, stdout: '', stderr: '' })
    const { stderr } = await run(root, 'compress dist --verbose')
    t.deepEqual(stderr.trimEnd().split('\n').toSorted(), [
      'Compressing a.css',
      'Compressing b/c.js'
    ])
  }
)

test.serial('compress says what it leaves out, and takes several globs', async t => {
  const files = ['a.css', 'a.css.map', 'b/c.js', 'b/d.js'].map(path => [`dist/${path}`, TEXT])
  const root = makeProject(t, Object.fromEntries(files) as Files)
  const filesOf = (report: string) => (JSON.parse(report) as CompressReport).leftOut
  t.regex((await run(root, 'compress dist')).stdout, /^Left out: 1 source map$/m)
  t.regex((await run(root, 'compress dist --include *.js')).stdout, /^Left out: 2 files$/m)
  const all = await run(root, 'compress dist --include **')
  t.notRegex(all.stdout, /Left out/)
  const some = 'compress dist --json --exclude c.* --exclude=*.css'
  t.deepEqual(filesOf((await run(root, some)).stdout), ['a.css', 'a.css.map', 'b/c.js'])
})

test.serial(
  'BND-16 keep and clean <dir> print what they kept and removed, without a configuration',
  async t => {
    const build = (file: string) => ({ 'src/main.js': { file, name: 'main', isEntry: true } })
    const root = makeProject(t, {
      'assets.config.mjs': 'throw new Error("loaded")',
      'old/main-AbCd1234.js': TEXT,
      'old/.vite/manifest.json': JSON.stringify(build('main-AbCd1234.js')),
      'new/main-EfGh5678.js': `${TEXT}\n`,
      'new/.vite/manifest.json': JSON.stringify(build('main-EfGh5678.js'))
    })
    const { status, stdout, stderr } = await run(root, 'keep old new')
    t.deepEqual([status, stderr], [0, 'Compressing 2 files\n'])
    t.regex(stdout, /^Kept: 1 file of 1 earlier build, 4\.0 kB; 1 copied$/m)
    const report = JSON.parse((await run(root, 'keep old new --json')).stdout) as KeepReport
    t.deepEqual([report.kept, report.copied], [['main-AbCd1234.js'], 0])
    t.is((await run(root, 'clean new')).stdout, '0 files removed, 0 B; 1 kept\n')
    const dry = await run(root, 'clean new --keep 0 --age 0s --dry-run')
    t.regex(dry.stdout, /^main-AbCd1234\.js\n1 file would be removed, 4\.\d kB; 0 kept\n$/)
    t.is((await run(root, 'verify new -q')).status, 0)
    t.is((await run(root, 'clean --root new . --keep 0 --age 0s -q')).status, 0)
    t.deepEqual(
      readdirSync(join(root, 'new')).filter(name => /AbCd|kept/.test(name)),
      []
    )
    t.regex((await run(root, 'clean --manifest a.json')).stderr, /clean <dir> --manifest FILE/)
  }
)

test.serial('neither compress nor verify <dir> loads a configuration', async t => {
  const root = makeProject(t, {
    'dist/a.css': TEXT,
    'package.json': '{}',
    'assets.config.mjs': 'throw new Error("loaded")'
  })
  t.is((await run(root, 'compress dist -q')).status, 0)
  t.is((await run(root, 'verify dist -q')).status, 0)
  t.regex((await run(root, 'verify')).stderr, /loaded/)
  t.is((await run(join(root, 'dist'), `verify dist -q --root ${root}`)).status, 0)
})

test.serial('verify <dir> names each copy that is not one, and exits with status 1', async t => {
  const root = makeProject(t, { 'dist/a.css': TEXT, 'dist/gone.css': TEXT })
  await run(root, 'compress dist -q')
  const copies = 2 * WRITABLE_CODINGS.length
  t.deepEqual(await run(root, 'verify dist'), {
    status: 0,
    stdout: `${copies} copies, no problems\n`,
    stderr: ''
  })
  truncateSync(join(root, 'dist/a.css.br'), 20)
  rmSync(join(root, 'dist/gone.css'))
  const { status, stdout, stderr } = await run(root, 'verify dist')
  t.is(status, 1)
  t.is(stdout, `${copies} copies, ${1 + WRITABLE_CODINGS.length} problems\n`)
  t.deepEqual(stderr.trimEnd().split('\n'), [
    'dist/a.css.br cannot be decompressed',
    ...WRITABLE_CODINGS.map(
      ({ extension }) => `dist/gone.css${extension} has no original, so it is not needed: remove it`
    ).toSorted()
  ])
  const json = await run(root, 'verify dist --json')
  t.deepEqual([json.status, json.stderr], [1, ''])
  t.is((JSON.parse(json.stdout) as VerifyCopiesReport).problems[0]?.path, 'a.css.br')
})

test.serial(
  'BND-17 verify <dir> names each file that the manifest of the build names and that is missing',
  async t => {
    const manifest = { 'src/main.js': { file: 'main-AbCd1234.js', isEntry: true, css: ['a.css'] } }
    const root = makeProject(t, {
      'dist/.vite/manifest.json': JSON.stringify(manifest),
      'dist/main-AbCd1234.js': TEXT,
      'dist/a.css': TEXT,
      // That of a web application.
      'site/manifest.json': '{ "name": "Shop" }'
    })
    t.is((await run(root, 'verify dist')).stdout, '2 files of the bundle, 0 copies, no problems\n')
    rmSync(join(root, 'dist/a.css'))
    const { status, stdout, stderr } = await run(root, 'verify dist')
    t.deepEqual([status, stdout], [1, '2 files of the bundle, 0 copies, 1 problem\n'])
    t.is(stderr, 'dist/a.css is missing, and .vite/manifest.json names it\n')
    t.is((await run(root, 'verify site')).stdout, '0 copies, no problems\n')
  }
)

test.serial('verify <dir> says so when this Node cannot read a copy', async t => {
  const root = makeProject(t, { 'dist/a.css': TEXT, 'dist/a.css.zst': 'no zstd' })
  const { status, stdout } = await run(root, 'verify dist')
  const expected = HAS_ZSTD
    ? [1, '1 copy, 1 problem\n']
    : [0, `1 copy (1 not read, as Node ${process.versions.node} lacks the coding), no problems\n`]
  t.deepEqual([status, stdout], expected)
})

test.serial('two runs of compress at once do no harm', async t => {
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`${at}.css`, TEXT + at]))
  const root = makeProject(t, { ...files, 'app.css': CSS })
  const runs = [1, 2].map(() => start(root, ['compress', '.', '-q']).outcome)
  for (const outcome of await Promise.all(runs)) {
    t.deepEqual(outcome, { status: 0, stdout: '', stderr: '' })
  }
  t.is((await run(root, 'verify . -q')).status, 0)
  t.is(readdirSync(root).length, 31 * (1 + WRITABLE_CODINGS.length))
})

test.serial(`compress stops cleanly on SIGTERM`, async t => {
  const root = makeProject(t)
  for (let at = 0; at < 40; at++) {
    writeFileSync(join(root, `${at}.js`), Buffer.concat([Buffer.from(`${at}`), JS]))
  }
  const { child, outcome } = start(root, ['compress', '.'])
  t.teardown(() => child.kill('SIGKILL'))
  const copies = () => readdirSync(root).filter(name => name.endsWith('.gz')).length
  await until(() => copies() > 0, 'a copy is written')
  child.kill('SIGTERM')
  const ended = await outcome
  t.is(ended.status, 143)
  t.is(ended.stdout, '')
  t.true(ended.stderr.endsWith(`Stopped by SIGTERM; the copies that were finished stay.\n`))
  t.true(copies() < 40)
  t.deepEqual(
    readdirSync(root).filter(name => name.startsWith('.')),
    []
  )
  t.is((await run(root, 'verify . -q')).status, 0)
})
