import {
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import test from 'ava'
import { type ManifestEntry, serialize } from '../../../lib/assets/building/manifest/manifest.ts'
import { WRITABLE_CODINGS } from '../../../lib/files/codings.ts'
import { clean, compress, precompile, verify, verifyCopies } from '../../../lib/index.ts'
import { makeProject, writeFiles } from '../../support/site.ts'

const FILES = {
  'apps/web/assets/stylesheets/app.css': 'body { color: red }\n'.repeat(40),
  'apps/web/assets/images/logo.png': 'logo'
}

async function makePublished(t: Parameters<typeof makeProject>[0]) {
  const root = makeProject(t, FILES)
  await precompile({ root })
  const manifest = join(root, 'public/assets.json')
  const { assets } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    assets: Record<string, ManifestEntry>
  }
  return {
    root,
    manifest,
    assets,
    target: assets['/assets/app.css']?.target ?? '',
    file: (path: string) => join(root, 'public', path),
    problems: async () => (await verify({ root })).problems
  }
}

test('FPR-16 verify reports no problems after precompile', async t => {
  const { root, manifest } = await makePublished(t)
  t.deepEqual(await verify({ root }), { manifest, assets: 2, problems: [] })
})

test('FPR-16 verify reports edited, deleted and truncated files, each on its own', async t => {
  const { assets, target, file, problems } = await makePublished(t)
  const logo = assets['/assets/logo.png']?.target ?? ''
  writeFileSync(file(target), readFileSync(file(target), 'utf8').replace('red', 'tan'))
  rmSync(file(logo))
  t.deepEqual(await problems(), [
    { path: target, message: 'does not match its fingerprint' },
    { path: logo, message: 'is missing' }
  ])
  truncateSync(file(target), 700)
  t.deepEqual((await problems())[0], { path: target, message: 'has size 700, not 800' })
  rmSync(file(target))
  t.deepEqual((await problems())[0], { path: target, message: 'is missing' })
})

test('verify reports a plain name that is missing or differs from its target', async t => {
  const { target, file, problems } = await makePublished(t)
  writeFileSync(file('/assets/app.css'), 'edited')
  rmSync(file('/assets/logo.png'))
  t.deepEqual(await problems(), [
    { path: '/assets/app.css', message: `differs from ${target}` },
    { path: '/assets/logo.png', message: 'is missing' }
  ])
})

test('verify reports a compressed copy of other bytes, a damaged one, and an older one, but none that is missing', async t => {
  const { target, file, problems } = await makePublished(t)
  const { mtime } = statSync(file(target))
  rmSync(file('/assets/app.css.br'))
  writeFileSync(file(`${target}.gz`), gzipSync('something else'))
  writeFileSync(file(`${target}.br`), 'no brotli at all')
  utimesSync(file('/assets/app.css.gz'), 1, 1)
  const later = new Date(mtime.getTime() + 1000)
  for (const path of [`${target}.gz`, `${target}.br`]) utimesSync(file(path), later, later)
  t.deepEqual(await problems(), [
    { path: `${target}.br`, message: 'cannot be decompressed' },
    { path: `${target}.gz`, message: 'does not decompress to the original' },
    {
      path: '/assets/app.css.gz',
      message: 'is older than the original, so it is not served'
    }
  ])
})

test('verify reports a wrong integrity, and a path that cannot be requested', async t => {
  const { manifest, assets, target, problems } = await makePublished(t)
  const entry = assets['/assets/app.css']
  const wrong = new Map(Object.entries(assets))
  if (entry) {
    wrong.set('/assets/app.css', { ...entry, integrity: ['sha384-AAAA'] })
    wrong.set('/assets/../secret', { ...entry, target: '/../secret' })
  }
  writeFileSync(manifest, serialize(wrong))
  t.deepEqual(await problems(), [
    {
      path: '/assets/../secret',
      message: 'is not a valid request path, or its target /../secret is not'
    },
    { path: target, message: 'does not match its integrity in the manifest' }
  ])
})

test('verify supports apps without fingerprints, and archives that are assets', async t => {
  const root = makeProject(t, {
    ...FILES,
    'apps/web/assets/app.css.gz': 'an archive of its own'
  })
  await precompile({ root, fingerprint: false })
  t.deepEqual((await verify({ root, fingerprint: false })).problems, [])
})

test('without a manifest verify and clean show the command that makes it', async t => {
  const root = makeProject(t, FILES)
  const expected = {
    code: 'manifest-missing',
    message: `there is no manifest ${join(root, 'public/assets.json')}: run koa-fresh-assets precompile`
  }
  await t.throwsAsync(verify({ root }), expected)
  await t.throwsAsync(clean({ root }), expected)
})

const TEXT = 'body { color: red }\n'.repeat(200)
const OTHER = 'body { color: tan }\n'.repeat(200)
const LATER = Date.now() / 1000 + 1000

test('S55 verifyCopies reports a copy that is damaged, of other bytes, or older than its original', async t => {
  const root = makeProject(t, { 'a.css': TEXT, 'b.css': TEXT, 'c.css': TEXT, 'd.css': TEXT })
  await compress(root)
  const all = 4 * WRITABLE_CODINGS.length
  t.deepEqual(await verifyCopies(root), { directory: root, copies: all, unread: 0, problems: [] })
  truncateSync(join(root, 'a.css.br'), 20)
  writeFileSync(join(root, 'b.css.gz'), gzipSync(OTHER))
  utimesSync(join(root, 'b.css.gz'), LATER, LATER)
  utimesSync(join(root, 'c.css.br'), 1e9, 1e9)
  writeFileSync(join(root, 'd.css'), OTHER)
  utimesSync(join(root, 'd.css'), 1e9, 1e9)
  const { copies, problems } = await verifyCopies(root)
  t.is(copies, all)
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
