import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeShop, run } from '../../publishing/cli/run.ts'
import { withFingerprint } from '../../../lib/runtime/urls/spelling.ts'
import { allCommands, parseCommandLine } from '../../../lib/publishing/cli/arguments.ts'
import { UsageError } from '../../../lib/publishing/cli/command.ts'
import { helpAt } from '../../../lib/runtime/errors.ts'
import { digestOf } from '../../../lib/runtime/files/digest.ts'
import type { VerifyReport } from '../../../lib/index.ts'
import { makeProject, serial as test, WRITABLE_CODINGS, writeFiles } from '../../support/index.ts'

const withoutTime = (text: string) => text.replace(/\d+\.\d+ s/, '0.12 s')
const fingerprinted = (name: string, text: string) =>
  withFingerprint(`/assets/${name}`, digestOf(Buffer.from(text)))

test('verify fails with a line for each file that was edited, deleted or truncated', async t => {
  const contents = { 'a.txt': 'aaaaaaaaa', 'b.txt': 'b', 'c.txt': 'ccccccccc' }
  const root = makeShop(t, { ...contents, '/assets.config.json': '{}' })
  const [a, b, c] = Object.entries(contents).map(([name, text]) => fingerprinted(name, text))
  await run(root, 'precompile --quiet')
  const fine = { status: 0, stdout: '3 assets, no problems\n', stderr: '' }
  t.deepEqual(await run(root, 'verify'), fine)
  writeFiles(root, { [`public${a}`]: 'AAAAAAAAA', [`public${c}`]: 'c' })
  rmSync(join(root, `public${b}`))
  t.deepEqual(await run(root, 'verify'), {
    status: 1,
    stdout: `3 assets, 3 problems\nSee ${helpAt('troubleshooting.md')}\n`,
    stderr: `${a} does not match its fingerprint
${b} is missing: copy it again, or run npx koa-fresh-assets precompile
${c} has size 1, not 9
`
  })
  const { status, stdout, stderr } = await run(root, 'verify --json')
  t.deepEqual([status, stderr], [1, ''])
  t.is((JSON.parse(stdout) as VerifyReport).problems.length, 3)
})

test('clean prints each file that it removes by --keep and --age', async t => {
  const root = makeShop(t, { 'a.txt': 'now' })
  await run(root, 'precompile --quiet')
  const old = fingerprinted('a.txt', 'old')
  writeFileSync(join(root, 'public', old), 'old')
  t.is((await run(root, 'clean --keep 1')).stdout, '0 files removed, 0 B; 2 kept\n')
  const removed = (verb: string) => `${old}\n1 file ${verb}, 3 B; 1 kept\n`
  const dry = await run(root, 'clean --keep 1 --age 0s --dry-run')
  t.deepEqual(dry, { status: 0, stdout: removed('would be removed'), stderr: '' })
  t.is((await run(root, 'clean --keep 1 --age 0s')).stdout, removed('removed'))
  const report: unknown = JSON.parse((await run(root, 'clean --json')).stdout)
  t.deepEqual(report, { removed: [], bytes: 0, kept: 1, dryRun: false })
})

const TEXT = 'body { color: red }\n'.repeat(200)
const HAS_ZSTD = WRITABLE_CODINGS.some(({ name }) => name === 'zstd')

test('compress prints what it wrote without loading the configuration', async t => {
  const root = makeProject(t, {
    'dist/a.css': TEXT,
    'dist/b/c.js': TEXT,
    'dist/photo.png': '',
    'package.json': '{}',
    'assets.config.mjs': 'throw new Error("loaded")'
  })
  const { status, stdout, stderr } = await run(root, 'compress dist')
  t.deepEqual([status, stderr], [0, 'Compressing 2 files\n'])
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
  const json = await run(root, 'compress dist --json')
  t.deepEqual([json.status, json.stderr], [0, ''])
  t.like(JSON.parse(json.stdout), { directory: join(root, 'dist'), files: 2, leftOut: [] })
  t.deepEqual(await run(root, 'compress dist -q'), { status: 0, stdout: '', stderr: '' })
  const verbose = await run(root, 'compress dist --verbose')
  const lines = verbose.stderr.trimEnd().split('\n').toSorted()
  t.deepEqual(lines, ['Compressing a.css', 'Compressing b/c.js'])
  t.is((await run(join(root, 'dist'), `verify dist -q --root ${root}`)).status, 0)
  t.regex((await run(root, 'verify')).stderr, /loaded/)
})

test('a usage error names what a command needs or takes', async t => {
  const commands = await allCommands()
  for (const [words, message] of [
    [['compress'], /^compress requires an argument: /],
    [['compress', 'a', 'b'], "unexpected argument 'b' for compress"],
    [['keep', 'old'], /^keep requires an argument: <new build>/],
    [['keep', 'a', 'b', 'c'], "unexpected argument 'c' for keep"],
    // From a shell variable that is not set.
    ...['compress', 'verify', 'clean'].map(
      name => [[name, ''], / got an empty argument: [<[]dir[>\]]$/] as const
    ),
    [['keep', ''], 'keep got an empty argument: <old build>'],
    [['clean', '--jsn'], "unknown option 'clean --jsn': did you mean '--json'?"]
  ] as const) {
    t.throws(() => parseCommandLine(words, commands), { instanceOf: UsageError, message })
  }
  for (const [line, message] of [
    ['clean --keep -1', "--keep must be a whole number such as 3, got '-1'"],
    ['clean --age 7', "--age must be a number and a unit such as 12h, 1d or 2w, got '7'"]
  ] as const) {
    const stderr = `koa-fresh-assets: ${message}\n`
    t.deepEqual(await run(makeProject(t), line), { status: 2, stdout: '', stderr })
  }
})
