// What was opened is judged where it lies, whatever its name leads to by then.
import { renameSync, symlinkSync, unlinkSync, writeFileSync, readFileSync } from 'node:fs'
import { open as openHandle } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { Readable } from 'node:stream'
import zlib from 'node:zlib'
import { type OpenFile } from '../../lib/files/open-file.ts'
import { settle } from '../../lib/assets/settings/settings.ts'
import {
  isInPlace,
  isPathInPlace,
  realPathByName,
  type Symlinks
} from '../../lib/files/containment.ts'
import { makeProject } from '../support/site.ts'
import { compareCopy, CODINGS, type Coding } from '../../lib/files/codings.ts'
import { WRITABLE_CODINGS } from '../support/copies.ts'
import { digestOf } from '../../lib/files/digest.ts'

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

type Best = (bytes: Uint8Array) => Buffer

// Since Node 22.15.
const { zstdCompressSync, constants } = zlib as typeof zlib & {
  zstdCompressSync?: (bytes: Uint8Array, options: { params: Record<number, number> }) => Buffer
  constants: { ZSTD_c_compressionLevel: number }
}

const BEST: Readonly<Record<string, Best>> = {
  br: bytes => zlib.brotliCompressSync(bytes),
  gzip: bytes => zlib.gzipSync(bytes, { level: 9 }),
  zstd: bytes =>
    zstdCompressSync?.(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 19 } }) ??
    Buffer.alloc(0)
}

test('every coding that this Node can write is written at its best level', async t => {
  const bytes = readFileSync('node_modules/bootstrap/dist/css/bootstrap.css')
  t.deepEqual(
    WRITABLE_CODINGS.map(({ name }) => name),
    zstdCompressSync ? ['br', 'zstd', 'gzip'] : ['br', 'gzip']
  )
  for (const coding of WRITABLE_CODINGS) {
    const compressed = await coding.compress?.(bytes)
    const best = BEST[coding.name]?.(bytes).length ?? 0
    t.true(compressed && compressed.length <= best * 1.01, `${coding.name}: ${compressed?.length}`)
    t.true(compressed && (await expandsTo(bytes, compressed, coding)), coding.name)
  }
})

test('what is of no coding that this Node can read is a copy of nothing', async t => {
  for (const coding of CODINGS) {
    for (const bytes of [Buffer.alloc(0), Buffer.from('broken')]) {
      t.false(await expandsTo(bytes, Buffer.from('broken'), coding), coding.name)
    }
  }
})

async function expandsTo(bytes: Buffer, compressed: Buffer, coding: Coding): Promise<boolean> {
  const original = { size: bytes.length, digest: digestOf(bytes) }
  return (await compareCopy(original, () => Readable.from([compressed]), coding)) === 'equal'
}
