import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { outdated } from '../../../lib/assets/building/clean.ts'
import { clean, precompile, verify } from '../../../lib/index.ts'
import { withFingerprint } from '../../../lib/assets/urls/fingerprint.ts'
import { makeProject } from '../../support/site.ts'
import { COPIES } from '../../support/copies.ts'
import { untilSettled } from '../../support/until.ts'
import { digestOf } from '../../../lib/files/digest.ts'
import { lock } from '../../../lib/files/writing/lock.ts'

const DAY = 24 * 3600
const daysAgo = (days: number) => new Date(Date.now() - days * DAY * 1000)

const textOf = (day: number) => `body { color: red }/* ${day} */\n`.repeat(20)
const nameOf = (day: number) => withFingerprint('app.css', digestOf(Buffer.from(textOf(day))))

/** A project with a deploy at each of these ages, in days; the youngest is the current one. */
async function makeDeploys(t: ExecutionContext, days: readonly number[]) {
  const root = makeProject(t)
  const source = join(root, 'apps/web/assets/app.css')
  mkdirSync(join(root, 'apps/web/assets'), { recursive: true })
  for (const day of days.toSorted((a, b) => b - a)) {
    writeFileSync(source, textOf(day))
    utimesSync(source, daysAgo(day), daysAgo(day))
    await precompile({ root })
  }
  const folder = join(root, 'public/assets')
  return { root, folder, left: () => readdirSync(folder).toSorted() }
}

const withCopies = (names: readonly string[]) =>
  names.flatMap(name => ['', ...COPIES].map(extension => name + extension)).toSorted()

test('FPR-15 clean --keep 2 --age 1d keeps what was published today, whatever its mtime', async t => {
  const { root, left } = await makeDeploys(t, [0.1, 100, 200, 300])
  const before = left()
  t.deepEqual((await clean({ root }, { keep: 2, age: '1d' })).removed, [])
  t.deepEqual((await clean({ root })).removed, [])
  t.deepEqual(left(), before)
})

test('FPR-15 the newest two are those that were published last, whatever their mtimes', async t => {
  const { root, left } = await makeDeploys(t, [1, 2, 3])
  const source = join(root, 'apps/web/assets/app.css')
  for (const day of [300, 200]) {
    writeFileSync(source, textOf(day))
    utimesSync(source, daysAgo(day), daysAgo(day))
    await precompile({ root })
  }
  const { removed, kept, bytes } = await clean({ root }, { keep: 2, age: 0 })
  t.deepEqual(removed, [1, 2, 3].map(day => `/assets/${nameOf(day)}`).toSorted())
  t.is(kept, 2)
  t.true(bytes > 3 * textOf(2).length)
  t.deepEqual(left(), withCopies(['app.css', nameOf(200), nameOf(300)]))
})

test('a version counts as young from the moment the manifest drops it', async t => {
  const { root, left } = await makeDeploys(t, [3])
  const source = join(root, 'apps/web/assets/app.css')
  const deploy = async (day: number) => {
    writeFileSync(source, textOf(day))
    await precompile({ root })
  }
  // Back to what was there before, and on from there: 3 was live last.
  for (const day of [1, 2, 3, 4]) {
    await deploy(day)
    await untilSettled()
  }
  await clean({ root }, { keep: 2, age: 0 })
  t.deepEqual(left(), withCopies(['app.css', nameOf(3), nameOf(4)]))
})

const DAY_MS = DAY * 1000
const version = (base: string, daysOld: number, isCurrent = false) => ({
  base,
  isCurrent,
  changedMs: 1e12 - daysOld * DAY_MS
})

test('FPR-15 versions that are neither new, nor young, nor current are removed', t => {
  const versions = [
    ...[0.1, 0.5, 0.9, 2, 3].map(days => version('app.css', days)),
    ...[5, 6, 7].map(days => version('old.css', days)),
    ...[2, 3].map(days => version('rolled-back.css', days)),
    version('rolled-back.css', 9, true)
  ]
  const removed = outdated(versions, { keep: 2, ageMs: DAY_MS }, 1e12)
  t.deepEqual(
    removed.map(({ base, changedMs }) => `${base} ${(1e12 - changedMs) / DAY_MS}`).toSorted(),
    ['app.css 2', 'app.css 3', 'old.css 7', 'rolled-back.css 3']
  )
})

test('what the manifest names is kept, also after a rollback to an old version', async t => {
  const { root, left } = await makeDeploys(t, [1, 2, 3])
  const source = join(root, 'apps/web/assets/app.css')
  writeFileSync(source, textOf(3))
  utimesSync(source, daysAgo(3), daysAgo(3))
  await precompile({ root })
  await clean({ root }, { keep: 1, age: 0 })
  t.deepEqual(left(), withCopies(['app.css', nameOf(3)]))
  t.deepEqual((await verify({ root })).problems, [])
})

test('clean never touches what precompile did not make', async t => {
  const { root, folder, left } = await makeDeploys(t, [1])
  const foreign = [
    'notes.txt',
    `letter-${'0'.repeat(32)}.css`,
    `letter-${'0'.repeat(32)}.css.gz`,
    `${nameOf(9)}.gz`
  ]
  for (const name of foreign) {
    writeFileSync(join(folder, name), name)
    utimesSync(join(folder, name), daysAgo(99), daysAgo(99))
  }
  const elsewhere = join(root, withFingerprint('robots.txt', digestOf(Buffer.from('robots'))))
  writeFileSync(elsewhere, 'robots')
  symlinkSync(
    elsewhere,
    join(folder, withFingerprint('robots.txt', digestOf(Buffer.from('robots'))))
  )
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

test('a dry run reports the same and removes nothing', async t => {
  const { root, left } = await makeDeploys(t, [1, 10, 20])
  const before = left()
  const report = await clean({ root }, { keep: 1, age: 0, dryRun: true })
  t.deepEqual(left(), before)
  t.deepEqual(await clean({ root }, { keep: 1, age: 0 }), { ...report, dryRun: false })
  t.deepEqual(left(), withCopies(['app.css', nameOf(1)]))
})

test('clean fails while a precompile is running', async t => {
  const { root, folder } = await makeDeploys(t, [1])
  const held = await lock(folder, t.fail)
  await t.throwsAsync(clean({ root }), { code: 'precompile-busy' })
  await held.release()
})

const AGE_EXPECTED =
  "age must be a number of seconds, 0 or more, or a duration such as '12h', '1d' or '2w'"

for (const [options, message] of [
  [{ keep: -1 }, 'keep must be a whole number of versions, got -1'],
  [{ keep: 1.5 }, 'keep must be a whole number of versions, got 1.5'],
  [{ age: -1 }, `${AGE_EXPECTED}, got -1`],
  [{ age: NaN }, `${AGE_EXPECTED}, got NaN`],
  [{ age: 'soon' as '7d' }, `${AGE_EXPECTED}, got 'soon'`],
  [{ age: '7' as '7d' }, `${AGE_EXPECTED}, got '7'`]
] as const) {
  test(`clean refuses ${JSON.stringify(options)}`, async t => {
    await t.throwsAsync(clean({}, options), { instanceOf: TypeError, message })
  })
}
