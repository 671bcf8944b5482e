// Links that lead outside, and what is no regular file.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { statSync, symlinkSync, unlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { ask } from '../support/raw.ts'
import { filesBelow, checkMiss, makeFingerprinted, makeFront } from '../support/index.ts'
import { makeFronts, makeProject, placed, run, test, words, writeFiles } from '../support/index.ts'
import type { ExecutionContext } from '../support/index.ts'
import { PLACES } from './places.ts'
import { makeStronghold, SECRET } from './stronghold.ts'

for (const { where, at, options } of PLACES) {
  test(`a link in public that leads outside is not found${where}`, async t => {
    const root = makeStronghold(t)
    const outside = makeProject(t, { secret: SECRET })
    const link = (to: string, at: string) => symlinkSync(to, join(root, 'public', at))
    link(join(outside, 'secret'), 'file.txt')
    link(join(outside, 'secret'), 'assets/file.css')
    link(outside, 'folder')
    link(outside, 'assets/folder')
    link('../package.json', 'relative.json')
    link('../../.env', 'assets/environment.css')
    link('../public-secret', 'sibling')
    link('file.txt', 'link-to-link.txt')
    link('/proc/self/environ', 'assets/environ.txt')
    link('no-such-file', 'dangling.txt')
    const fronts = await makeFronts(t, root, options)
    const targets = words(`
      /file.txt /assets/file.css /folder/secret /assets/folder/secret /relative.json /sibling/x
      /assets/environment.css /link-to-link.txt /assets/environ.txt /dangling.txt /folder /sibling
    `)
    for (const target of targets) await checkMiss(t, fronts, at + target)
  })
}

const SOURCES = 'apps/web/assets/stylesheets'

for (const { where, at, options, folder } of [
  ...PLACES.map(place => ({ ...place, folder: 'public' })),
  { where: ', in a source', at: '/assets', options: {}, folder: SOURCES }
]) {
  test(`a FIFO, socket, directory or device with the name of a file is not found${where}`, async t => {
    const root = makeStronghold(t)
    const names = await makeStrangers(t, join(root, folder))
    for (const symlinks of ['inside', 'follow', 'deny'] as const) {
      const fronts = await makeFronts(t, root, { ...options, symlinks })
      for (const name of names) await checkMiss(t, fronts, `${at}/${name}`)
      const published = names.filter(name => existsSync(join(root, 'public/assets', name)))
      t.deepEqual(published, [])
      await checkServed(t, fronts, '/assets/app.css', 'body { color: red }')
    }
  })

  test(`only the files beside links that lead in a circle are found${where}`, async t => {
    // Linux tells so of a file that is gone.
    const named = `${folder}/b (deleted)`
    const root = makeProject(t, { [`${folder}/app.css`]: 'a{}', [named]: 'b' })
    symlinkSync('loop.css', join(root, folder, 'loop.css'))
    symlinkSync('.', join(root, folder, 'self'))
    symlinkSync('..', join(root, folder, 'up'))
    const symlinks = folder === 'public' ? { symlinks: 'deny' as const } : {}
    const fronts = await makeFronts(t, root, { ...options, ...symlinks })
    for (const target of ['/loop.css', '/loop.css/x', '/self', '/self/app.css'])
      await checkMiss(t, fronts, at + target)
    await checkServed(t, fronts, `${at}/app.css`, 'a{}')
    await checkServed(t, fronts, `${at}/b%20(deleted)`, 'b')
  })
}

/** In development, where nothing is precompiled. */
async function checkServed(
  t: ExecutionContext,
  [development]: Awaited<ReturnType<typeof makeFronts>>,
  target: string,
  text: string
): Promise<void> {
  t.is((await ask(development?.front.port ?? 0, 'GET', target)).text, text)
}

test('files below a folder of sources are gone as soon as it becomes a link that leads outside', async t => {
  const root = makeProject(t, { 'apps/web/assets/stylesheets/a/x.css': 'good' })
  const outside = makeProject(t, { 'x.css': SECRET })
  const folder = join(root, 'apps/web/assets/stylesheets/a')
  const front = await makeFront(t, { root, env: 'development' })
  t.is((await ask(front.port, 'GET', '/assets/a/x.css')).text, 'good')
  renameSync(folder, join(root, 'away'))
  symlinkSync(outside, folder)
  t.is((await ask(front.port, 'GET', '/assets/a/x.css')).status, 404)
})

test('nothing is written through a link in public that leads outside', async t => {
  const root = makeProject(t, {
    'apps/web/assets/stylesheets/app.css': 'a{}',
    'apps/web/assets/stylesheets/sub/x.css': 'x{}',
    'apps/web/assets/stylesheets/same.css': 'same{}',
    'public/assets/y': ''
  })
  const outside = makeProject(t, { 'app.css': 'precious', 'same.css': 'same{}' })
  symlinkSync(outside, join(root, 'public/assets/sub'))
  symlinkSync(join(outside, 'app.css'), join(root, 'public/assets/app.css'))
  symlinkSync(join(outside, 'same.css'), join(root, 'public/assets/same.css'))
  const stamp = () => statSync(join(outside, 'same.css'), { bigint: true }).mtimeNs
  const before = stamp()
  const front = await makeFront(t, { root, env: 'development' })
  t.is((await ask(front.port, 'GET', '/assets/sub/x.css')).status, 404)
  t.false(existsSync(join(outside, 'x.css')))
  t.is((await ask(front.port, 'GET', '/assets/app.css')).text, 'a{}')
  t.is(readFileSync(join(outside, 'app.css'), 'utf8'), 'precious')
  t.is((await ask(front.port, 'GET', '/assets/same.css')).text, 'same{}')
  t.is(stamp(), before)
})

/** A FIFO, a socket, a directory and, for root, a device, all with a name that looks like a file. */
async function makeStrangers(t: ExecutionContext, directory: string): Promise<string[]> {
  mkdirSync(directory, { recursive: true })
  execFileSync('mkfifo', [join(directory, 'fifo.css'), join(directory, 'fifo.png')])
  mkdirSync(join(directory, 'directory.css'))
  const server = createServer()
  await new Promise<void>(resolve => server.listen(join(directory, 'socket.css'), resolve))
  t.teardown(() => server.close())
  symlinkSync('fifo.css', join(directory, 'link-to-fifo.css'))
  symlinkSync('/dev/zero', join(directory, 'link-to-device.css'))
  const names = ['fifo.css', 'fifo.png', 'directory.css', 'socket.css', 'link-to-fifo.css']
  if (process.getuid?.() === 0) {
    execFileSync('mknod', [join(directory, 'device.css'), 'c', '1', '5'])
    names.push('device.css')
  } else t.log('without a device file, which only root can make')
  return [...names, 'link-to-device.css']
}

test('no request hangs when a source, a published file or a file of public becomes a FIFO', async t => {
  const root = makeProject(t, { 'apps/web/assets/stylesheets/app.css': 'a{}', 'public/a.txt': 'a' })
  const front = await makeFront(t, { root, env: 'development' })
  execFileSync('mkfifo', [join(root, 'fifo'), join(root, 'fifo2'), join(root, 'fifo3')])
  t.is((await ask(front.port, 'GET', '/assets/app.css')).text, 'a{}')
  renameSync(join(root, 'fifo'), join(root, 'public/assets/app.css'))
  t.is((await ask(front.port, 'GET', '/assets/app.css')).text, 'a{}')
  t.is((await ask(front.port, 'GET', '/a.txt')).text, 'a')
  renameSync(join(root, 'fifo2'), join(root, 'public/a.txt'))
  t.is((await ask(front.port, 'GET', '/a.txt')).status, 404)
  renameSync(join(root, 'fifo3'), join(root, 'apps/web/assets/stylesheets/app.css'))
  t.is((await ask(front.port, 'GET', '/assets/app.css')).status, 404)
  unlinkSync(join(root, 'apps/web/assets/stylesheets/app.css'))
  writeFiles(root, { 'apps/web/assets/stylesheets/app.css': 'b{}' })
  t.is((await ask(front.port, 'GET', '/assets/app.css')).text, 'b{}')
})

for (const folder of ['assets', 'assets/sub', 'assets/sub/deeper']) {
  test(`nothing is written through ${folder} of public when that is a link that leads outside`, async t => {
    const outside = makeProject(t, { precious: 'precious' })
    const source = { 'x/sub/deeper/x.css': 'x{}' }
    const root = makeProject(t, { ...placed({ 'x/app.css': 'a{}', ...source }), 'public/y': '' })
    mkdirSync(join(root, 'public', folder, '..'), { recursive: true })
    symlinkSync(outside, join(root, 'public', folder))
    const before = filesBelow(join(root, 'public'))
    const said = 'was not written: a symbolic link leads out of public'
    const precompiled = await t.throwsAsync(run({ root }), { code: 'precompile-failed' })
    t.true(precompiled?.message.includes(`public/${folder}`), precompiled?.message)
    t.true(precompiled?.message.includes(said))
    t.deepEqual(filesBelow(join(root, 'public')), before)
    const live = await makeFingerprinted(t, 'live', source, { root })
    const published = live.path('sub/deeper/x.css')
    await t.throwsAsync(published, { code: 'publish-failed', message: new RegExp(said) })
    t.deepEqual(filesBelow(outside), ['precious'])
    await run({ root, symlinks: 'follow' })
    t.true(filesBelow(outside).length > 1, 'unless links are followed')
  })
}

// A manifest tells paths of sources.

test('no request gets a manifest, not even through a mount of public', async t => {
  const names = words(`
    assets.json assets.json.br assets.json.gz assets.json.zst ASSETS.json a\u017f\u017fets.json
    .vite/manifest.json
  `)
  const root = makeProject(t, Object.fromEntries(names.map(name => [`public/${name}`, SECRET])))
  symlinkSync('public', join(root, 'link'))
  const fronts = await makeFronts(t, root, { mounts: { '/files': 'public', '/link': 'link' } })
  const compressed = words('/assets.json.br /assets.json.gz /assets.json.zst')
  for (const target of [
    ...['', '/files', '/link'].flatMap(at => ['/assets.json', ...compressed].map(to => at + to)),
    ...['/assets.json?x', '/ASSETS.json', '/assets%2ejson', '/.vite/manifest.json'],
    // APFS takes the long s for an s.
    ...['http://localhost/assets.json', '/a%C5%BF%C5%BFets.json']
  ])
    await checkMiss(t, fronts, target)
})

test('files that are called like a manifest of another prefix are served', async t => {
  const root = makeProject(t, {
    'public/static/a.json': SECRET,
    'public/assets.json': 'mine',
    'public/static/a.json.map': 'mine',
    'public/manifest.json': 'mine'
  })
  const fronts = await makeFronts(t, root, { prefix: '/static/a' })
  await checkMiss(t, fronts, '/static/a.json')
  const front = await makeFront(t, { root, env: 'development', prefix: '/static/a' })
  for (const path of ['/assets.json', '/static/a.json.map', '/manifest.json']) {
    t.is((await ask(front.port, 'GET', path)).text, 'mine')
  }
})
