import { lstatSync, readdirSync, statSync, symlinkSync, unlinkSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { type Site, makeSite } from '../../../support/site.ts'
import { untilSettled } from '../../../support/until.ts'

const SOURCE = 'stylesheets/app.css'
const TARGET = '/public/assets/app.css'
const URL = '/assets/app.css'
const THEN = 1_700_000_000

const stateOf = (site: Site, path = TARGET) => {
  const { ino, mtimeNs, ctimeNs, size, mode } = statSync(site.at(path), { bigint: true })
  return { ino, mtimeNs, ctimeNs, size, mode }
}

const sent = async (site: Site, path = URL) => {
  const { status, text } = await site.ask(path)
  return [status, text]
}

const made = (t: ExecutionContext, content = 'a{}') => makeSite(t, { [SOURCE]: content })

test('PUB-01 an asset without a target is copied and served', async t => {
  const site = await made(t)
  t.deepEqual(await sent(site), [200, 'a{}'])
  t.is(site.read(TARGET), 'a{}')
  t.deepEqual(readdirSync(site.at('/public/assets')), ['app.css'])
})

test('PUB-02 a second request does not write it again', async t => {
  const site = await made(t)
  await site.ask(URL)
  const before = stateOf(site)
  t.deepEqual(await sent(site), [200, 'a{}'])
  await untilSettled()
  t.deepEqual(await sent(site), [200, 'a{}'])
  t.deepEqual(stateOf(site), before)
})

const DAY = 86_400

for (const [title, change, expected] of [
  [
    'PUB-05 a source replaced by an older one',
    site => site.write(SOURCE, 'b{}', THEN - DAY),
    'b{}'
  ],
  ['PUB-06 a source that shrank', site => site.write(SOURCE, 'b'), 'b'],
  ['PUB-06 a source that was emptied', site => site.write(SOURCE, ''), ''],
  ['PUB-08 a target edited by hand', site => site.write(TARGET, 'by hand'), 'a{}'],
  ['PUB-08 a target of the same size and mtime', site => site.write(TARGET, 'b{}', THEN), 'a{}'],
  [
    'PUB-08 a target that became a link out of public',
    site => {
      site.write('/outside.css', 'a{}')
      unlinkSync(site.at(TARGET))
      symlinkSync(site.at('/outside.css'), site.at(TARGET))
    },
    'a{}'
  ],
  ['PUB-09 a deleted target', site => unlinkSync(site.at(TARGET)), 'a{}']
] as const satisfies readonly (readonly [string, (site: Site) => void, string])[]) {
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

test('PUB-07 another process does not write a current target', async t => {
  const site = await made(t)
  const mtimes = [THEN, THEN + 0.123456, 1.7e9 + 0.999999, 1.6e9 + 0.000001, 1697198486.328126]
  for (const mtime of mtimes) {
    site.write(SOURCE, `at ${mtime}`, mtime)
    await site.ask(URL)
    const before = stateOf(site)
    const other = await makeSite(t, {}, { root: site.root })
    t.deepEqual(await sent(other), [200, `at ${mtime}`])
    t.deepEqual(stateOf(site), before, `mtime ${mtime}`)
  }
})

test('PUB-10 a target without a source is served and never touched', async t => {
  const site = await makeSite(t, { [TARGET]: 'by hand', 'a.css': '' })
  const before = stateOf(site)
  t.deepEqual(await sent(site), [200, 'by hand'])
  t.deepEqual(await sent(site), [200, 'by hand'])
  t.deepEqual(stateOf(site), before)
  site.write(SOURCE, 'a{}')
  t.deepEqual(await sent(site), [200, 'a{}'], 'a source that appears later is published over it')
  t.is(site.read(TARGET), 'a{}')
})

test('PUB-11 a source created after start is served; one that is removed is gone, with the target that was made from it', async t => {
  const site = await makeSite(t, {})
  for (const text of ['a{}', 'again{}']) {
    t.is((await site.ask(URL)).status, 404)
    t.is(site.read(TARGET), undefined)
    site.write(SOURCE, text)
    t.deepEqual(await sent(site), [200, text])
    unlinkSync(site.at(SOURCE))
  }
  site.write('new/folders/of/late.css', 'late{}')
  t.deepEqual(await sent(site, '/assets/folders/of/late.css'), [200, 'late{}'])
})
