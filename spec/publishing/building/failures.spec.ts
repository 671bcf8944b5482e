// A deploy that cannot be finished says why, and leaves the old one usable.
import { readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PrecompileOptions, precompile } from '../../../lib/koa-assets.ts'
import { bundle, runInChild } from '../../support/precompile-in-child.ts'
import { AS_WRITTEN, digestIn, digestOf, filesBelow } from '../../support/index.ts'
import { makeProject, placed, readManifest, readPublic, run } from '../../support/index.ts'
import { snapshot, test, writeFiles, type ExecutionContext } from '../../support/index.ts'

const hiddenBelow = (directory: string) =>
  filesBelow(directory).filter(path => /(?:^|\/)\./.test(path))

/** Every file that the manifest names is there, with the bytes that its name says. */
function checkManifest(t: ExecutionContext, root: string): void {
  for (const { target, size } of Object.values(readManifest(root).assets)) {
    const bytes = readPublic(root, target)
    t.is(bytes.length, size, target)
    t.is(digestOf(bytes), digestIn(target) ?? '', target)
  }
}

/** Every file of the manifest is there with its bytes, and nothing temporary is. */
function checkUsable(t: ExecutionContext, root: string): void {
  checkManifest(t, root)
  t.deepEqual(hiddenBelow(join(root, 'public')), [])
}

test('a precompile fails if a big source is edited while it is published', async t => {
  const film = (letter: string) => Buffer.alloc(3_000_000, letter)
  const root = makeProject(t, placed({ 'film.bin': film('a'), 'app.js': 'go()' }))
  await run({ root })
  const before = snapshot(join(root, 'public'))
  const source = join(root, 'apps/web/assets/film.bin')
  writeFileSync(source, film('b'))
  const onProgress: PrecompileOptions['onProgress'] = ({ stage, done, total }) => {
    if (stage === 'compile' && done === total) writeFileSync(source, film('c'))
  }
  await t.throwsAsync(precompile({ root, ...AS_WRITTEN }, { onProgress }), {
    code: 'publish-failed',
    message: 'apps/web/assets/film.bin was edited while it was published: run again'
  })
  t.deepEqual(snapshot(join(root, 'public')), before)
  await run({ root })
  checkUsable(t, root)
  t.is(readPublic(root, '/assets/film.bin').toString('latin1', 0, 1), 'c')
})

test('a precompile publishes nothing if a folder of sources appears while it runs', async t => {
  const root = makeProject(t, placed({ 'a.css': 'a {}' }))
  const folder = join(root, 'apps/web/assets/late')
  const onProgress: PrecompileOptions['onProgress'] = ({ stage, done }) => {
    if (stage === 'compile' && done === 1) writeFiles(folder, { 'b.css': 'b {}' })
  }
  await t.throwsAsync(precompile({ root, ...AS_WRITTEN }, { onProgress }), {
    code: 'precompile-failed',
    message: /apps\/web\/assets\/late\/b\.css appeared during the precompile/
  })
  t.is(snapshot(join(root, 'public')).size, 0)
})

test('a precompile that lost its lock while it was paused replaces nothing', async t => {
  const root = makeProject(t, placed({ 'a.js': 'a()', 'b.js': 'b()' }))
  await run({ root })
  const before = snapshot(join(root, 'public'))
  writeFiles(root, placed({ 'a.js': 'A()', 'b.js': 'B()' }))
  const lock = 'public/assets/.koa-fresh-assets.lock'
  // As another machine does it, to which this process has been silent for some seconds.
  const onProgress: PrecompileOptions['onProgress'] = ({ stage, done }) => {
    if (stage !== 'write' || done !== 2) return
    writeFiles(root, { "another's": "another's" })
    renameSync(join(root, "another's"), join(root, lock))
  }
  const paused = precompile({ root, ...AS_WRITTEN }, { onProgress })
  await t.throwsAsync(paused, { code: 'precompile-busy' })
  const after = snapshot(join(root, 'public'))
  for (const [path, digest] of before) t.is(after.get(path), digest, path)
  t.deepEqual(hiddenBelow(join(root, 'public')), ['assets/.koa-fresh-assets.lock'])
  t.is(readFileSync(join(root, lock), 'utf8'), "another's")
})

test('a precompile can be aborted at any moment without harm to the old deploy', async t => {
  const root = makeProject(t, placed({ 'a.js': 'a()', 'b.js': 'b()' }))
  await run({ root })
  const manifest = readManifest(root)
  writeFiles(root, placed({ 'a.js': 'A()', 'b.js': 'B()' }))
  for (const moment of ['before', 'compile 1', 'compile 2', 'write 1', 'write 2']) {
    const abort = new AbortController()
    const { signal } = abort
    const reason = new Error(`enough at ${moment}`)
    if (moment === 'before') abort.abort(reason)
    const onProgress: PrecompileOptions['onProgress'] = ({ stage, done }) => {
      if (`${stage} ${done}` === moment) abort.abort(reason)
    }
    const aborted = precompile({ root, ...AS_WRITTEN }, { signal, onProgress })
    t.is(await t.throwsAsync(aborted), reason)
    t.deepEqual(readManifest(root), manifest)
    checkUsable(t, root)
  }
  t.deepEqual((await run({ root })).changes.changed, ['/assets/a.js', '/assets/b.js'])
})

test('under umask 077 a web server can read everything that precompile writes', async t => {
  const program = await bundle()
  const root = makeProject(t, placed({ 'app.js': 'go()', 'images/icons/logo.png': 'logo' }))
  t.is((await runInChild(program, root, 'umask 077')).status, 0)
  const modeOf = (path: string) => statSync(join(root, 'public', path)).mode & 0o777
  for (const folder of ['', 'assets', 'assets/icons']) t.is(modeOf(folder), 0o755, folder)
  for (const file of filesBelow(join(root, 'public'))) t.is(modeOf(file), 0o644, file)
})

// Whatever moment a deploy is killed at, what was published before stays usable.

const SHEET = 'a { color: red }'.repeat(40)
const deploy = (number: number) =>
  placed({ 'a.css': `${SHEET}/* ${number} */`, 'b.css': `${SHEET}/*! ${number} */`, 'c.png': 'c' })

test('a killed precompile leaves a manifest whose files are all intact', async t => {
  const program = await bundle()
  const root = makeProject(t, deploy(0))
  await run({ root })
  writeFiles(root, deploy(1))
  const before = snapshot(join(root, 'public'))
  for (const moment of ['compile 1', 'write 2', 'commit 2']) {
    const ended = await runInChild(program, root, ':', [...moment.split(' '), 'SIGKILL'])
    t.is(ended.signal, 'SIGKILL', `${moment} ${ended.said}`)
    const after = snapshot(join(root, 'public'))
    for (const [path, digest] of before) {
      // By then some plain names have been replaced.
      if (moment === 'commit 2' && path !== 'assets.json' && !digestIn(path)) continue
      t.is(after.get(path), digest, `${path} at ${moment}`)
    }
    checkManifest(t, root)
    // As if the seconds had passed after which it counts as abandoned.
    utimesSync(join(root, 'public/assets/.koa-fresh-assets.lock'), 0, 0)
  }
  await run({ root })
  checkManifest(t, root)
})

test('a signal that comes while plain names are replaced waits until all of them are', async t => {
  const program = await bundle()
  const root = makeProject(t, deploy(0))
  await run({ root })
  writeFiles(root, deploy(1))
  t.is((await runInChild(program, root, ':', ['commit', '1', 'SIGINT'])).signal, 'SIGINT')
  checkManifest(t, root)
  t.true(readPublic(root, '/assets/b.css').includes('/*! 1 */'))
  for (const [plain, { target }] of Object.entries(readManifest(root).assets))
    for (const extension of plain.endsWith('.css') ? ['', '.br', '.gz'] : ['']) {
      const file = readPublic(root, plain + extension)
      t.true(file.equals(readPublic(root, target + extension)), plain + extension)
    }
})
