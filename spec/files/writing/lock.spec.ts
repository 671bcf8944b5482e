import {
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { lock } from '../../../lib/files/writing/lock.ts'
import { formatOwner, SELF } from '../../../lib/files/writing/process-owner.ts'
import { ownerOf } from '../../support/owner.ts'
import { makeProject } from '../../support/site.ts'

const NAME = '.koa-fresh-assets.lock'
const OLD = 1e9
const mtimeOf = (path: string) => statSync(path).mtimeMs / 1000

test('a lock is held by one, and free once it is released', async t => {
  const directory = makeProject(t)
  const held = await lock(directory)
  await t.throwsAsync(lock(directory), {
    code: 'precompile-busy',
    message: `another precompile (process ${process.pid}) is running in ${directory}: wait until it has finished, or remove ${directory}/${NAME}`
  })
  await t.notThrowsAsync(held.check())
  await held.release()
  t.false(existsSync(join(directory, NAME)))
  await (await lock(directory)).release()
})

for (const [whose, owner] of [
  ['a process that has ended', formatOwner({ ...SELF, pid: 4_194_300, start: '1' })],
  ['a killed run, whose number another process bears now', ownerOf(process.ppid) + '1']
] as const) {
  test(`a lock of ${whose} is free at once`, async t => {
    const directory = makeProject(t, { [NAME]: owner })
    const held = await lock(directory)
    t.is(readFileSync(join(directory, NAME), 'utf8'), ownerOf(process.pid))
    await held.release()
  })
}

test('a lock of a process that is alive is never broken, however long it was not written', async t => {
  const directory = makeProject(t, { [NAME]: ownerOf(process.ppid) })
  utimesSync(join(directory, NAME), OLD, OLD)
  await t.throwsAsync(lock(directory), { code: 'precompile-busy' })
})

test('a run that lost its lock is told so, and leaves the lock of the other', async t => {
  const directory = makeProject(t)
  const held = await lock(directory)
  // As another machine does it, to which this process has been silent for a minute.
  renameSync(join(directory, NAME), join(directory, 'taken'))
  const other = await lock(directory)
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
  const held = await lock(directory)
  renameSync(join(directory, NAME), join(directory, 'taken'))
  await t.throwsAsync(held.check(), { code: 'precompile-busy' })
  await held.release()
})

test.serial('the heartbeat of a lock fails nobody, and touches no lock but its own', async t => {
  const directory = makeProject(t)
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const held = await lock(directory)
  const own = join(directory, 'taken')
  renameSync(join(directory, NAME), own)
  writeFileSync(join(directory, NAME), "another's")
  for (const path of [own, join(directory, NAME)]) utimesSync(path, OLD, OLD)
  // Root may look anywhere: as root, this process becomes somebody else for a while.
  const isRoot = process.getuid?.() === 0
  chmodSync(directory, 0)
  if (isRoot) process.seteuid?.(65_534)
  try {
    mock.timers.tick(5000)
    for (let turn = 0; turn < 200; turn++) await setImmediate()
  } finally {
    if (isRoot) process.seteuid?.(0)
    chmodSync(directory, 0o755)
  }
  t.is(mtimeOf(join(directory, NAME)), OLD)
  t.not(mtimeOf(own), OLD)
  await held.release()
})
