import { readFileSync } from 'node:fs'
import test from 'ava'
import { COMMANDS, parseCommandLine } from '../../lib/cli/arguments.ts'
import { makeOutput, UsageError } from '../../lib/cli/command.ts'
import { count, formatBytes, formatSeconds, table } from '../../lib/cli/format.ts'
import { generalHelp, helpFor } from '../../lib/cli/help.ts'
import { progressOn } from '../../lib/cli/long-run.ts'
import type { Progress } from '../../lib/index.ts'
import { makeProject } from '../support/site.ts'
import { run } from './run.ts'

const read = (line: string) => parseCommandLine(line.split(' ').filter(Boolean))

for (const [line, message] of [
  ['precompil', "unknown command 'precompil': did you mean 'precompile'?"],
  [
    'dance',
    "unknown command 'dance': expected one of init, precompile, compress, keep, verify, clean, explain, list"
  ],
  ['help lst', "unknown command 'lst': did you mean 'list'?"],
  ['list --jsn', "unknown option '--jsn' for list: did you mean '--json'?"],
  ['clean --kep 2', "unknown option '--kep' for clean: did you mean '--keep'?"],
  [
    'verify --dry-run',
    "unknown option '--dry-run' for verify: expected one of --views, --config, --root, --env, --json, --quiet, --help, --version"
  ],
  ['--rot=x', "unknown option '--rot': did you mean '--root'?"],
  ['list --constructor', /^unknown option '--constructor' for list: expected one of /],
  ['list -z', /^unknown option '-z' for list: expected one of /],
  ['list --root', '--root requires a value: --root DIR'],
  ['list --root=', '--root requires a value: --root DIR'],
  ['list --json=yes', "--json does not take a value, got 'yes'"],
  ['list all', "unexpected argument 'all' for list"],
  ['explain', 'explain requires an argument: <url or name>'],
  ['compress', 'compress requires an argument: <dir>'],
  ['keep', 'keep requires an argument: <old build>'],
  ['keep dist.old', 'keep requires an argument: <new build>'],
  ['keep a b c', "unexpected argument 'c' for keep"],
  ['verify a b', "unexpected argument 'b' for verify"],
  ['explain a.css b.css', "unexpected argument 'b.css' for explain"]
] as const) {
  test(`koa-fresh-assets ${line} is a usage error with a one-line message`, t => {
    t.throws(() => read(line), { instanceOf: UsageError, message })
  })
}

test('an argument from a shell variable that is not set is a usage error', t => {
  for (const name of ['compress', 'verify', 'clean', 'keep']) {
    t.throws(() => parseCommandLine([name, '']), {
      instanceOf: UsageError,
      message: / got an empty argument: (?:.dir.|<old build>)$/
    })
  }
})

test('options may come before the command', t => {
  const { command, values } = read('--root shop -q list')
  t.is(command?.name, 'list')
  t.is(values.text('root'), 'shop')
  t.true(values.flag('quiet'))
  t.false(values.flag('json'))
})

for (const command of COMMANDS) {
  test(`${command.name} --help shows what it does, with an example, and --help lists it`, t => {
    const [help, all] = [helpFor(command), generalHelp()]
    t.true(help.startsWith(`Usage: koa-fresh-assets ${command.name}`))
    t.regex(help, /^Examples?$/m)
    t.true(all.includes(`\n  ${command.name.padEnd(10)}  ${command.summary}\n`))
    t.true([...help.split('\n'), ...all.split('\n')].every(line => line.length <= 84))
    t.true(read(`help ${command.name}`).values.flag('help'))
  })
}

test('the help of clean shows its defaults', t => {
  const clean = COMMANDS.find(({ name }) => name === 'clean')
  const help = clean ? helpFor(clean) : ''
  t.regex(help, /--keep N .*; default: 3/)
  t.regex(help, /--age D .*; default: 7d/)
})

test.serial('a usage error is one line on stderr, nothing on stdout, exit status 2', async t => {
  const root = makeProject(t)
  for (const [line, message] of [
    ['precompil', "unknown command 'precompil': did you mean 'precompile'?"],
    ['clean --keep -1', "--keep must be a whole number such as 3, got '-1'"],
    ['clean --age 7', "--age must be a number and a unit such as 12h, 1d or 2w, got '7'"],
    ['list --root nowhere', '--root: no such directory: nowhere'],
    ['list --config nowhere.js', '--config: no such file: nowhere.js']
  ] as const) {
    const stderr = `koa-fresh-assets: ${message}\n`
    t.deepEqual(await run(root, line), { status: 2, stdout: '', stderr })
  }
})

test.serial('without a command it prints the help, with exit status 2', async t => {
  const stderr = `${generalHelp()}\n`
  t.deepEqual(await run(makeProject(t), ''), { status: 2, stdout: '', stderr })
})

test.serial('--help and --version print to stdout, exit status 0', async t => {
  const root = makeProject(t)
  const manifest = readFileSync('package.json', 'utf8')
  const { version } = JSON.parse(manifest) as { version: string }
  const stdout = `${generalHelp()}\n`
  t.deepEqual(await run(root, '--help'), { status: 0, stdout, stderr: '' })
  t.deepEqual(await run(root, '-v'), { status: 0, stdout: `${version}\n`, stderr: '' })
})

test('bytes, seconds and counts are short and readable', t => {
  for (const [bytes, text] of [
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [99_940, '99.9 kB'],
    [123_456, '123 kB'],
    [999_960, '1.0 MB'],
    [5e9, '5.0 GB'],
    [2e16, '20000 TB']
  ] as const) {
    t.is(formatBytes(bytes), text)
  }
  for (const [seconds, text] of [
    [0.004, '0.00 s'],
    [12.34, '12.3 s'],
    [119.7, '2 min 0 s']
  ] as const) {
    t.is(formatSeconds(seconds), text)
  }
  t.deepEqual([count(1, 'asset'), count(1234, 'asset')], ['1 asset', '1,234 assets'])
})

test('columns are as wide as their widest cell, and numbers are right-aligned', t => {
  const rows = [
    ['a', '1 B', 'x'],
    ['long', '12 kB', '']
  ]
  t.is(table(rows, [1]), 'a       1 B  x\nlong  12 kB')
  t.is(table([]), '')
})

function makeLog(columns?: number) {
  const written: string[] = []
  const stream = {
    write: (text: string) => written.push(text),
    isTTY: columns !== undefined,
    columns
  }
  const streams = { stdout: stream, stderr: stream, env: {} } as unknown as NodeJS.Process
  return { output: makeOutput({ isJson: false, isQuiet: false }, streams), written }
}

const at = (stage: Progress['stage'], done: number, total: number): Progress => ({
  stage,
  done,
  total,
  path: `/assets/${done}.css`
})

const CLEAR = '\r\u001B[K'

test('on a terminal a bar fills up, and what is printed takes its place', t => {
  const { output, written } = makeLog(80)
  const show = progressOn(output, false)
  show(at('compile', 2, 2))
  output.warn('look')
  show(at('write', 2, 2))
  t.deepEqual(written, [
    `${CLEAR}Building ${'█'.repeat(24)} 2/2  /assets/2.css`,
    CLEAR,
    'warning: look\n',
    `${CLEAR}Writing  ${'█'.repeat(24)} 2/2  /assets/2.css`
  ])
})

test('the bar is never wider than the terminal', t => {
  const { output, written } = makeLog(20)
  progressOn(output, false)(at('compile', 1, 4))
  t.deepEqual(written, [`${CLEAR}Building ${'█'.repeat(6)}${'░'.repeat(4)}`])
})

test('in a log there is a line for each stage', t => {
  const { output, written } = makeLog()
  const show = progressOn(output, false)
  for (const stage of ['compile', 'write'] as const) {
    for (let done = 1; done <= 1000; done++) show(at(stage, done, 1000))
  }
  t.deepEqual(written, ['Building 1,000 assets\n', 'Writing 1,000 assets\n'])
})
