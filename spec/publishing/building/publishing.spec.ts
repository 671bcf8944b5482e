import fs, { lstatSync, readdirSync, statSync, symlinkSync, unlinkSync, renameSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { makeSite, replaceCalls, test, untilSettled, type Site } from '../../support/index.ts'

const SOURCE = 'stylesheets/app.css'
const TARGET = '/public/assets/app.css'
const THEN = 1_700_000_000

const stateOf = (site: Site) => {
  const { ino, mtimeNs, ctimeNs, size, mode } = statSync(site.at(TARGET), { bigint: true })
  return { ino, mtimeNs, ctimeNs, size, mode }
}

const sent = async (site: Site, path = '/assets/app.css') => {
  const { status, text } = await site.ask(path)
  return [status, text]
}

test('an asset that was not edited is written only once, by the first request for it', async t => {
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
  'a copy in public that was edited by hand': [site => site.write(TARGET, 'by hand'), 'a{}'],
  'an edited copy of the same size and mtime': [site => site.write(TARGET, 'b{}', THEN), 'a{}'],
  'a copy in public that became a link out of it': [
    site => {
      site.write('/outside.css', 'a{}')
      unlinkSync(site.at(TARGET))
      symlinkSync(site.at('/outside.css'), site.at(TARGET))
    },
    'a{}'
  ],
  'a deleted copy in public': [site => unlinkSync(site.at(TARGET)), 'a{}']
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

test('a file in public is served as it is while it has no source', async t => {
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

test.serial(
  'an old version that another process publishes meanwhile is replaced by the newest',
  async t => {
    const site = await makeSite(t, { 'app.css': 'a { color: red }' }, { env: 'development' })
    t.deepEqual(await sent(site), [200, 'a { color: red }'])
    const target = site.at(TARGET)
    site.write('app.css', 'a { color: tan }')
    const { rename } = fs
    let times = 0
    const another = (from: string, to: string, done: fs.NoParamCallback) =>
      rename(from, to, error => {
        if (to === target && (times += 1) === 1) {
          writeFileSync(`${target}.other`, 'a { color: red }')
          renameSync(`${target}.other`, target)
        }
        done(error)
      })
    replaceCalls(t, { rename: another })
    for (let asked = 0; asked < 2; asked++) t.deepEqual(await sent(site), [200, 'a { color: tan }'])
    t.is(times, 2)
    t.deepEqual(site.errors, [])
  }
)
