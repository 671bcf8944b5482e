// What clean removes, and what it leaves.
import { cpSync, existsSync, readdirSync, rmSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { test, type ExecutionContext } from '../../support/test.ts'
import { outdatedAmong } from '../../../lib/extras/releases/clean.ts'
import { clean, precompile } from '../../../lib/index.ts'
import { lock } from '../../../lib/publishing/writing/lock.ts'
import { digestOf } from '../../../lib/runtime/files/digest.ts'
import { withFingerprint } from '../../../lib/runtime/urls/spelling.ts'
import { AS_WRITTEN } from '../../support/as-written.ts'
import { COPIES } from '../../support/copies.ts'
import { makeProject, writeFiles } from '../../support/site.ts'

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

test('clean keeps what was published today, and the newest two, and a dry run says the same', async t => {
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

test('versions that are not among the newest, not young and not current are removed', t => {
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

test('clean follows no link, and refuses a public/assets that is a link out of public', async t => {
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
