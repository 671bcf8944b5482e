import fs, { lstatSync, readdirSync, statSync, symlinkSync, unlinkSync, renameSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { makeSite, replaceCalls, test, untilSettled } from '../../support/index.ts'
import type { ExecutionContext, Site } from '../../support/index.ts'

const SOURCE = 'stylesheets/app.css'
const TARGET = '/public/assets/app.css'
const URL = '/assets/app.css'
const THEN = 1_700_000_000

const stateOf = (site: Site) => {
  const { ino, mtimeNs, ctimeNs, size, mode } = statSync(site.at(TARGET), { bigint: true })
  return { ino, mtimeNs, ctimeNs, size, mode }
}

const sent = async (site: Site, path = URL) => {
  const { status, text } = await site.ask(path)
  return [status, text]
}

test('an asset is copied with the first request, and not written by the second, nor by another process', async t => {
  const site = await makeSite(t, { [SOURCE]: 'a{}' })
  for (const mtime of [undefined, THEN, THEN + 0.123456, 1.6e9 + 0.000001]) {
    if (mtime) site.write(SOURCE, `at ${mtime}`, mtime)
    const expected = [200, mtime ? `at ${mtime}` : 'a{}']
    t.deepEqual(await sent(site), expected)
    t.deepEqual(readdirSync(site.at('/public/assets')), ['app.css'])
    const before = stateOf(site)
    if (!mtime) await untilSettled()
    for (const each of [site, await makeSite(t, {}, { root: site.root })]) {
      t.deepEqual(await sent(each), expected)
      t.deepEqual(stateOf(site), before, `mtime ${mtime}`)
    }
  }
})

/** What is done to the source or the target, and what is sent then. */
const CHANGES: Readonly<Record<string, readonly [change: (site: Site) => void, sent: string]>> = {
  'a source replaced by an older one': [site => site.write(SOURCE, 'b{}', THEN - 86_400), 'b{}'],
  'a source that shrank': [site => site.write(SOURCE, 'b'), 'b'],
  'a source that was emptied': [site => site.write(SOURCE, ''), ''],
  'a target edited by hand': [site => site.write(TARGET, 'by hand'), 'a{}'],
  'a target of the same size and mtime': [site => site.write(TARGET, 'b{}', THEN), 'a{}'],
  'a target that became a link out of public': [
    site => {
      site.write('/outside.css', 'a{}')
      unlinkSync(site.at(TARGET))
      symlinkSync(site.at('/outside.css'), site.at(TARGET))
    },
    'a{}'
  ],
  'a deleted target': [site => unlinkSync(site.at(TARGET)), 'a{}']
}

for (const [title, [change, expected]] of Object.entries(CHANGES)) {
  test(`${title} is published again`, async t => {
    const site = await makeSite(t, {})
    site.write(SOURCE, 'a{}', THEN)
    t.deepEqual(await sent(site), [200, 'a{}'])
    change(site)
    t.deepEqual(await sent(site), [200, expected])
    t.is(site.read(TARGET), expected)
    t.false(lstatSync(site.at(TARGET)).isSymbolicLink())
  })
}

test('a target without a source is served and never touched', async t => {
  const site = await makeSite(t, { [TARGET]: 'by hand', 'a.css': '' })
  const before = stateOf(site)
  t.deepEqual(await sent(site), [200, 'by hand'])
  t.deepEqual(await sent(site), [200, 'by hand'])
  t.deepEqual(stateOf(site), before)
  site.write(SOURCE, 'a{}')
  t.deepEqual(await sent(site), [200, 'a{}'], 'a source that appears later is published over it')
  t.is(site.read(TARGET), 'a{}')
})

// Two development processes on one `public`: one of them is slow, and replaces a target by what it read before an edit.

const MOMENTS = ['before it is looked at', 'before it is opened']

/** Acts once, at a moment after the target was renamed, as another process does by chance. */
function atMoment(t: ExecutionContext, moment: string, target: string, act: () => void) {
  const { rename, stat } = fs
  let isRenamed = false
  let isOver = false
  const actOnce = () => {
    if (!isOver) act()
    isOver = true
  }
  replaceCalls(t, {
    rename(from: string, to: string, done: fs.NoParamCallback) {
      rename(from, to, error => {
        isRenamed ||= to === target
        if (to === target && moment === MOMENTS[0]) actOnce()
        done(error)
      })
    },
    stat(path: string, options: object, done: (...results: unknown[]) => void) {
      stat(path, options, (...results: unknown[]) => {
        if (isRenamed && path === target) actOnce()
        done(...results)
      })
    }
  })
  return () => isOver
}

for (const moment of MOMENTS) {
  test.serial(`a target that another process replaces ${moment} is published again`, async t => {
    const site = await makeSite(t, { 'app.css': 'a { color: red }' }, { env: 'development' })
    t.deepEqual(await sent(site), [200, 'a { color: red }'])
    const target = site.at(TARGET)
    site.write('app.css', 'a { color: tan }')
    const isOver = atMoment(t, moment, target, () => {
      writeFileSync(`${target}.other`, 'a { color: red }')
      renameSync(`${target}.other`, target)
    })
    t.deepEqual(await sent(site), [200, 'a { color: tan }'])
    t.true(isOver())
    t.deepEqual(await sent(site), [200, 'a { color: tan }'])
    t.deepEqual(site.errors, [])
  })
}
