// Files are written completely or not at all, with the mtime that they are to have.
import {
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import fc, { assert, asyncProperty, bigInt } from 'fast-check'
import { hasMtime, mtimeNotBefore, setMtime } from '../../../lib/files/clock.ts'
import { removeFile } from '../../../lib/files/disk.ts'
import {
  sweep,
  sweepTree,
  temporaryName,
  writeAtomically
} from '../../../lib/files/writing/atomic-write.ts'
import { makeProject } from '../../support/site.ts'
import { cases } from '../../support/soak.ts'

const THEN = 1_700_000_000_123_456_789n
const modeOf = (path: string) => statSync(path).mode & 0o777

test('a file is written with its folders, its mtime and mode 0644', async t => {
  const root = makeProject(t)
  const target = join(root, 'public/assets/deep/a.css')
  const mark = await writeAtomically(target, Buffer.from('a{}'), THEN)
  t.is(readFileSync(target, 'utf8'), 'a{}')
  t.is(modeOf(target), 0o644)
  t.is(modeOf(join(root, 'public')), 0o755)
  const stats = statSync(target, { bigint: true })
  t.true(hasMtime(stats, THEN))
  t.is(mark?.ino, stats.ino)
  t.is(mark?.ctimeNs, stats.ctimeNs)
  t.deepEqual(readdirSync(join(root, 'public/assets/deep')), ['a.css'])
})

test('a copy has the mode and the mtime of any other target', async t => {
  const root = makeProject(t, { source: 'bytes' })
  chmodSync(join(root, 'source'), 0o400)
  const target = join(root, 'public/copy')
  await writeAtomically(target, { copyOf: join(root, 'source') }, THEN)
  t.is(readFileSync(target, 'utf8'), 'bytes')
  t.is(modeOf(target), 0o644)
  t.true(hasMtime(statSync(target, { bigint: true }), THEN))
})

test('a target is replaced, not written into: who reads the old one goes on reading it', async t => {
  const root = makeProject(t, { 'a.css': 'old' })
  const target = join(root, 'a.css')
  const { open } = await import('node:fs/promises')
  const reader = await open(target)
  await writeAtomically(target, Buffer.from('new and longer'), THEN)
  t.is(await reader.readFile('utf8'), 'old')
  await reader.close()
  t.is(readFileSync(target, 'utf8'), 'new and longer')
})

test('what cannot be written leaves the old target, and no temporary file', async t => {
  const root = makeProject(t, { 'public/a.css': 'old', 'public/taken/x': '' })
  const taken = join(root, 'public/taken')
  await t.throwsAsync(writeAtomically(taken, Buffer.from('new'), THEN), { code: 'EISDIR' })
  const copy = writeAtomically(join(root, 'public/a.css'), { copyOf: join(root, 'gone') }, THEN)
  await t.throwsAsync(copy, { code: 'ENOENT' })
  t.is(readFileSync(join(root, 'public/a.css'), 'utf8'), 'old')
  t.deepEqual(readdirSync(join(root, 'public')).toSorted(), ['a.css', 'taken'])
})

test('every mtime since 1970 is recognised on its target', async t => {
  const root = makeProject(t, { file: '' })
  const path = join(root, 'file')
  const nanoseconds = bigInt({ min: 0n, max: 4_000_000_000_000_000_000n })
  await assert(
    asyncProperty(nanoseconds, async wanted => {
      await setMtime(path, wanted)
      return hasMtime(statSync(path, { bigint: true }), wanted)
    }),
    {
      numRuns: cases(50, 300),
      examples: [[0n], [999n], [1_700_000_000_000_001_000n], [1_697_198_486_328_126_000n]]
    }
  )
  t.pass()
})

test('an mtime that differs by two microseconds is another', t => {
  const { dev, ino, size, ctimeNs } = statSync('.', { bigint: true })
  const mark = { dev, ino, size, ctimeNs, mtimeNs: THEN }
  t.true(hasMtime(mark, THEN))
  t.false(hasMtime(mark, THEN + 2000n))
  t.false(hasMtime(mark, THEN - 2000n))
})

test('a file that is gone already can be removed', async t => {
  const root = makeProject(t, { 'a.css': '' })
  await removeFile(join(root, 'a.css'))
  await removeFile(join(root, 'a.css'))
  await removeFile(join(root, 'a.css/b'))
  t.deepEqual(readdirSync(root), [])
  await t.throwsAsync(removeFile(root), { message: /^(EISDIR|EPERM): / })
})

test('a target that cannot be replaced is named as it was given, also behind a link', async t => {
  const root = makeProject(t, { 'real/app.css/in-the-way': '' })
  symlinkSync('real', join(root, 'link'))
  const target = join(root, 'link/app.css')
  const error = await t.throwsAsync(() => writeAtomically(target, Buffer.from('a{}'), 1n))
  t.is((error as NodeJS.ErrnoException & { dest?: string }).dest, target)
  t.deepEqual(readdirSync(join(root, 'real')), ['app.css'])
})

const LEFT = '.koa-fresh-assets-cafecafe-0.tmp'

test('temporary files go once they are older than they may be, whatever their mtime; other files stay', async t => {
  const others = ['.hidden', '.koa-fresh-assets.lock', 'app.css']
  const root = makeProject(
    t,
    Object.fromEntries([...others, LEFT].map(name => [name, 'half a fi']))
  )
  for (const name of [...others, LEFT]) utimesSync(join(root, name), 1e9, 1e9)
  await sweep(root)
  t.deepEqual(readdirSync(root).toSorted(), [...others, LEFT].toSorted())
  await sweep(root, -1000)
  t.deepEqual(readdirSync(root).toSorted(), others)
})

test('every temporary file has a name of its own, which is swept', async t => {
  const names = [temporaryName(), temporaryName()]
  t.is(new Set(names).size, 2)
  const root = makeProject(t)
  for (const name of names) writeFileSync(join(root, name), '')
  await sweep(root, -1000)
  t.deepEqual(readdirSync(root), [])
})

test('S74 folders below are swept, but not through a link', async t => {
  const outside = makeProject(t, { [LEFT]: '', [`deep/${LEFT}`]: '' })
  const root = makeProject(t, { [`a/b/${LEFT}`]: '', [`a/${LEFT}`]: '' })
  symlinkSync(outside, join(root, 'link'))
  symlinkSync(root, join(root, 'again'))
  await sweepTree(root, -1000)
  t.deepEqual(readdirSync(join(root, 'a')), ['b'])
  t.deepEqual(readdirSync(join(root, 'a/b')), [])
  t.deepEqual(readdirSync(outside).toSorted(), [LEFT, 'deep'])
  t.deepEqual(readdirSync(join(outside, 'deep')), [LEFT])
})

test('a folder that is not there is swept without complaint', async t => {
  await t.notThrowsAsync(sweep(join(makeProject(t), 'nowhere')))
})

test('an mtime that is not before another is not before it on disk either, and less than 3 µs later', async t => {
  const file = join(makeProject(t, { copy: '' }), 'copy')
  const nanoseconds = fc.bigInt({ min: 0n, max: 4_000_000_000_000_000_000n })
  await fc.assert(
    fc.asyncProperty(nanoseconds, async original => {
      await setMtime(file, mtimeNotBefore(original))
      const { mtimeNs } = statSync(file, { bigint: true })
      return mtimeNs >= original && mtimeNs - original < 3000n
    }),
    { numRuns: 500 }
  )
  t.pass()
})
