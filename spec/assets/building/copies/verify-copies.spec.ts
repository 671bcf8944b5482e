import { readFileSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import test from 'ava'
import { WRITABLE_CODINGS } from '../../../../lib/files/codings.ts'
import { compress, verifyCopies } from '../../../../lib/index.ts'
import { makeProject, writeFiles } from '../../../support/site.ts'

const TEXT = 'body { color: red }\n'.repeat(200)
const OTHER = 'body { color: tan }\n'.repeat(200)
const LATER = Date.now() / 1000 + 1000

test('verifyCopies counts every copy, and reports no problem after compress', async t => {
  const root = makeProject(t, { 'a.css': TEXT, 'b/c.js': TEXT, 'photo.png': TEXT, '.env': TEXT })
  t.deepEqual(await verifyCopies(root), { directory: root, copies: 0, unread: 0, problems: [] })
  await compress(root)
  const copies = 2 * WRITABLE_CODINGS.length
  t.deepEqual(await verifyCopies(root), { directory: root, copies, unread: 0, problems: [] })
})

test('S55 verifyCopies reports a copy that is damaged, of other bytes, or older than its original', async t => {
  const root = makeProject(t, { 'a.css': TEXT, 'b.css': TEXT, 'c.css': TEXT, 'd.css': TEXT })
  await compress(root)
  truncateSync(join(root, 'a.css.br'), 20)
  writeFileSync(join(root, 'b.css.gz'), gzipSync(OTHER))
  utimesSync(join(root, 'b.css.gz'), LATER, LATER)
  utimesSync(join(root, 'c.css.br'), 1e9, 1e9)
  writeFileSync(join(root, 'd.css'), OTHER)
  utimesSync(join(root, 'd.css'), 1e9, 1e9)
  const { copies, problems } = await verifyCopies(root)
  t.is(copies, 4 * WRITABLE_CODINGS.length)
  t.deepEqual(
    problems,
    [
      { path: 'a.css.br', message: 'cannot be decompressed' },
      { path: 'b.css.gz', message: 'does not decompress to the original' },
      { path: 'c.css.br', message: 'is older than the original, so it is not served' },
      ...WRITABLE_CODINGS.map(({ extension }) => ({
        path: `d.css${extension}`,
        message: 'does not decompress to the original'
      }))
    ].toSorted((a, b) => (a.path < b.path ? -1 : 1))
  )
})

test('verifyCopies reports copies without an original, but neither archives nor those of a link', async t => {
  const root = makeProject(t, {
    'index.html': TEXT,
    'sub/gone.css': TEXT,
    'sitemap.xml.gz': gzipSync(TEXT),
    'release.tar.gz': gzipSync(TEXT),
    'release.tar.br': brotliCompressSync(TEXT),
    'link.css.br': brotliCompressSync(TEXT)
  })
  symlinkSync('index.html', join(root, 'link.css'))
  await compress(root)
  rmSync(join(root, 'sub/gone.css'))
  const { problems } = await verifyCopies(root)
  t.deepEqual(
    problems,
    WRITABLE_CODINGS.map(({ extension }) => ({
      path: `sub/gone.css${extension}`,
      message: 'has no original, so nobody needs it: remove it'
    })).toSorted((a, b) => (a.path < b.path ? -1 : 1))
  )
})

test('a copy in a coding that this Node cannot read is counted as not read', async t => {
  const readable = WRITABLE_CODINGS.some(({ name }) => name === 'zstd')
  const root = makeProject(t, { 'a.css': TEXT })
  writeFiles(root, { 'a.css.zst': 'no zstd at all' })
  const { copies, unread, problems } = await verifyCopies(root)
  t.is(copies, 1)
  t.is(unread, readable ? 0 : 1)
  t.deepEqual(problems, readable ? [{ path: 'a.css.zst', message: 'cannot be decompressed' }] : [])
})

test('S24 nothing outside is read through a link, and nothing is written', async t => {
  const root = makeProject(t, { 'dist/a.css': TEXT, 'secret.css': TEXT, 'secret.css.br': 'broken' })
  symlinkSync('../secret.css', join(root, 'dist/b.css'))
  symlinkSync('../secret.css.br', join(root, 'dist/b.css.br'))
  symlinkSync('../secret.css.br', join(root, 'dist/a.css.br'))
  t.deepEqual((await verifyCopies(join(root, 'dist'))).problems, [])
  t.is(readFileSync(join(root, 'secret.css.br'), 'utf8'), 'broken')
})
