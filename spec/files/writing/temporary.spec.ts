import { spawnSync } from 'node:child_process'
import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { formatOwner, SELF } from '../../../lib/files/writing/process-owner.ts'
import { sweep, temporaryName } from '../../../lib/files/writing/temporary.ts'
import { writeAtomically } from '../../../lib/files/writing/atomic-write.ts'
import { ownerOf } from '../../support/owner.ts'
import { makeProject } from '../../support/site.ts'

const nameOf = (owner: string) => `.koa-fresh-assets-${owner}-cafecafe-0.tmp`
const ended = () => {
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  return formatOwner({ ...SELF, pid, start: '1' })
}

test('temporary files of processes that have ended are swept, those of living ones stay', async t => {
  const names = {
    [nameOf(ended())]: 'a process that has ended',
    [nameOf(formatOwner({ ...SELF, start: '1' }))]: 'an earlier process of this number',
    [nameOf(ownerOf(process.ppid))]: 'a process that lives',
    [nameOf(formatOwner(SELF))]: 'another thread of this process',
    'app.css': 'no temporary file',
    '.koa-fresh-assets.lock': 'a lock',
    '.hidden': 'no temporary file'
  }
  const root = makeProject(t, names)
  await sweep(root)
  t.deepEqual(
    readdirSync(root).toSorted(),
    [
      ...['.hidden', '.koa-fresh-assets.lock', 'app.css'],
      ...[nameOf(ownerOf(process.ppid)), nameOf(formatOwner(SELF))]
    ].toSorted()
  )
})

test('a temporary file of another container or machine stays while it is young, whatever its mtime', async t => {
  const elsewhere = [
    nameOf(formatOwner({ space: '00000000', pid: 1, start: '1' })),
    nameOf(formatOwner({ space: '00000000', pid: process.pid, start: undefined })),
    '.koa-fresh-assets-00000000-1-cafecafe-0.tmp'
  ]
  const root = makeProject(t, Object.fromEntries(elsewhere.map(name => [name, 'half a fi'])))
  for (const name of elsewhere) utimesSync(join(root, name), 1e9, 1e9)
  await sweep(root)
  t.deepEqual(readdirSync(root).toSorted(), elsewhere.toSorted())
  await sweep(root, -1000)
  t.deepEqual(readdirSync(root), [], 'it goes once it is older than it may be')
})

test('every temporary file has a name of its own, which tells of its process', t => {
  const [one, other] = [temporaryName(), temporaryName()]
  t.not(one, other)
  t.true(one.startsWith(`.koa-fresh-assets-${ownerOf(process.pid)}-`), one)
})

test('a folder that is not there is swept without complaint', async t => {
  await t.notThrowsAsync(sweep(join(makeProject(t), 'nowhere')))
})

test('what a killed process left is swept by the next that writes there', async t => {
  const root = makeProject(t)
  writeFileSync(join(root, nameOf(ended())), 'half a fi')
  await writeAtomically(join(root, 'a.css'), Buffer.from('a{}'), 1_700_000_000_000_000_000n)
  t.deepEqual(readdirSync(root), ['a.css'])
})
