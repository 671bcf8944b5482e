// What this process may not read or write, and what is not of the kind that it should be.
import { fork } from 'node:child_process'
import { chmodSync, chownSync, linkSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { koaAssets } from '../../../lib/koa-assets.ts'
import { ask, LOADER, makeProject, makeSite, moduleFile, test } from '../../support/index.ts'
import type { Answer } from '../../support/index.ts'
import { isKnown } from '../../publishing/cli/run.ts'

interface Told {
  readonly answers: readonly Answer[]
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

/** Starts a program as an ordinary user's process. */
function forkAsUser(program: string, args: readonly string[], silent = false) {
  return fork(moduleFile(`${program}.ts`), args, {
    execArgv: [...LOADER],
    silent,
    ...(process.getuid?.() === 0 && { uid: 65534, gid: 65534 }),
    env: { ...process.env, TSX_DISABLE_CACHE: '1', NODE_V8_COVERAGE: undefined }
  })
}

/** The responses of that user's process to each path, in order. */
async function askAsUser(root: string, steps: readonly string[]) {
  const child = forkAsUser('spec/support/ordinary-user', [root, ...steps])
  // On a busy machine the exit is told before the message.
  const [[told]] = await Promise.all([once(child, 'message'), once(child, 'exit')])
  return told as Told
}

/** Gives paths of a project to that user, with a mode. */
function hand(root: string, paths: readonly string[], mode?: number) {
  for (const path of paths) {
    if (process.getuid?.() === 0) chownSync(join(root, path), 65534, 65534)
    if (mode !== undefined) chmodSync(join(root, path), mode)
  }
}

const page = (reason: string) => `This cannot be published\n\n${reason}\n`
const failed = (path: string, call: string) => {
  const rights =
    'allow this process to read the sources and to write to public (and in precompile to source-maps, unless sourceMaps is false), or, on a server in production, set NODE_ENV=production'
  return [500, page(`cannot publish ${path}: ${call} failed with EACCES; ${rights}`)]
}

test('an asset that cannot be read or published is a 500 that names it, until it can be', async t => {
  const root = makeProject(t, {
    'apps/web/assets/css/a.css': 'a{}',
    'apps/web/assets/css/b.css': 'b{}',
    'apps/web/assets/img/d.svg': '<svg/>',
    'apps/web/assets/js/c.js': 'c()',
    // Of another user: it is replaced where its folder may be written.
    'public/assets/b.css': 'b{}',
    'public/assets/put.txt': 'put'
  })
  utimesSync(join(root, 'public/assets/b.css'), 1_700_000_000, 1_700_000_000)
  hand(root, ['.', 'public', 'public/assets', 'apps/web/assets/img'])
  hand(root, ['apps/web/assets/css/a.css'], 0o000)
  const { answers } = await askAsUser(root, [
    ...['/assets/a.css', '/assets/b.css', 'chmod 644 apps/web/assets/css/a.css', '/assets/a.css'],
    ...['/assets/d.svg', 'chmod 000 apps/web/assets/img', '/assets/d.svg'],
    ...['chmod 755 apps/web/assets/img', '/assets/d.svg'],
    ...['chmod 555 public/assets', '/assets/c.js', '/assets/put.txt']
  ])
  const shown = (text: string) => text.replace(/\w+ (public\S*?)\.\S+/, '$1')
  const told = answers.map(({ status, text }) => [status, shown(text)])
  t.deepEqual(told, [
    failed('/assets/a.css', 'open apps/web/assets/css/a.css'),
    [200, 'b{}'],
    [200, 'a{}'],
    [200, '<svg/>'],
    failed('/assets/d.svg', 'stat apps/web/assets/img/d.svg'),
    [200, '<svg/>'],
    failed('/assets/c.js', 'public/assets/'),
    [200, 'put']
  ])
  const published = readdirSync(join(root, 'public/assets')).toSorted()
  t.deepEqual(published, ['a.css', 'b.css', 'd.svg', 'put.txt'])
})

test('a file or folder of a mount or public that may not be read is a 404 with one warning', async t => {
  const root = makeProject(t, {
    'build/lost+found/a.txt': 'a',
    'build/secret.txt': 'secret',
    'build/open.txt': 'open',
    'build/open.txt.gz': 'closed',
    'public/lost+found/a.txt': 'a',
    'public/secret.txt': 'secret'
  })
  const denied = ['build/lost+found', 'public/lost+found', 'build/secret.txt', 'public/secret.txt']
  hand(root, ['.', 'public'])
  hand(root, denied, 0o000)
  chmodSync(join(root, 'build/open.txt.gz'), 0o000)
  const missing = ['lost+found/a.txt', 'lost+found/b.txt', 'lost+found/c/d.txt', 'secret.txt']
  const { answers, errors, warnings } = await askAsUser(root, [
    ...missing.flatMap(path => [`/static/${path}`, `/${path}`, `/static/${path}`]),
    ...['/static/open.txt', 'chmod 644 build/secret.txt', '/static/secret.txt']
  ])
  const statuses = answers.map(({ status }) => status)
  t.deepEqual(statuses, [...Array.from({ length: 12 }, () => 404), 200, 200])
  t.deepEqual(errors, [])
  const reason =
    'is not served, because this process may not read it: correct its permissions, or move it'
  const all = [...denied, 'build/open.txt.gz'].map(path => join(root, path))
  t.is(warnings.join('\n'), all.map(path => `koa-fresh-assets: ${path} ${reason}`).join('\n'))
})

test('a folder that may be entered and not listed serves its files unless their case is in doubt', async t => {
  const text = 'text '.repeat(200)
  const copied = { 'build/closed/a.txt': text, 'build/closed/a.txt.gz': gzipSync(text) }
  const root = makeProject(t, copied)
  // One file under two names is what a disk that ignores case shows, and only a list tells which of them it has.
  const folder = join(root, 'build/closed')
  linkSync(join(folder, 'a.txt'), join(folder, 'twin.txt'))
  linkSync(join(folder, 'a.txt'), join(folder, 'TWIN.TXT'))
  hand(root, ['.'])
  chmodSync(folder, 0o111)
  const options = { root, env: 'production', apps: false, mounts: { '/static': 'build' } }
  const child = forkAsUser('spec/support/site-process', [JSON.stringify(options)])
  t.teardown(() => child.kill())
  const [port] = (await once(child, 'message')) as [number]
  for (const [name, headers, expected] of [
    ['a.txt', {}, [200, undefined]],
    ['a.txt', { 'accept-encoding': 'gzip' }, [200, 'gzip']],
    ['twin.txt', {}, [404, undefined]],
    ['TWIN.TXT', {}, [404, undefined]]
  ] as const) {
    const answer = await ask(port, `/static/closed/${name}`, { headers })
    t.deepEqual([answer.status, answer.headers['content-encoding']], expected, name)
  }
})

const REMEDY = 'correct its permissions, or those of its folder'

test('the error of a page says what to do about a source folder that may not be listed', async t => {
  const root = makeProject(t, { 'apps/web/assets/css/a.css': 'a{}' })
  hand(root, ['.', 'apps/web/assets/css'])
  const { errors } = await askAsUser(root, ['chmod 000 apps/web/assets/css', '/'])
  chmodSync(join(root, 'apps/web/assets/css'), 0o755)
  const folder = join(root, 'apps/web/assets/css')
  t.deepEqual(errors, [`EACCES: permission denied, scandir '${folder}': ${REMEDY}`])
})

test('a file or folder that may not be read at start is an error that says what to do', t => {
  const files = { 'public/a.txt': 'a', 'public/assets.json': '{}', 'build/a.txt': 'a' }
  const root = makeProject(t, { ...files, 'apps/web/assets/a.css': 'a{}' })
  const isRoot = process.getuid?.() === 0
  hand(root, ['.'])
  const told = (what: string, dir: string) =>
    `${what}, which this process may not read (EACCES: ${dir}/package.json): correct its permissions or its owner`
  const denied = (call: string, path: string) =>
    `EACCES: permission denied, ${call} '${join(root, path)}': ${REMEDY}`
  const mounting = { apps: false, public: false, mounts: { '/static': 'build' } } as const
  const ofMount = told(`the mount /static is ${join(root, 'build')}`, 'build')
  for (const [path, options, code, message] of [
    ['public', { apps: false }, 'public-unusable', told('the option public is public', 'public')],
    ['build', mounting, 'mount-unusable', ofMount],
    ['public/assets.json', {}, 'EACCES', denied('open', 'public/assets.json')],
    ['apps', {}, 'EACCES', denied('scandir', 'apps')]
  ] as const) {
    chmodSync(join(root, path), 0o000)
    if (isRoot) process.seteuid?.(65_534)
    try {
      const start = () => koaAssets({ root, env: 'production', ...options })
      t.throws(start, { code, message }, path)
    } finally {
      if (isRoot) process.seteuid?.(0)
      chmodSync(join(root, path), 0o755)
    }
  }
})

for (const [command, path, isDirectory, before = ''] of [
  ['verify', 'public/assets.json', false],
  ['precompile', 'apps/web/assets/a.css', false],
  // Node calls it missing.
  ['precompile', '.env.production', false],
  ['verify', 'public/assets.json', true],
  ['precompile', '.env.production', true],
  ['precompile', 'assets.config.js', true, 'cannot load assets.config.js: '],
  ['precompile', 'assets.config.json', true, 'cannot load assets.config.json: ']
] as const) {
  if (!isKnown(command)) continue
  const what = isDirectory ? 'is a directory' : 'may not be read'
  test(`where ${path} ${what}, ${command} names it and says what to do`, async t => {
    const file = isDirectory ? `${path}/x` : path
    const root = makeProject(t, { 'apps/web/assets/a.css': 'a{}', [file]: 'A=1' })
    hand(root, ['.', ...(isDirectory ? [] : [path])])
    const at = join(root, path)
    if (!isDirectory) chmodSync(at, 0o000)
    const child = forkAsUser('lib/cli', [command, '--root', root, '--env', 'production'], true)
    const [told, [status]] = await Promise.all([text(child.stderr!), once(child, 'exit')])
    const reason = isDirectory
      ? `EISDIR: illegal operation on a directory, read '${at}': rename or remove this directory, as a file belongs there`
      : `EACCES: permission denied, open '${at}': ${REMEDY}`
    t.deepEqual([told.split('\n').at(-2), status], [`koa-fresh-assets: ${before}${reason}`, 1])
    if (isDirectory && path.startsWith('public/'))
      t.throws(() => koaAssets({ root, env: 'production' }), { message: reason })
  })
}

test('a source is published where a folder of that name, now empty, had assets before', async t => {
  const site = await makeSite(t, { 'css/a.css/b.css': 'b{}' })
  t.is((await site.ask('/assets/a.css/b.css')).text, 'b{}')
  rmSync(site.at('css/a.css'), { recursive: true })
  t.is((await site.ask('/assets/a.css/b.css')).status, 404)
  site.write('css/a.css', 'a{}')
  t.is((await site.ask('/assets/a.css')).text, 'a{}')
  t.is((await site.ask('/assets/a.css/b.css')).status, 404)
})

test('a directory is never replaced by an asset, or taken for one', async t => {
  const site = await makeSite(t, {
    'css/a.css': 'a{}',
    'css/b.css/c.css': 'c{}',
    'css/d.css.scss/e.css': 'e{}',
    '/public/assets/a.css/keep.txt': 'keep'
  })
  const { status, text } = await site.ask('/assets/a.css')
  const reason = 'rename public/assets/a.css failed with EISDIR; a directory exists'
  const told = page(`cannot publish /assets/a.css: ${reason} where the file belongs`)
  t.deepEqual([status, text], [500, told])
  t.is(site.read('/public/assets/a.css/keep.txt'), 'keep')
  t.deepEqual(readdirSync(site.at('/public/assets')), ['a.css'])
  for (const path of ['/assets/b.css', '/assets/d.css', '/assets/d.css.scss'])
    t.is((await site.ask(path)).status, 404)
  t.is((await site.ask('/assets/b.css/c.css')).text, 'c{}')
})
