import { readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { WRITABLE_CODINGS } from '../support/copies.ts'
import type { CompressReport, KeepReport, VerifyCopiesReport } from '../../lib/index.ts'
import { makeProject, type Files } from '../support/site.ts'
import { until } from '../support/until.ts'
import { run, start } from './run.ts'

const CSS = readFileSync('node_modules/bootstrap/dist/css/bootstrap.css').subarray(0, 30_000)
const JS = readFileSync('node_modules/bootstrap/dist/js/bootstrap.js')
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

test.serial('compress tells what it leaves out, and takes several globs', async t => {
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

test.serial('verify <dir> names each copy that is not one, and exits with 1', async t => {
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
      ({ extension }) => `dist/gone.css${extension} has no original, so nobody needs it: remove it`
    ).toSorted()
  ])
  const json = await run(root, 'verify dist --json')
  t.deepEqual([json.status, json.stderr], [1, ''])
  t.is((JSON.parse(json.stdout) as VerifyCopiesReport).problems[0]?.path, 'a.css.br')
})

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
  const runs = [1, 2, 3].map(() => start(root, ['compress', '.', '-q']).outcome)
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
