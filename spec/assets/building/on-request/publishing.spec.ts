import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, statSync, symlinkSync, unlinkSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { makeSite, type Site } from '../../../support/site.ts'
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

test('PUB-01 an asset without target is copied and served', async t => {
  const site = await made(t)
  t.deepEqual(await sent(site), [200, 'a{}'])
  t.is(site.read(TARGET), 'a{}')
  t.deepEqual(readdirSync(site.at('/public/assets')), ['app.css'])
  const off = stateOf(site).mtimeNs - stateOf(site, SOURCE).mtimeNs
  t.true(off < 2000n && off > -2000n, `the mtime of the source, but for ${off} ns`)
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

test('PUB-03 an edited source is served by the next GET', async t => {
  const site = await made(t)
  await site.ask(URL)
  await untilSettled()
  await site.ask(URL)
  site.write(SOURCE, 'b{ color: red }')
  t.deepEqual(await sent(site), [200, 'b{ color: red }'])
  t.is(site.read(TARGET), 'b{ color: red }')
})

test('PUB-04 of edits of one size within a second each GET has the newest', async t => {
  const site = await made(t)
  for (let edit = 100; edit < 160; edit++) {
    site.write(SOURCE, `edit-${edit}`)
    t.deepEqual(await sent(site), [200, `edit-${edit}`])
  }
})

test('PUB-04 also when each edit is given the same mtime', async t => {
  const site = await made(t)
  const etags = new Set<string | undefined>()
  for (let edit = 100; edit < 120; edit++) {
    site.write(SOURCE, `edit-${edit}`, THEN)
    const { text, headers } = await site.ask(URL)
    t.is(text, `edit-${edit}`)
    etags.add(headers.etag)
  }
  t.is(etags.size, 20)
})

test('PUB-05 a source replaced by one with an older mtime is published again', async t => {
  const site = await made(t)
  await site.ask(URL)
  site.write(SOURCE, 'b{}', THEN)
  t.deepEqual(await sent(site), [200, 'b{}'])
  t.is(Number(stateOf(site).mtimeNs / 1_000_000_000n), THEN)
  t.is((await site.ask(URL)).headers['last-modified'], 'Tue, 14 Nov 2023 22:13:20 GMT')
  site.write(SOURCE, 'c{}', THEN - 86_400)
  t.deepEqual(await sent(site), [200, 'c{}'])
})

test('PUB-06 of a source that shrinks the target is exactly the new bytes', async t => {
  const site = await made(t, 'long '.repeat(1000))
  await site.ask(URL)
  site.write(SOURCE, 'short')
  const { text, headers } = await site.ask(URL)
  t.is(text, 'short')
  t.is(headers['content-length'], '5')
  t.is(site.read(TARGET), 'short')
  site.write(SOURCE, '')
  t.deepEqual(await sent(site), [200, ''])
  t.is(site.read(TARGET), '')
})

test('PUB-07 another process does not write a current target', async t => {
  const site = await made(t)
  for (const mtime of [
    THEN,
    THEN + 0.123456,
    1.7e9 + 0.999999,
    1.6e9 + 0.000001,
    1697198486.328126
  ]) {
    site.write(SOURCE, `at ${mtime}`, mtime)
    await site.ask(URL)
    const before = stateOf(site)
    const other = await makeSite(t, {}, { root: site.root })
    t.deepEqual(await sent(other), [200, `at ${mtime}`])
    t.deepEqual(stateOf(site), before, `mtime ${mtime}`)
  }
})

test('PUB-08 a target edited by hand is published again', async t => {
  const site = await made(t)
  await site.ask(URL)
  const { mtimeNs } = stateOf(site)
  site.write(TARGET, 'by hand')
  t.deepEqual(await sent(site), [200, 'a{}'])
  site.write(TARGET, 'b{}', Number(mtimeNs) / 1e9)
  t.deepEqual(await sent(site), [200, 'a{}'], 'the mtime restored, the size the same')
  t.is(site.read(TARGET), 'a{}')
})

test('PUB-09 a deleted target is published again', async t => {
  const site = await made(t)
  await site.ask(URL)
  unlinkSync(site.at(TARGET))
  t.deepEqual(await sent(site), [200, 'a{}'])
  t.is(site.read(TARGET), 'a{}')
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

test('PUB-11 a source created after start is served', async t => {
  const site = await makeSite(t, {})
  t.is((await site.ask(URL)).status, 404)
  site.write(SOURCE, 'a{}')
  t.deepEqual(await sent(site), [200, 'a{}'])
  site.write('new/folders/of/late.css', 'late{}')
  t.deepEqual(await sent(site, '/assets/folders/of/late.css'), [200, 'late{}'])
})

test('a source that is removed is gone, with the target that was made of it', async t => {
  const site = await made(t)
  await site.ask(URL)
  unlinkSync(site.at(SOURCE))
  t.is((await site.ask(URL)).status, 404)
  t.is(site.read(TARGET), undefined)
  site.write(SOURCE, 'again{}')
  t.deepEqual(await sent(site), [200, 'again{}'])
})

test('an edit during concurrent requests is in the first response after it', async t => {
  const site = await made(t, 'v000')
  for (let edit = 100; edit < 130; edit++) {
    const early = Array.from({ length: 5 }, () => site.ask(URL))
    site.write(SOURCE, `v${edit}`)
    t.is((await site.ask(URL)).text, `v${edit}`)
    for (const { status } of await Promise.all(early)) t.is(status, 200)
  }
})

test('PUB-05 files over a mebibyte are copied whole, also back in time', async t => {
  const [one, two] = [randomBytes(1_500_000), randomBytes(1_500_000)]
  const site = await makeSite(t, { 'images/film.bin': one })
  const [url, target] = ['/assets/film.bin', '/public/assets/film.bin']
  t.true((await site.ask(url)).bytes.equals(one))
  const before = stateOf(site, target)
  t.true((await site.ask(url)).bytes.equals(one))
  t.deepEqual(stateOf(site, target), before)
  site.write('images/film.bin', two, THEN)
  t.true((await site.ask(url)).bytes.equals(two))
  t.is(Number(stateOf(site, target).mtimeNs / 1_000_000_000n), THEN)
})

test('PUB-08 a target that is a link out of public is replaced by a copy', async t => {
  const site = await makeSite(t, { [SOURCE]: 'a{}', '/outside.css': 'a{}' })
  mkdirSync(site.at('/public/assets'), { recursive: true })
  symlinkSync(site.at('/outside.css'), site.at(TARGET))
  t.deepEqual(await sent(site), [200, 'a{}'])
})

test('PUB-20 assets of an app at /admin are published below admin', async t => {
  const site = await makeSite(t, { [SOURCE]: 'a{}', '/apps/admin/assets/css/app.css': 'admin{}' })
  t.deepEqual(await sent(site, '/assets/admin/app.css'), [200, 'admin{}'])
  t.is(site.read('/public/assets/admin/app.css'), 'admin{}')
  t.is(site.read(TARGET), undefined)
})
