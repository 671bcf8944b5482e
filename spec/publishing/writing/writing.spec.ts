// Files are written completely or not at all, with the mtime that they are to have.
import { assert, asyncProperty, bigInt } from 'fast-check'
import fs from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { hasMtime } from '../../../lib/runtime/files/disk.ts'
import * as write from '../../../lib/publishing/writing/write.ts'
import { lock } from '../../../lib/publishing/writing/lock.ts'
import { onFailingDisk } from '../../support/failing-disk.ts'
import { cases, FILE_MODE, filesBelow, FOLDER_MODE, makeProject } from '../../support/index.ts'
import { openDescriptors, test, until } from '../../support/index.ts'

const modeOf = (path: string) => fs.statSync(path).mode & 0o777

test('a file, or a copy of one, is written with its folders and mode 0644', async t => {
  const root = makeProject(t)
  const target = join(root, 'public/assets/deep/a.css')
  await write.writeAtomically(target, Buffer.from('a{}'))
  t.is(fs.readFileSync(target, 'utf8'), 'a{}')
  t.is(modeOf(target), FILE_MODE)
  t.is(modeOf(join(root, 'public')), FOLDER_MODE)
  t.deepEqual(fs.readdirSync(join(root, 'public/assets/deep')), ['a.css'])
  fs.writeFileSync(join(root, 'source'), 'bytes', { mode: 0o400 })
  await write.writeAtomically(target, { copyOf: join(root, 'source') })
  t.is(fs.readFileSync(target, 'utf8'), 'bytes')
  t.is(modeOf(target), FILE_MODE)
})

test('every mtime since 1970 is recognised on the file that got it', async t => {
  const root = makeProject(t, { file: '' })
  const path = join(root, 'file')
  const nanoseconds = bigInt({ min: 0n, max: 4_000_000_000_000_000_000n })
  const isRecognised = asyncProperty(nanoseconds, async wanted => {
    await write.touch(path, wanted)
    return hasMtime(fs.statSync(path, { bigint: true }), wanted)
  })
  const examples = [[0n], [999n], [1_700_000_000_000_001_000n], [1_697_198_486_328_126_000n]]
  const parameters = { numRuns: cases(50, 300), examples: examples as [bigint][] }
  await t.notThrowsAsync(async () => assert(isRecognised, parameters))
})

const LEFT = '.koa-fresh-assets-cafecafe-0.tmp'

test('only temporary files that are old enough are removed, whatever their mtime', async t => {
  const others = ['.hidden', '.koa-fresh-assets.lock', 'app.css']
  const all = [...others, LEFT].toSorted()
  const root = makeProject(t, Object.fromEntries(all.map(name => [name, 'half a fi'])))
  for (const name of all) fs.utimesSync(join(root, name), 1e9, 1e9)
  await write.sweep(root)
  t.deepEqual(fs.readdirSync(root).toSorted(), all)
  await write.sweep(root, -1000)
  t.deepEqual(fs.readdirSync(root).toSorted(), others)
  // A process does so when it first writes there, and then no more.
  const directory = makeProject(t)
  for (const left of [[], [LEFT]]) {
    fs.writeFileSync(join(directory, LEFT), '')
    await write.sweepOnce(directory, -1000)
    t.deepEqual(fs.readdirSync(directory), left)
  }
})

test('temporary files are removed from all folders below, without following links', async t => {
  const outside = makeProject(t, { [LEFT]: '', [`deep/${LEFT}`]: '' })
  const root = makeProject(t, { [`a/b/${LEFT}`]: '', [`a/${LEFT}`]: '' })
  fs.symlinkSync(outside, join(root, 'link'))
  fs.symlinkSync(root, join(root, 'again'))
  await write.sweepTree(root, -1000)
  t.deepEqual(fs.readdirSync(join(root, 'a'), { recursive: true }), ['b'])
  t.deepEqual(filesBelow(outside), [LEFT, `deep/${LEFT}`])
})

const NAME = '.koa-fresh-assets.lock'
const OLD = 1e9
const mtimeOf = (path: string) => fs.statSync(path).mtimeMs / 1000

const ignore = () => undefined
const ago = (seconds: number) => Date.now() / 1000 - seconds

test('only one process at a time holds the lock of a directory', async t => {
  const directory = makeProject(t)
  const held = await lock(directory, ignore)
  await t.throwsAsync(lock(directory, ignore), {
    code: 'precompile-busy',
    message: `another precompile (process ${process.pid} on ${hostname()}) is running in ${directory}: wait until it has finished`
  })
  await t.notThrowsAsync(held.check())
  await held.release()
  t.false(fs.existsSync(join(directory, NAME)))
  await (await lock(directory, ignore)).release()
})

for (const [owner, named] of [
  ['process 7 on web-2', 'process 7 on web-2'],
  ['', 'unknown']
] as const) {
  test(`a killed precompile (${named}) delays the next one by a few seconds at most`, async t => {
    for (const seconds of [5, 60]) {
      const directory = makeProject(t, { [NAME]: owner })
      fs.utimesSync(join(directory, NAME), ago(seconds), ago(seconds))
      const said: string[] = []
      const held = await lock(directory, message => said.push(message))
      const waiting = `waiting a few seconds: another precompile (${named}) seems to have been killed`
      t.deepEqual(said, seconds === 5 ? [waiting] : [])
      const own = `process ${process.pid} on ${hostname()}`
      t.is(fs.readFileSync(join(directory, NAME), 'utf8'), own)
      await t.notThrowsAsync(held.check())
      await held.release()
    }
  })
}

test('a folder or a link in the place of a lock is an error that names it', async t => {
  const directory = makeProject(t, { 'folder/.keep': '', left: '' })
  for (const to of ['folder', 'left', 'nowhere']) {
    fs.symlinkSync(to, join(directory, NAME))
    await t.throwsAsync(lock(directory, t.fail), {
      code: 'publish-failed',
      message: `${join(directory, NAME)} is in the way of a lock: remove it`
    })
    fs.rmSync(join(directory, NAME))
  }
  fs.mkdirSync(join(directory, NAME))
  await t.throwsAsync(lock(directory, t.fail), { code: 'publish-failed' })
  t.deepEqual(fs.readdirSync(directory).toSorted(), [NAME, 'folder', 'left'])
})

for (const isAbandoned of [false, true]) {
  const kind = isAbandoned ? 'find a lock abandoned' : 'ask for a lock'
  test(`of several processes that ${kind} at the same moment, only one may publish`, async t => {
    const directory = makeProject(t, isAbandoned ? { [NAME]: '' } : {})
    if (isAbandoned) fs.utimesSync(join(directory, NAME), OLD, OLD)
    const runs = await Promise.allSettled([1, 2, 3].map(() => lock(directory, ignore)))
    const locks = runs.flatMap(run => (run.status === 'fulfilled' ? run.value : []))
    if (!isAbandoned) t.is(locks.length, 1)
    const checks = await Promise.allSettled(locks.map(held => held.check()))
    t.is(checks.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const held of locks) await held.release()
    t.deepEqual(fs.readdirSync(directory), [])
  })
}

test.serial('the heartbeat of a lock never renews the lock of another process', async t => {
  const directory = makeProject(t)
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const held = await lock(directory, ignore)
  const own = join(directory, 'taken')
  fs.renameSync(join(directory, NAME), own)
  fs.writeFileSync(join(directory, NAME), "another's")
  for (const path of [own, join(directory, NAME)]) fs.utimesSync(path, OLD, OLD)
  const fd = fs.openSync(own, 'r')
  t.teardown(() => fs.closeSync(fd))
  // Root may look anywhere: as root, this process becomes somebody else for a while.
  const isRoot = process.getuid?.() === 0
  fs.chmodSync(directory, 0)
  if (isRoot) process.seteuid?.(65_534)
  try {
    mock.timers.tick(1000)
    await until(() => fs.fstatSync(fd).mtimeMs / 1000 !== OLD, 'the heartbeat')
  } finally {
    if (isRoot) process.seteuid?.(0)
    fs.chmodSync(directory, 0o755)
  }
  t.is(mtimeOf(join(directory, NAME)), OLD)
  await held.release()
})

for (const isAbandoned of [false, true]) {
  const kind = isAbandoned ? 'an abandoned' : 'a free'
  test.serial(`a disk failure at ${kind} lock leaves no heartbeat and no open file`, async t => {
    t.teardown(() => mock.timers.reset())
    let at = 0
    for (let isReached = true; isReached;) {
      const directory = makeProject(t, isAbandoned ? { [NAME]: '' } : {})
      if (isAbandoned) fs.utimesSync(join(directory, NAME), OLD, OLD)
      mock.timers.enable({ apis: ['setInterval'] })
      let isHeld = false
      const { failed } = await onFailingDisk(directory, { at: ++at }, async () => {
        try {
          const held = await lock(directory, t.fail)
          isHeld = true
          await held.release()
        } catch (error) {
          t.like(error, { code: 'EIO' })
        }
      })
      isReached = failed !== undefined
      const call = failed?.syscall ?? ''
      const what = `${call}, ${isHeld ? 'released' : 'taken'}`
      t.is(openDescriptors(directory), 0, what)
      // A temporary file that could not be removed is swept later.
      const left = fs.readdirSync(directory).filter(name => name === NAME || call !== 'unlink')
      const isAsFound = isAbandoned && left.includes(NAME) && mtimeOf(join(directory, NAME)) === OLD
      const isStuck = isHeld ? /lstat|unlink/.test(call) : isAsFound
      t.deepEqual(left, isStuck && isReached ? [NAME] : [], what)
      const mtimes = () => left.map(name => mtimeOf(join(directory, name)))
      const before = mtimes()
      mock.timers.tick(5000)
      mock.timers.reset()
      t.deepEqual(mtimes(), before, `${what}: no heartbeat`)
    }
    t.true(at > 6, `${at}`)
  })
}
