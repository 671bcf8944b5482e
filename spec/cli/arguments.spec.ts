import { readFileSync } from 'node:fs'
import test from 'ava'
import { UsageError } from '../../lib/cli/command.ts'
import { COMMANDS, parseCommandLine } from '../../lib/cli/arguments.ts'
import { helpFor, overview } from '../../lib/cli/help.ts'
import { makeProject } from '../support/site.ts'
import { run } from './run.ts'

const read = (line: string) => parseCommandLine(line.split(' ').filter(Boolean))

for (const [line, message] of [
  ['precompil', "unknown command 'precompil': did you mean 'precompile'?"],
  [
    'dance',
    "unknown command 'dance': expected one of init, precompile, compress, verify, clean, explain, list"
  ],
  ['help lst', "unknown command 'lst': did you mean 'list'?"],
  ['list --jsn', "unknown option '--jsn' for list: did you mean '--json'?"],
  ['clean --kep 2', "unknown option '--kep' for clean: did you mean '--keep'?"],
  [
    'verify --dry-run',
    "unknown option '--dry-run' for verify: expected one of --config, --root, --env, --json, --quiet, --help, --version"
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
  ['verify a b', "unexpected argument 'b' for verify"],
  ['explain a.css b.css', "unexpected argument 'b.css' for explain"]
] as const) {
  test(`koa-fresh-assets ${line} is a usage error with a one-line message`, t => {
    t.throws(() => read(line), { instanceOf: UsageError, message })
  })
}

test('an argument from a shell variable that is not set is a usage error', t => {
  for (const words of [
    ['compress', ''],
    ['verify', '']
  ]) {
    t.throws(() => parseCommandLine(words), {
      instanceOf: UsageError,
      message: / got an empty argument: .dir.$/
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
  test(`${command.name} --help shows what it does, with an example`, t => {
    const help = helpFor(command)
    t.true(help.startsWith(`Usage: koa-fresh-assets ${command.name}`))
    t.regex(help, /^Examples?$/m)
    t.true(help.split('\n').every(line => line.length <= 84))
    t.true(read(`help ${command.name}`).values.flag('help'))
  })

  test(`--help lists ${command.name}, in lines of at most 84 characters`, t => {
    const help = overview()
    t.true(help.includes(`\n  ${command.name.padEnd(10)}  ${command.summary}\n`))
    t.true(help.split('\n').every(line => line.length <= 84))
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
  const stderr = `${overview()}\n`
  t.deepEqual(await run(makeProject(t), ''), { status: 2, stdout: '', stderr })
})

test.serial('--help and --version print to stdout, exit status 0', async t => {
  const root = makeProject(t)
  const manifest = readFileSync('package.json', 'utf8')
  const { version } = JSON.parse(manifest) as { version: string }
  const stdout = `${overview()}\n`
  t.deepEqual(await run(root, '--help'), { status: 0, stdout, stderr: '' })
  t.deepEqual(await run(root, '-v'), { status: 0, stdout: `${version}\n`, stderr: '' })
})
