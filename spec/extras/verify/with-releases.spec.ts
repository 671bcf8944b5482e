import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import type { ManifestEntry } from '../../../lib/runtime/urls/manifest.ts'
import { COPIES, WRITABLE_CODINGS } from '../../support/copies.ts'
import { clean, compress, precompile, verify, verifyCopies } from '../../../lib/index.ts'
import { readManifest } from '../../support/fingerprinted.ts'
import { makeProject, writeFiles } from '../../support/site.ts'
import { outdatedAmong } from '../../../lib/extras/releases/clean.ts'
import { withFingerprint } from '../../../lib/runtime/urls/spelling.ts'
import { digestOf } from '../../../lib/runtime/files/digest.ts'
import { lock } from '../../../lib/publishing/writing/lock.ts'
import { AS_WRITTEN } from '../../support/as-written.ts'

const FILES = {
  'apps/web/assets/stylesheets/app.css': 'body { color: red }\n'.repeat(40),
  'apps/web/assets/images/logo.png': 'logo'
}

async function makePublished(t: Parameters<typeof makeProject>[0]) {
  const root = makeProject(t, FILES)
  await precompile({ root, ...AS_WRITTEN })
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

const MISSING = 'is missing: copy it again, or run npx koa-fresh-assets precompile'

test('FPR-16 verify reports each copy that is not served, and what was edited, truncated or deleted', async t => {
  const { root, manifest, target, file, problems } = await makePublished(t)
  t.deepEqual(await verify({ root }), { manifest, assets: 2, problems: [] })
  // It is compared by its bytes alone.
  utimesSync(file('/assets/app.css.gz'), 1, 1)
  t.deepEqual(await problems(), [])
  for (const [damage, message] of [
    [() => writeFileSync(file(target), 'x'.repeat(800)), 'does not match its fingerprint'],
    [() => truncateSync(file(target), 700), 'has size 700, not 800'],
    [() => rmSync(file(target)), MISSING]
  ] as const) {
    damage()
    t.deepEqual((await problems())[0], { path: target, message })
  }
})

test('FPR-16 verify says what may have written a file under a plain name that differs from its target, and what to do', async t => {
  const { target, file, problems } = await makePublished(t)
  writeFileSync(file('/assets/app.css'), 'edited')
  rmSync(file('/assets/logo.png'))
  t.deepEqual(await problems(), [
    {
      path: '/assets/app.css',
      message: `differs from ${target}: a development server has written it since, or the manifest is that of another release: run npx koa-fresh-assets precompile`
    },
    { path: '/assets/logo.png', message: MISSING }
  ])
})

const TEXT = 'body { color: red }\n'.repeat(200)
const OTHER = 'body { color: tan }\n'.repeat(200)
const LATER = Date.now() / 1000 + 1000

/** A problem of each copy, in the order of the report. */
const copiesOf = (path: string, message: string) =>
  COPIES.map(extension => ({ path: path + extension, message }))

test('S55 verifyCopies reports a copy that is damaged, or of other bytes', async t => {
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
  t.deepEqual(problems, [
    { path: 'a.css.br', message: 'cannot be decompressed' },
    { path: 'b.css.gz', message: 'does not decompress to the original' },
    ...copiesOf('d.css', 'does not decompress to the original')
  ])
})

test('verifyCopies reports copies without an original, but neither archives nor copies of a link', async t => {
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
  const message = 'has no original, so it is not needed: remove it'
  t.deepEqual(problems, copiesOf('sub/gone.css', message))
})

test('S24 nothing outside is read through a link, and nothing is written', async t => {
  const root = makeProject(t, { 'dist/a.css': TEXT, 'secret.css': TEXT, 'secret.css.br': 'broken' })
  symlinkSync('../secret.css', join(root, 'dist/b.css'))
  symlinkSync('../secret.css.br', join(root, 'dist/b.css.br'))
  symlinkSync('../secret.css.br', join(root, 'dist/a.css.br'))
  t.deepEqual((await verifyCopies(join(root, 'dist'))).problems, [])
  t.is(readFileSync(join(root, 'secret.css.br'), 'utf8'), 'broken')
})

const DAY = 24 * 3600
const daysAgo = (days: number) => new Date(Date.now() - days * DAY * 1000)

const textOf = (day: number) => `body { color: red }/* ${day} */\n`.repeat(20)
const nameOf = (day: number) => withFingerprint('app.css', digestOf(Buffer.from(textOf(day))))

/** A project with a deploy at each of these ages, in days; the youngest is the current one. */
async function makeDeploys(t: ExecutionContext, days: readonly number[]) {
  const root = makeProject(t)
  const source = join(root, 'apps/web/assets/app.css')
  const deploy = async (day: number) => {
    writeFiles(root, { 'apps/web/assets/app.css': textOf(day) })
    utimesSync(source, daysAgo(day), daysAgo(day))
    await precompile({ root, ...AS_WRITTEN })
  }
  for (const day of days.toSorted((a, b) => b - a)) await deploy(day)
  const folder = join(root, 'public/assets')
  return { root, folder, deploy, left: () => readdirSync(folder).toSorted() }
}

const withCopies = (names: readonly string[]) =>
  names.flatMap(name => ['', ...COPIES].map(extension => name + extension)).toSorted()

test('FPR-15 clean keeps what was published today, and the newest two by when that was, and says the same in a dry run', async t => {
  const { root, deploy, left } = await makeDeploys(t, [1, 2, 3])
  for (const day of [300, 200]) await deploy(day)
  const before = left()
  t.deepEqual((await clean({ root }, { keep: 2, age: '1d' })).removed, [], 'all are of today')
  const dry = await clean({ root }, { keep: 2, age: 0, dryRun: true })
  t.deepEqual(left(), before)
  const { dryRun, removed, kept, bytes } = await clean({ root }, { keep: 2, age: 0 })
  t.deepEqual({ ...dry, dryRun }, { dryRun: false, removed, kept, bytes })
  t.deepEqual(removed, [1, 2, 3].map(day => `/assets/${nameOf(day)}`).toSorted())
  t.is(kept, 2)
  t.true(bytes > 3 * textOf(2).length)
  t.deepEqual(left(), withCopies(['app.css', nameOf(200), nameOf(300)]))
})

test('FPR-15 versions that are not among the newest, not young and not current are removed', t => {
  const ago = (days: number) => 1e12 - days * DAY * 1000
  const removedOf = (...days: readonly number[]) => {
    const dated = new Map(days.map((age, at) => [at, ago(age)]))
    return Array.from(outdatedAmong({ keep: 2, age: '1d' }, dated, 1e12), at => days[at])
  }
  t.deepEqual(removedOf(0.1, 0.5, 0.9, 2, 3), [2, 3])
  t.deepEqual(removedOf(5, 6, 7), [7])
  t.deepEqual(removedOf(2, 2, 2, 2), [2, 2], 'as after a copy of the directory')
  t.deepEqual(removedOf(-Infinity, 2, 3), [3])
})

test('clean never touches what precompile did not make', async t => {
  const { root, folder, left } = await makeDeploys(t, [1])
  const letter = `letter-${'0'.repeat(32)}.css`
  for (const name of ['notes.txt', letter, `${letter}.gz`, `${nameOf(9)}.gz`]) {
    writeFileSync(join(folder, name), name)
    utimesSync(join(folder, name), daysAgo(99), daysAgo(99))
  }
  const robots = withFingerprint('robots.txt', digestOf(Buffer.from('robots')))
  const elsewhere = join(root, robots)
  writeFileSync(elsewhere, 'robots')
  symlinkSync(elsewhere, join(folder, robots))
  const before = left()
  t.deepEqual((await clean({ root }, { keep: 0, age: 0 })).removed, [])
  t.deepEqual(left(), before)
  t.true(existsSync(elsewhere))
})

test('S74 clean follows no link, and refuses a public/assets that is a link out of public', async t => {
  const { root, folder } = await makeDeploys(t, [1, 10, 20])
  const outside = makeProject(t)
  const names = () => readdirSync(outside).toSorted()
  cpSync(folder, outside, { recursive: true })
  const before = names()
  symlinkSync(outside, join(folder, 'folder'))
  await clean({ root }, { keep: 1, age: 0 })
  t.deepEqual(names(), before)
  rmSync(folder, { recursive: true })
  symlinkSync(outside, folder)
  for (const dryRun of [true, false]) {
    await t.throwsAsync(clean({ root }, { keep: 1, age: 0, dryRun }), {
      code: 'publish-failed',
      message:
        "public/assets was not cleaned: a symbolic link leads out of public; remove the link, or set symlinks to 'follow'"
    })
  }
  t.deepEqual(names(), before)
  const { kept } = await clean({ root, symlinks: 'follow' }, { keep: 1, age: 0 })
  t.is(kept, 1)
})

test('clean fails while a precompile is running', async t => {
  const { root, folder } = await makeDeploys(t, [1])
  const held = await lock(folder, t.fail)
  await t.throwsAsync(clean({ root }), { code: 'precompile-busy' })
  await held.release()
})

test('MNT-02 verify checks what is published into a mount of public only once', async t => {
  const root = makeProject(t, {
    'assets/site.css': 'p { color: red }\n'.repeat(200),
    'public/a.txt': ''
  })
  await precompile({ root })
  const { target = '' } = readManifest(root).assets['/assets/site.css'] ?? {}
  writeFileSync(join(root, 'public', `${target}.br`), 'broken')
  const { problems } = await verify({ root, mounts: { '/': 'public' } })
  t.deepEqual(problems, [{ path: `${target}.br`, message: 'cannot be decompressed' }])
})
