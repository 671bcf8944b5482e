import { readdirSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import ava from 'ava'
import type { KeepReport, VerifyCopiesReport } from '../../../lib/index.ts'
import { allCommands, parseCommandLine } from '../../../lib/cli/arguments.ts'
import { helpAt } from '../../../lib/errors.ts'
import { run } from '../../cli/run.ts'
import { WRITABLE_CODINGS } from '../../support/copies.ts'
import { makeProject } from '../../support/site.ts'

const test = ava.serial

const HAS_ZSTD = WRITABLE_CODINGS.some(({ name }) => name === 'zstd')

const TEXT = 'body { color: red }\n'.repeat(200)

test('BND-16 keep and clean <dir> print what they kept and removed, without a configuration', async t => {
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
  for (const [line, message] of [
    ['keep old', 'keep requires an argument: <new build>'],
    ['keep a b c', "unexpected argument 'c' for keep"]
  ] as const) {
    const { status, stderr } = await run(root, line)
    t.deepEqual([status, stderr.includes(message)], [2, true], line)
  }
})

test('an empty argument, as of a shell variable that is not set, does not mean the working directory', async t => {
  const commands = await allCommands()
  for (const name of ['verify', 'clean', 'keep']) {
    const message = / got an empty argument: (?:.dir.|<old build>)$/
    t.throws(() => parseCommandLine([name, ''], commands), { message })
  }
})

test('BND-17 verify <dir> names each copy that is not one, and each file of the bundle that is missing', async t => {
  const manifest = { 'src/main.js': { file: 'main-AbCd1234.js', isEntry: true, css: ['a.css'] } }
  const root = makeProject(t, {
    'dist/.vite/manifest.json': JSON.stringify(manifest),
    'dist/main-AbCd1234.js': TEXT,
    'dist/a.css': TEXT,
    'dist/gone.css': TEXT,
    // That of a web application.
    'site/manifest.json': '{ "name": "Shop" }',
    'site/a.css': TEXT,
    'site/a.css.zst': 'no zstd'
  })
  await run(root, 'compress dist -q')
  const codings = WRITABLE_CODINGS.length
  const fine = `2 files of the build, ${3 * codings} copies, no problems\n`
  t.deepEqual(await run(root, 'verify dist'), { status: 0, stdout: fine, stderr: '' })
  truncateSync(join(root, 'dist/main-AbCd1234.js.br'), 20)
  rmSync(join(root, 'dist/a.css'))
  rmSync(join(root, 'dist/gone.css'))
  const { status, stdout, stderr } = await run(root, 'verify dist')
  const problems = 2 + 2 * codings
  t.is(status, 1)
  const help = `See ${helpAt('troubleshooting.md')}\n`
  t.is(stdout, `2 files of the build, ${3 * codings} copies, ${problems} problems\n${help}`)
  const unneeded = ['a.css', 'gone.css'].flatMap(name =>
    WRITABLE_CODINGS.map(
      ({ extension }) => `dist/${name}${extension} has no original, so it is not needed: remove it`
    )
  )
  t.deepEqual(
    stderr.trimEnd().split('\n').toSorted(),
    [
      'dist/a.css is missing, and .vite/manifest.json names it',
      'dist/main-AbCd1234.js.br cannot be decompressed',
      ...unneeded
    ].toSorted()
  )
  const json = await run(root, 'verify dist --json')
  t.deepEqual([json.status, json.stderr], [1, ''])
  t.is((JSON.parse(json.stdout) as VerifyCopiesReport).problems.length, problems)
  const site = await run(root, 'verify site')
  const unread = `1 copy (1 not read, as Node ${process.versions.node} lacks the coding), no problems\n`
  const expected = HAS_ZSTD ? [1, '1 copy, 1 problem\n'] : [0, unread]
  t.deepEqual([site.status, site.stdout], expected)
})
