// What `init` gives a project, also when it is cut off anywhere.
import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { PrecompileReport } from '../../../lib/index.ts'
import { run } from '../../publishing/cli/run.ts'
import { onFailingDisk } from '../../support/failing-disk.ts'
import { cases, filesBelow, makeProject, makeSite, test, textsBelow } from '../../support/index.ts'
import { words, writeFiles } from '../../support/index.ts'

const ASSETS = words(`
  apps/web/assets/favicon.ico apps/web/assets/fonts/.gitkeep apps/web/assets/images/logo.svg
  apps/web/assets/javascripts/app.js apps/web/assets/stylesheets/app.css
`)
const SERVE = 'SERVE_STATIC_ASSETS=true\n'
const IGNORED = 'node_modules\npublic/assets\npublic/assets.json\nsource-maps\n'

async function stepsOf(root: string) {
  const { status, stdout, stderr } = await run(root, 'init --json')
  if (status !== 0) throw new Error(stderr)
  return (JSON.parse(stdout) as { steps: { path: string; action: string }[] }).steps
}

/** The plain paths of what `precompile` publishes, without source maps. */
async function published(root: string): Promise<string[]> {
  const { manifest } = JSON.parse((await run(root, 'precompile --json')).stdout) as PrecompileReport
  const { assets } = JSON.parse(readFileSync(manifest, 'utf8')) as { assets: object }
  return Object.keys(assets).filter(path => !path.endsWith('.map'))
}

test('init gives a new project what it starts with: assets, a configuration and dotfiles', async t => {
  const root = makeProject(t, { 'package.json': '{ "type": "module" }' })
  t.regex((await run(root, 'init --root none')).stderr, /--root: no such directory: none\n$/)
  const dry = await run(root, 'init --dry-run')
  t.true(dry.stdout.includes(ASSETS[0] ?? '') && dry.stdout.endsWith('Nothing was written.\n'))
  t.deepEqual(filesBelow(root), ['package.json'])
  const { status, stdout, stderr } = await run('.', `init --root ${root}`)
  t.deepEqual([status, stderr], [0, ''])
  t.true(stdout.includes("import options from './assets.config.js'"))
  t.regex(stdout, /importMap\(.*\n +<%- assets\.live\(\) %>\n.*javascript\(/)
  const own = ['.env.development', '.env.test', '.gitignore', 'assets.config.js', 'package.json']
  t.deepEqual(filesBelow(root).toSorted(), [...own, ...ASSETS].toSorted())
  const dotfiles = { '.env.development': SERVE, '.env.test': `NODE_ENV=test\n${SERVE}` }
  t.like(textsBelow(root), { ...dotfiles, '.gitignore': IGNORED })
  const { NODE_ENV: _, ...env } = process.env
  const flags = ['--env-file=.env.test', '--print', 'process.env.NODE_ENV']
  t.is(execFileSync(process.execPath, flags, { cwd: root, env, encoding: 'utf8' }), 'test\n')
})

test('what init gives can be served, precompiled and verified as it is', async t => {
  const root = makeProject(t, { 'package.json': '{ "type": "commonjs" }' })
  const { stdout: next } = await run(root, 'init')
  t.true(next.includes("const options = require('./assets.config.js')"))
  // A package of CommonJS modules can require it, as Jest does.
  const options = createRequire(import.meta.url)(join(root, 'assets.config.js')) as object
  t.like(options, { root })
  const { ask } = await makeSite(t, {}, { ...options, root })
  for (const name of ['favicon.ico', 'logo.svg', 'app.js', 'app.css'])
    t.is((await ask(`/assets/${name}`)).status, 200, name)
  t.is((await run(root, 'precompile --quiet')).status, 0)
  t.is((await run(root, 'verify')).stdout, '4 assets, no problems\n')
})

test('init gives a TypeScript project a typed configuration, also one of CommonJS modules', async t => {
  const names = { module: 'assets.config.ts', commonjs: 'assets.config.mts' }
  for (const [type, name] of Object.entries(names)) {
    const files = { 'package.json': `{ "type": "${type}" }`, 'tsconfig.json': '{}' }
    const root = makeProject(t, files)
    const { stdout } = await run(root, 'init')
    const built = name.replace(/ts$/, 'js')
    t.true(stdout.includes(`import options from './${name}' // for tsc and tsx: ${built}`), stdout)
    const start =
      /^Start it with: node --env-file=\.env\.development (?:--import tsx )?server\.ts$/m
    t.regex(stdout, start)
    const text = readFileSync(join(root, name), 'utf8')
    t.regex(text, /root: import\.meta\.dirname,?\n[^]*\} satisfies KoaAssetsOptions\n$/)
  }
})

test('init writes nothing through a link that leads out of the project', async t => {
  const outside = makeProject(t, { '.env': 'PORT=1\n', 'apps/.keep': '' })
  const root = makeProject(t, { real: 'x\n' })
  symlinkSync(join(outside, '.env'), join(root, '.env.development'))
  symlinkSync(join(outside, 'none'), join(root, '.env.test'))
  symlinkSync(join(outside, 'apps'), join(root, 'apps'))
  symlinkSync('real', join(root, '.gitignore'))
  const steps = (await stepsOf(root)).map(({ path, action }) => `${action} ${path}`)
  const skipped = ASSETS.map(path => `skip ${path}`)
  const dotfiles = ['skip .env.development', 'skip .env.test', 'add .gitignore']
  t.deepEqual(steps, [...skipped, 'create assets.config.js', ...dotfiles])
  t.deepEqual(textsBelow(outside), { '.env': 'PORT=1\n', 'apps/.keep': '' })
  t.is(readFileSync(join(root, 'real'), 'utf8'), `x\n${IGNORED}`)
})

test('init only adds what is missing, so that a second run changes nothing', async t => {
  const own = {
    'apps/shop/assets/app.css': '',
    'assets.config.ts': 'export default {}',
    '.env.development': 'export SERVE_STATIC_ASSETS = false\nPORT=1',
    '.env.test': 'PORT=2',
    '.gitignore': 'node_modules\r\n/public/assets/\r\n'
  }
  const root = makeProject(t, own)
  t.deepEqual<unknown[], unknown[]>(await stepsOf(root), [
    { path: 'assets.config.ts', action: 'keep' },
    { path: '.env.development', action: 'keep' },
    { path: '.env.test', action: 'add', lines: ['NODE_ENV=test', 'SERVE_STATIC_ASSETS=true'] },
    { path: '.gitignore', action: 'add', lines: ['public/assets.json', 'source-maps'] }
  ])
  const after = {
    ...own,
    '.env.test': `PORT=2\nNODE_ENV=test\n${SERVE}`,
    '.gitignore': 'node_modules\r\n/public/assets/\r\npublic/assets.json\nsource-maps\n'
  }
  t.deepEqual(textsBelow(root), after)
  await run(root, 'init')
  t.deepEqual(textsBelow(root), after)
})

const NODEMON = { devDependencies: { nodemon: '^3.0.0' } }
const IGNORES = ['public/', 'apps/*/assets/']

/** The text before, and after: what nodemon has to ignore is added, and all else stays. */
const IGNORING: Readonly<Record<string, readonly [file: string, before: string, after?: string]>> =
  {
    'a configuration in package.json': [
      'package.json',
      JSON.stringify({ ...NODEMON, nodemonConfig: { ignore: ['public'], ext: 'js' } }),
      `${JSON.stringify({ ...NODEMON, nodemonConfig: { ext: 'js', ignore: ['public', 'apps/*/assets/'] } }, null, 2)}\n`
    ],
    'a nodemon.json': [
      'nodemon.json',
      '{ "ignore": "docs" }',
      `${JSON.stringify({ ignore: ['docs', ...IGNORES] }, null, 2)}\n`
    ],
    'all that it needs': [
      'package.json',
      JSON.stringify({ ...NODEMON, nodemonConfig: { ignore: IGNORES } })
    ],
    'no nodemon': ['package.json', '{ "dependencies": { "koa": "3" } }']
  }

test('init lets nodemon ignore what the server publishes, wherever its configuration is', async t => {
  for (const [name, [file, before, after = before]] of Object.entries(IGNORING)) {
    const root = makeProject(t, { [file]: before })
    const { status } = await run(root, 'init')
    t.deepEqual([status, readFileSync(join(root, file), 'utf8')], [0, after], name)
    t.regex((await run(root, 'init')).stdout, /^keep +\.gitignore$/m)
    t.is(readFileSync(join(root, file), 'utf8'), after, name)
  }
})

test('init opens nothing that is no file: a FIFO would wait for a writer', async t => {
  const root = makeProject(t)
  for (const name of ['package.json', '.gitignore', '.env.test'])
    execFileSync('mkfifo', [join(root, name)])
  const steps = await stepsOf(root)
  for (const path of ['.gitignore', '.env.test'])
    t.true(steps.some(step => isDeepStrictEqual(step, { path, action: 'keep' })))
})

test('init <app> adds an app without a change to what is there', async t => {
  const config = 'export default { prefix: "/files" }'
  const root = makeProject(t, {
    'apps/web/assets/app.css': 'own{}',
    'assets.config.mjs': config,
    'apps/admin/views/page.ejs': ''
  })
  const { status, stdout } = await run(root, 'init admin')
  t.is(status, 0)
  t.true(stdout.includes('create  apps/admin/assets/stylesheets/admin.css'), stdout)
  t.true(stdout.includes("assets.app('admin').stylesheet('admin')"), stdout)
  t.true(stdout.includes('below /admin, its assets those below /files/admin'), stdout)
  t.false(stdout.includes('the only app'), stdout)
  const own = ['javascripts/admin.js', 'stylesheets/admin.css']
  t.deepEqual(filesBelow(join(root, 'apps/admin/assets')).toSorted(), own)
  t.is(readFileSync(join(root, 'apps/web/assets/app.css'), 'utf8'), 'own{}')
  t.is(readFileSync(join(root, 'assets.config.mjs'), 'utf8'), config)
  const stylesheets = (await published(root)).filter(path => path.endsWith('.css'))
  t.deepEqual(stylesheets, ['/files/admin/admin.css', '/files/app.css'])
  const again = await run(root, 'init admin')
  const message = "there is an app 'admin' already, in apps/admin/assets: nothing was written"
  t.is(again.status, 1)
  t.true(again.stderr.endsWith(`koa-fresh-assets: ${message}\n`), again.stderr)
})

test('init <app> is refused where it would hide the assets of the project', async t => {
  const root = makeProject(t, { 'assets/app.css': 'a{}', 'package.json': '{}' })
  const { status, stderr } = await run(root, 'init admin')
  t.is(status, 1)
  t.regex(
    stderr,
    /is not searched once there is apps\/admin: move them to apps\/web\/assets first\n$/
  )
  t.deepEqual(filesBelow(root).toSorted(), ['assets/app.css', 'package.json'])
})

test('the option that init <app> names keeps the first app at /', async t => {
  const root = makeProject(t, { 'apps/shop/assets/app.css': 'a{}', 'package.json': '{}' })
  const { stdout } = await run(root, 'init admin')
  const [, apps = ''] = /set (apps: .*) in assets\.config\.js\./.exec(stdout) ?? []
  writeFiles(root, { 'assets.config.js': `module.exports = { ${apps} }` })
  const stylesheets = (await published(root)).filter(path => path.endsWith('.css'))
  t.deepEqual(stylesheets, ['/assets/admin/admin.css', '/assets/app.css'])
})

const WRITES = /^(?:write|open|mkdir|rename|rm|unlink|link|chmod|utime|ftruncate)/
const HERE = { 'package.json': '{ "type": "module" }' }

for (const [title, files, line] of [
  ['in a new project', HERE, 'init'],
  ['beside dotfiles', { ...HERE, '.gitignore': 'dist', '.env.test': 'PORT=1' }, 'init'],
  ['with nodemon', { 'package.json': '{ "devDependencies": { "nodemon": "3" } }' }, 'init'],
  ['with the name of another app', { ...HERE, 'apps/web/assets/own.css': '' }, 'init admin']
] as const) {
  test.serial(`init ${title}, interrupted anywhere, is completed by another run`, async t => {
    const whole = makeProject(t, files)
    const { calls: all } = await onFailingDisk(whole, {}, () => run(whole, line))
    // When this folder of unfinished files is removed, everything is in its place.
    const isStage = ({ path }: (typeof all)[number]) => path.endsWith('.koa-fresh-assets-init')
    const calls = all.slice(0, all.findLastIndex(isStage) + 1)
    const expected = textsBelow(whole)
    const writes = calls.flatMap(({ syscall }, at) => (WRITES.test(syscall) ? at + 1 : []))
    t.true(writes.length > 10, JSON.stringify(calls))
    // From this write on the disk fails: at each third write, or, in a long run, at each.
    for (const at of writes.filter((_, number) => number % cases(3, 1) === 0)) {
      const root = makeProject(t, files)
      await onFailingDisk(root, { at, isEnd: true }, () => run(root, line))
      const left = textsBelow(root)
      const again = await run(root, line)
      t.is(again.status, 0, again.stderr)
      t.deepEqual(textsBelow(root), expected, `${at}: ${JSON.stringify(calls[at - 1])}`)
      for (const path of Object.keys(expected)) {
        if (left[path] !== undefined) continue
        t.regex(again.stdout, new RegExp(`^create +${path.replaceAll('.', '\\.')}( |$)`, 'm'))
      }
    }
  })
}
