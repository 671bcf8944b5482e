import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import test from 'ava'
import { lock } from '../../../lib/files/writing/lock.ts'
import { makeProject } from '../../support/site.ts'
import { until } from '../../support/until.ts'

const NAME = '.koa-fresh-assets.lock'
const OLD = 1e9
const mtimeOf = (path: string) => statSync(path).mtimeMs / 1000

const ignore = () => undefined
const ago = (seconds: number) => Date.now() / 1000 - seconds

test('a lock is held by one, and free once it is released', async t => {
  const directory = makeProject(t)
  const held = await lock(directory, ignore)
  await t.throwsAsync(lock(directory, ignore), {
    code: 'precompile-busy',
    message: `another precompile (process ${process.pid} on ${hostname()}) is running in ${directory}: wait until it has finished`
  })
  await t.notThrowsAsync(held.check())
  await held.release()
  t.false(existsSync(join(directory, NAME)))
  await (await lock(directory, ignore)).release()
})

test('a lock of a process that was killed is free after some seconds, and is waited for until then', async t => {
  const directory = makeProject(t, { [NAME]: 'process 7 on web-2' })
  utimesSync(join(directory, NAME), ago(9), ago(9))
  const said: string[] = []
  const held = await lock(directory, message => said.push(message))
  t.deepEqual(said, [
    'waiting some seconds: another precompile (process 7 on web-2) seems to have been killed'
  ])
  await t.notThrowsAsync(held.check())
  await held.release()
})

test('a lock that was left a while ago is free at once', async t => {
  const directory = makeProject(t, { [NAME]: '' })
  utimesSync(join(directory, NAME), ago(60), ago(60))
  const held = await lock(directory, t.fail)
  t.is(readFileSync(join(directory, NAME), 'utf8'), `process ${process.pid} on ${hostname()}`)
  await held.release()
})

test('a run that lost its lock is told so, and leaves the lock of the other', async t => {
  const directory = makeProject(t)
  const held = await lock(directory, ignore)
  // As another machine does it, to which this process has been silent for some seconds.
  renameSync(join(directory, NAME), join(directory, 'taken'))
  const other = await lock(directory, ignore)
  await t.throwsAsync(held.check(), {
    code: 'precompile-busy',
    message: `another precompile took over ${directory} while this one was paused: run it again`
  })
  await held.release()
  await t.notThrowsAsync(other.check())
  await other.release()
  t.false(existsSync(join(directory, NAME)))
})

test('a run whose lock was removed by hand is told so', async t => {
  const directory = makeProject(t)
  const held = await lock(directory, ignore)
  renameSync(join(directory, NAME), join(directory, 'taken'))
  await t.throwsAsync(held.check(), { code: 'precompile-busy' })
  await held.release()
})

test.serial('the heartbeat of a lock fails nobody, and touches no lock but its own', async t => {
  const directory = makeProject(t)
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const held = await lock(directory, ignore)
  const own = join(directory, 'taken')
  renameSync(join(directory, NAME), own)
  writeFileSync(join(directory, NAME), "another's")
  for (const path of [own, join(directory, NAME)]) utimesSync(path, OLD, OLD)
  const fd = openSync(own, 'r')
  t.teardown(() => closeSync(fd))
  // Root may look anywhere: as root, this process becomes somebody else for a while.
  const isRoot = process.getuid?.() === 0
  chmodSync(directory, 0)
  if (isRoot) process.seteuid?.(65_534)
  try {
    mock.timers.tick(1000)
    await until(() => fstatSync(fd).mtimeMs / 1000 !== OLD, 'the heartbeat')
  } finally {
    if (isRoot) process.seteuid?.(0)
    chmodSync(directory, 0o755)
  }
  t.is(mtimeOf(join(directory, NAME)), OLD)
  await held.release()
})
