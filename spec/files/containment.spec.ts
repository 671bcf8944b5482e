// What was opened is judged where it lies, whatever its name leads to by then.
import { renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { open as openHandle } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { OpenFile } from '../../lib/files/open-file.ts'
import { settle } from '../../lib/assets/settings/settings.ts'
import {
  isInPlace,
  isPathInPlace,
  realPathByName,
  type Symlinks
} from '../../lib/files/containment.ts'
import { makeProject } from '../support/site.ts'

function isInDirectory(symlinks: Symlinks, dir: string, file: OpenFile): Promise<boolean> {
  return isInPlace({ root: dir, dir, symlinks })(file)
}

function makeGround(t: ExecutionContext) {
  const root = makeProject(t, {
    'public/a.txt': 'a',
    'public/sub/b.txt': 'b',
    'public-x/c.txt': 'c'
  })
  const directory = join(root, 'public')
  const open = async (path: string): Promise<OpenFile> => {
    const handle = await openHandle(join(root, path))
    t.teardown(() => handle.close())
    const stats = await handle.stat({ bigint: true })
    return { path: join(root, path), fd: handle.fd, stats }
  }
  const judge = async (path: string, symlinks: Symlinks = 'inside') =>
    isInDirectory(symlinks, directory, await open(path))
  return { root, directory, open, judge }
}

test('S52 a link that is swapped after the opening changes no judgement', async t => {
  const { root, directory, open } = makeGround(t)
  const link = join(root, 'public/link.txt')
  const point = (to: string) => {
    symlinkSync(to, `${link}.new`)
    renameSync(`${link}.new`, link)
  }
  point('../public-x/c.txt')
  const outside = await open('public/link.txt')
  point('a.txt')
  t.false(await isInDirectory('inside', directory, outside))
  t.is(await realPathByName(outside), undefined, 'nor where the kernel does not tell')
  const inside = await open('public/link.txt')
  point('../public-x/c.txt')
  t.true(await isInDirectory('inside', directory, inside))
})

test('a file that was replaced or removed since it was opened lies where it lay', async t => {
  const { root, directory, open } = makeGround(t)
  for (const symlinks of ['inside', 'deny'] as const) {
    const replaced = await open('public/a.txt')
    writeFileSync(join(root, 'public/new'), 'new')
    renameSync(join(root, 'public/new'), join(root, 'public/a.txt'))
    t.true(await isInDirectory(symlinks, directory, replaced))
    writeFileSync(join(root, 'public/c (deleted)'), 'c')
    const removed = await open('public/c (deleted)')
    t.true(await isInDirectory(symlinks, directory, removed))
    unlinkSync(join(root, 'public/c (deleted)'))
    t.true(await isInDirectory(symlinks, directory, removed))
  }
})

function pointAt(place: string, link: string): void {
  symlinkSync(place, `${link}.new`)
  renameSync(`${link}.new`, link)
}

test('a deploy that leads a link to another release takes public along', async t => {
  const above = makeProject(t, {
    'releases/1/public/a.txt': 'a',
    'releases/2/public/a.txt': 'a',
    'releases/3/elsewhere/a.txt': 'a'
  })
  const root = join(above, 'current')
  pointAt('releases/1', root)
  const settings = settle({ root })
  const file = join(root, 'public/a.txt')
  t.true(await isPathInPlace(settings.place, file))
  pointAt('releases/2', root)
  t.true(await isPathInPlace(settings.place, file))
  symlinkSync('elsewhere', join(above, 'releases/3/public'))
  pointAt('releases/3', root)
  t.false(await isPathInPlace(settings.place, file))
})
