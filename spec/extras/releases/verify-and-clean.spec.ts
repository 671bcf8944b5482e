import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { clean, compress, precompile, verify, verifyCopies } from '../../../lib/index.ts'
import { lock } from '../../../lib/publishing/writing/lock.ts'
import { digestOf } from '../../../lib/runtime/files/digest.ts'
import { withFingerprint } from '../../../lib/runtime/urls/spelling.ts'
import { onFailingDisk, type DiskCall } from '../../support/failing-disk.ts'
import { IMAGES } from '../../support/images.ts'
import { AS_WRITTEN, COPIES, makeProject, placed, run, targetOf } from '../../support/index.ts'
import { test, writeFiles, type ExecutionContext } from '../../support/index.ts'

const TEXT = 'body { color: red }\n'.repeat(200)

test('verify says what to do about a plain name that is missing or differs from its target', async t => {
  // With the size of an image in the manifest.
  const own = { 'stylesheets/app.css': TEXT, 'images/logo.png': IMAGES['a.png'] }
  const root = makeProject(t, placed(own))
  await precompile({ root, ...AS_WRITTEN })
  const file = (path: string) => join(root, 'public', path)
  // A copy is compared by its bytes alone.
  utimesSync(file('/assets/app.css.gz'), 1, 1)
  const manifest = file('assets.json')
  t.deepEqual(await verify({ root }), { manifest, assets: 2, problems: [] })
  writeFileSync(file('/assets/app.css'), 'edited')
  rmSync(file('/assets/logo.png'))
  const target = targetOf(root, '/assets/app.css')
  const message = `differs from ${target}: a development server has written it since (stop it first), or the manifest is that of another release: run npx koa-fresh-assets precompile`
  const missing = 'is missing: copy it again, or run npx koa-fresh-assets precompile'
  const expected = [
    { path: '/assets/app.css', message },
    { path: '/assets/logo.png', message: missing }
  ]
  t.deepEqual((await verify({ root })).problems, expected)
})

test('verify lists a file that the process may not read, and goes on with the others', async t => {
  const root = makeProject(t, placed({ 'a.css': TEXT, 'b.css': TEXT }))
  await precompile({ root, ...AS_WRITTEN })
  rmSync(join(root, 'public', targetOf(root, '/assets/a.css')))
  const target = targetOf(root, '/assets/b.css')
  for (const path of [target, '/assets/b.css', `${target}.gz`, '/assets']) {
    const at = (call: DiskCall) => call.path === join(root, 'public', path)
    const { result } = await onFailingDisk(root, { at, code: 'EACCES' }, () => verify({ root }))
    const told = result.problems.find(each => each.path === path)?.message ?? ''
    t.regex(told, /^cannot be read: EACCES: .*: correct its permissions, or those of its folder$/)
    t.is(result.problems.length, 2)
  }
})

/** A problem of each copy, in the order of the report. */
const copiesOf = (path: string, message: string) =>
  COPIES.map(extension => ({ path: path + extension, message }))

test('verifyCopies reports copies without an original, except for archives and copies of links', async t => {
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

test('verify reports a damaged copy once, although public is a mount as well', async t => {
  const root = makeProject(t, { 'assets/site.css': TEXT, 'public/a.txt': '' })
  await precompile({ root })
  const target = targetOf(root, '/assets/site.css')
  writeFileSync(join(root, 'public', `${target}.br`), 'broken')
  const { problems } = await verify({ root, mounts: { '/': 'public' } })
  t.deepEqual(problems, [{ path: `${target}.br`, message: 'cannot be decompressed' }])
})

const OWN = 'apps/web/assets'
const ADMIN = "the assets of the app 'admin' (apps/admin)"
/** Sources whose URL is a folder in that of other ones, or is where an app is; and what is said of each. */
const IN_THE_WAY = ['images/admin/x.svg', 'docs/admin', 'docs/menu', 'images/menu/x.svg']
const TOLD = {
  '/assets/admin': `${OWN}/docs/admin cannot be published as /assets/admin, a folder in the URL of ${ADMIN}: rename one of them`,
  '/assets/admin/x.svg': `${OWN}/images/admin/x.svg cannot be published as /assets/admin/x.svg, where ${ADMIN} are: rename or exclude it, or set apps.admin.path`,
  '/assets/menu': `${OWN}/docs/menu cannot be published as /assets/menu, a folder in the URL of ${OWN}/images/menu/x.svg: rename one of them`
}

test('a source whose URL conflicts with another source or an app fails precompile and verify', async t => {
  const own = placed({ 'app.css': 'a{}', '/apps/admin/assets/menu.css': 'b{}' })
  const root = makeProject(t, own)
  await run({ root })
  t.deepEqual((await verify({ root })).problems, [])
  writeFiles(root, placed(Object.fromEntries(IN_THE_WAY.map(path => [path, '']))))
  const lines = Object.values(TOLD).map(line => `\n- ${line}`)
  const message = `Precompile failed with 3 errors; nothing was published${lines.join('')}`
  await t.throwsAsync(run({ root }), { message })
  const { problems } = await verify({ root })
  const said = problems.map(({ path, message }) => [path, message.replace('has no file: ', '')])
  t.deepEqual(Object.fromEntries(said), TOLD)
})

test('verify works before the directory of a mount is there', async t => {
  const root = makeProject(t, { 'apps/web/assets/css/app.css': 'a{}' })
  const options = { root, mounts: { '/x': { dir: 'later', manifest: 'later/m.json' } } }
  await precompile(options)
  t.deepEqual((await verify(options)).problems, [])
})

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)

const textOf = (day: number) => `body { color: red }/* ${day} */\n`.repeat(20)
const nameOf = (day: number) => withFingerprint('app.css', digestOf(Buffer.from(textOf(day))))

/** A project with one deploy after the other, each of a source that was saved so many days ago, the oldest first. */
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

test('clean counts from when a file was published, not from when its source was saved', async t => {
  const { root, deploy, left } = await makeDeploys(t, [1, 2, 3])
  for (const day of [300, 200]) await deploy(day)
  t.deepEqual((await clean({ root }, { keep: 2, age: '1d' })).removed, [], 'all are of today')
  const { removed, kept, bytes } = await clean({ root }, { keep: 2, age: 0 })
  t.deepEqual(removed, [1, 2, 3].map(day => `/assets/${nameOf(day)}`).toSorted())
  t.is(kept, 2)
  t.true(bytes > 3 * textOf(2).length)
  t.deepEqual(left(), withCopies(['app.css', nameOf(200), nameOf(300)]))
})

test('clean removes the plain file of an asset that is gone, when its newest version is too old', async t => {
  const { root, folder, left } = await makeDeploys(t, [1])
  const sources = ['draft.txt', 'own.txt'].map(name => join(root, 'apps/web/assets', name))
  for (const source of sources) writeFileSync(source, 'text')
  await precompile({ root, ...AS_WRITTEN })
  for (const source of sources) rmSync(source)
  await precompile({ root, ...AS_WRITTEN })
  writeFileSync(join(folder, 'own.txt'), 'by hand')
  const before = left()
  t.true(before.includes('draft.txt'))
  for (const age of [undefined, 0]) t.deepEqual((await clean({ root }, { age })).removed, [])
  t.deepEqual((await clean({ root }, { age: 0.001 })).removed, ['/assets/draft.txt'])
  t.deepEqual(
    left(),
    before.filter(name => name !== 'draft.txt')
  )
})

test('clean leaves the plain file that pages name since fingerprints were switched off', async t => {
  const { root, left } = await makeDeploys(t, [1])
  await precompile({ root, ...AS_WRITTEN, fingerprint: false })
  await clean({ root, fingerprint: false }, { keep: 0, age: 0 })
  t.true(left().includes('app.css'))
})

test('clean never touches what precompile did not make', async t => {
  const { root, folder, left } = await makeDeploys(t, [1])
  const letter = `letter-${'0'.repeat(32)}.css`
  for (const name of ['notes.txt', letter, `${letter}.gz`, `${nameOf(9)}.gz`]) {
    writeFiles(folder, { [name]: name })
    utimesSync(join(folder, name), daysAgo(99), daysAgo(99))
  }
  const robots = withFingerprint('robots.txt', digestOf(Buffer.from('robots')))
  const elsewhere = join(root, robots)
  writeFiles(root, { [robots]: 'robots' })
  symlinkSync(elsewhere, join(folder, robots))
  const before = left()
  t.deepEqual((await clean({ root }, { keep: 0, age: 0 })).removed, [])
  t.deepEqual(left(), before)
  t.true(existsSync(elsewhere))
})

test('clean follows no link out of public by default', async t => {
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
  const message =
    "public/assets was not cleaned: a symbolic link leads out of public; remove the link, or set symlinks to 'follow'"
  const expected = { code: 'publish-failed', message }
  for (const dryRun of [true, false])
    await t.throwsAsync(clean({ root }, { keep: 1, age: 0, dryRun }), expected)
  t.deepEqual(names(), before)
  t.is((await clean({ root, symlinks: 'follow' }, { keep: 1, age: 0 })).kept, 1)
})

test('clean fails while a precompile is running', async t => {
  const { root, folder } = await makeDeploys(t, [1])
  const held = await lock(folder, t.fail)
  await t.throwsAsync(clean({ root }), { code: 'precompile-busy' })
  await held.release()
})
