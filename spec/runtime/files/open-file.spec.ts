// What was opened is judged where it lies, whatever its name leads to by then.
import fs from 'node:fs'
import { open as openHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { isInPlace } from '../../../lib/runtime/files/containment.ts'
import { isUnmodified, withFile, type OpenFile } from '../../../lib/runtime/files/open-file.ts'
import { makeProject, test } from '../../support/index.ts'

test('an open file is unmodified while only its names change, as in a deploy that renames files into place', async t => {
  const root = makeProject(t, { file: 'bytes', next: 'bytes' })
  const path = join(root, 'file')
  const backup = join(root, 'backup')
  const after = (change: () => void) => withFile(path, file => (change(), isUnmodified(file)))
  t.true(await after(() => fs.linkSync(path, backup)))
  t.true(await after(() => fs.renameSync(join(root, 'next'), path)))
  t.true(await after(() => fs.unlinkSync(path)))
  fs.renameSync(backup, path)
  t.false(await after(() => fs.writeFileSync(path, 'other bytes')))
})

test('a file that was replaced or removed since it was opened is still placed where it was', async t => {
  const root = makeProject(t, { 'public/a.txt': 'a' })
  const open = async (path: string): Promise<OpenFile> => {
    const handle = await openHandle(join(root, path))
    t.teardown(() => handle.close())
    const stats = await handle.stat({ bigint: true })
    return { path: join(root, path), fd: handle.fd, stats }
  }
  const dir = join(root, 'public')
  for (const symlinks of ['inside', 'deny'] as const) {
    const isInside = isInPlace({ root: dir, dir, symlinks })
    const replaced = await open('public/a.txt')
    fs.writeFileSync(join(root, 'public/new'), 'new')
    fs.renameSync(join(root, 'public/new'), join(root, 'public/a.txt'))
    t.true(await isInside(replaced))
    fs.writeFileSync(join(root, 'public/c (deleted)'), 'c')
    const removed = await open('public/c (deleted)')
    t.true(await isInside(removed))
    fs.unlinkSync(join(root, 'public/c (deleted)'))
    t.true(await isInside(removed))
  }
})
