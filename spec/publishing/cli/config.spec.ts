import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { generalHelp, helpFor, parseCommandLine } from '../../../lib/publishing/cli/arguments.ts'
import type { PrecompileReport } from '../../../lib/index.ts'
import { makeProject, serial as test, type ExecutionContext } from '../../support/index.ts'
import type { Files } from '../../support/index.ts'
import { isKnown, makeShop, run, runBuilt } from './run.ts'
import { COMMANDS } from '../../support/ready.ts'

/** What `precompile` publishes, which shows the options that it was given. */
async function published(root: string, options = '', runs = run): Promise<readonly string[]> {
  const { status, stdout, stderr } = await runs(root, `precompile --json ${options}`)
  if (status !== 0) return [stderr]
  const { manifest } = JSON.parse(stdout) as PrecompileReport
  return Object.keys((JSON.parse(readFileSync(manifest, 'utf8')) as { assets: object }).assets)
}

const makeConfigured = (t: ExecutionContext, files: Files) =>
  makeShop(t, { 'a.txt': 'a', ...files })

test('the configuration file may export an object, a promise or a function', async t => {
  for (const [name, text] of [
    ['assets.config.json', '{ "prefix": "/static" }'],
    ['assets.config.mjs', 'export default { prefix: "/static" }'],
    ['assets.config.cjs', 'module.exports = { prefix: "/static" }'],
    ['assets.config.js', 'module.exports = async () => ({ prefix: `/${process.env.NODE_ENV}` })'],
    ['other.mjs', 'export default Promise.resolve({ prefix: "/static" })']
  ] as const) {
    const root = makeConfigured(t, { [`/${name}`]: text })
    const other = name === 'other.mjs' ? '--config other.mjs' : ''
    t.deepEqual(await published(root, `--env static ${other}`), ['/static/a.txt'], name)
  }
})

test('a configuration file finds the environment of the command in NODE_ENV', async t => {
  for (const [line, given, expected] of [
    ['precompile', undefined, 'production'],
    ['precompile', 'staging', 'staging'],
    ['precompile --env test', 'staging', 'test'],
    ['list', undefined, 'production'],
    ['explain a.txt', undefined, 'development'],
    ['explain a.txt --env test', 'staging', 'test']
  ] as const) {
    if (!isKnown(line)) continue
    // Loaded once in a process, so that each has a file of its own.
    const told = 'process.stderr.write(`loaded for ${process.env.NODE_ENV}\\n`)'
    const root = makeConfigured(t, { '/assets.config.mjs': `${told}\nexport default {}` })
    const { stderr } = await run(root, line, { NODE_ENV: given })
    t.regex(stderr, new RegExp(`^loaded for ${expected}$`, 'm'), line)
  }
})

test('the root is that of --root, else of the configuration file, else the current directory', async t => {
  const root = makeConfigured(t, {
    '/elsewhere.json': '{ "root": "empty" }',
    '/wrong.json': '{ "root": 3 }',
    '/empty/public/robots.txt': 'x'
  })
  t.deepEqual(await published(root), ['/assets/a.txt'])
  t.regex(String(await published(root, '--config elsewhere.json')), / no assets /)
  t.deepEqual(await published(root, '--config elsewhere.json --root .'), ['/assets/a.txt'])
  const refused = 'koa-fresh-assets: root must be a non-empty string without NUL, got 3\n'
  t.deepEqual(await published(root, '--config wrong.json'), [refused])
})

test('the error for a configuration that cannot be loaded names the file and the reason', async t => {
  for (const [name, text, reason] of [
    ['assets.config.mjs', 'export default 42', /the options of koaAssets\(\), .* got 42\n$/],
    ['assets.config.mjs', 'throw new Error("no luck")', /no luck\n$/],
    ['assets.config.mjs', 'import "./absent.mjs"', /Cannot find module .*absent\.mjs/],
    ['assets.config.json', '{', /JSON/]
  ] as const) {
    const root = makeConfigured(t, { [`/${name}`]: text })
    const { status, stdout, stderr } = await run(root, 'precompile')
    t.deepEqual([status, stdout], [1, ''])
    t.true(stderr.startsWith(`koa-fresh-assets: cannot load ${name}: `), stderr)
    t.regex(stderr, reason)
  }
})

test("where Node cannot import TypeScript, the project's tsx does", async t => {
  const root = makeConfigured(t, {
    '/package.json': '{ "type": "module" }',
    '/assets.config.ts': `import { prefix } from './prefix.ts'\nexport default { prefix } satisfies object`,
    '/prefix.ts': 'export const prefix: string = "/static"'
  })
  mkdirSync(join(root, 'node_modules'))
  symlinkSync(resolve('node_modules/tsx'), join(root, 'node_modules/tsx'))
  t.deepEqual(await published(root, '', runBuilt), ['/static/a.txt'])
})

test('where nothing reads TypeScript, the error says what to install, or which file to name', async t => {
  const root = makeConfigured(t, { '/assets.config.ts': 'export default {}' })
  const { status, stdout, stderr } = await runBuilt(root, 'precompile')
  const isRead = Boolean((process.features as { typescript?: unknown }).typescript)
  t.is(status, isRead ? 0 : 1)
  if (isRead) return
  const cause = `cannot load assets.config.ts: Node ${process.versions.node} cannot import TypeScript`
  const advice =
    'run npm install --save-dev tsx, or name the file that tsc wrote for it, as in --config build/assets.config.js'
  t.deepEqual([stdout, stderr], ['', `koa-fresh-assets: ${cause}: ${advice}\n`])
})

test('a usage error is one line of advice on stderr, with exit status 2', async t => {
  const root = makeProject(t)
  // Extras add others.
  const known = /--verbose, .*--config, --root, --env, --json, --quiet, --help, --version$/m
  const all = COMMANDS.map(({ name }) => name).join(', ')
  for (const [line, message] of [
    ['precompil', "unknown command 'precompil': did you mean 'precompile'?"],
    ['dance', `unknown command 'dance': known commands: ${all}`],
    ['help precompil', "unknown command 'precompil': did you mean 'precompile'?"],
    ['precompile --jsn', "unknown option 'precompile --jsn': did you mean '--json'?"],
    ['precompile --dry-run', "unknown option 'precompile --dry-run': known options: …"],
    ['--rot=x', "unknown option '--rot': did you mean '--root'?"],
    ['precompile --constructor', "unknown option 'precompile --constructor': known options: …"],
    ['precompile -z', "unknown option 'precompile -z': known options: …"],
    ['precompile --root', '--root requires a value: --root DIR'],
    ['precompile --root=', '--root requires a value: --root DIR'],
    ['precompile --root nowhere', '--root: no such directory: nowhere'],
    ['precompile --config nowhere.js', '--config: no such file: nowhere.js'],
    ['precompile --json=yes', "--json does not take a value, got 'yes'"],
    ['precompile all', "unexpected argument 'all' for precompile"]
  ] as const) {
    const { status, stdout, stderr } = await run(root, line)
    t.deepEqual([status, stdout], [2, ''])
    t.is(stderr.replace(known, '…'), `koa-fresh-assets: ${message}\n`)
  }
})

const WIDTH = Math.max(...COMMANDS.map(({ name }) => name.length))
for (const command of COMMANDS) {
  test(`both --help and ${command.name} --help say what the command does`, t => {
    const [help, all] = [helpFor(command), generalHelp(COMMANDS)]
    t.true(help.startsWith(`Usage: koa-fresh-assets ${command.name}`))
    t.regex(help, /^Examples?$/m)
    t.true(all.includes(`\n  ${command.name.padEnd(WIDTH)}  ${command.summary}\n`))
    t.true(`${help}\n${all}`.split('\n').every(line => line.length <= 84))
    const { values } = parseCommandLine(['help', command.name], COMMANDS)
    t.true(values.help)
  })
}

test('help and version are printed on request, the help also in place of a missing command', async t => {
  const root = makeProject(t)
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const help = `${generalHelp(COMMANDS)}\n`
  t.deepEqual(await run(root, ''), { status: 2, stdout: '', stderr: help })
  t.deepEqual(await run(root, '--help'), { status: 0, stdout: help, stderr: '' })
  t.deepEqual(await run(root, '-v'), { status: 0, stdout: `${version}\n`, stderr: '' })
})
