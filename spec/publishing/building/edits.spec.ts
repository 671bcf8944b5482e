import { readdirSync, renameSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSettled } from '../../../lib/runtime/files/disk.ts'
import { onFailingDisk, type DiskCall } from '../../support/failing-disk.ts'
import { ask } from '../../support/raw.ts'
import { cases, isPublic, makeFingerprinted, makeFront, makeProject } from '../../support/index.ts'
import { makeSite, removeFolder, test, untilSettled, writeFiles } from '../../support/index.ts'

const order = (n: number) => `a{order:${n}}`

/** The file that is edited, the name that is asked for, and the text of an edit. */
const KINDS: Readonly<Record<string, readonly [string, string, (n: number) => string]>> = {
  'a small file': ['x/app.txt', 'app.txt', n => `n${n}`],
  'a stylesheet': ['x/app.css', 'app.css', order],
  'a Sass file': ['x/s.css.scss', 's.css', order],
  'a partial': ['x/_part.scss', 'with.css', order],
  'a big file': ['x/big.bin', 'big.bin', n => `${n}.`.padEnd(1024 * 1024 + 9, 'x')]
}

for (const [what, [file, name, text]] of Object.entries(KINDS)) {
  test(`an edit of ${what} is in the very next response`, async t => {
    t.timeout(60_000)
    const root = makeProject(t, { 'apps/web/assets/x/with.css.scss': '@use "part";' })
    const path = join(root, 'apps/web/assets', file)
    writeFileSync(path, text(0))
    const { port, errors } = await makeFront(t, { root, env: 'test' })
    const end = 10_000 + cases(10, 200)
    for (let n = 10_000; n < end; n++) {
      // In place, by rename, with an old date, with a date to come, twice in a row: of one size always.
      if (n % 5 === 1) {
        writeFileSync(`${root}/new`, text(n))
        renameSync(`${root}/new`, path)
      } else {
        if (n % 5 === 4) writeFileSync(path, text(n - 5000))
        writeFileSync(path, text(n))
      }
      if (n % 5 === 2) utimesSync(path, 1e9, 1e9)
      if (n % 5 === 3) utimesSync(path, 4e9, 4e9)
      const answer = await ask(port, n % 7 === 0 ? 'HEAD' : 'GET', `/assets/${name}`)
      t.is(answer.status, 200)
      if (n % 7 !== 0) t.true(answer.text.includes(String(n)), `${n}: ${answer.text.slice(0, 60)}`)
    }
    t.deepEqual(errors, [])
  })
}

test('sources and public can be removed and restored while the server runs', async t => {
  const files = { 'apps/web/assets/x/app.css': 'a{}', 'public/robots.txt': 'robots' }
  const root = makeProject(t, files)
  const { port, errors } = await makeFront(t, { root, env: 'test' })
  const statusOf = async (path: string) => (await ask(port, 'GET', path)).status
  for (let round = 0; round < 5; round++) {
    t.is(await statusOf('/assets/app.css'), 200)
    removeFolder(join(root, 'public'))
    t.is(await statusOf('/robots.txt'), 404)
    t.is(await statusOf('/assets/app.css'), 200, 'published anew')
    removeFolder(join(root, 'apps'))
    t.is(await statusOf('/assets/app.css'), 404)
    writeFiles(root, files)
    t.is(await statusOf('/robots.txt'), 200)
  }
  t.deepEqual(errors, [])
})

test('a timestamp in whole seconds is trusted once it is two seconds old', t => {
  const second = 1_700_000_000_000
  const rested = (mtime: number, ctime: number, later: number) => {
    const times = { mtimeNs: BigInt(mtime) * 1_000_000n, ctimeNs: BigInt(ctime) * 1_000_000n }
    return isSettled({ dev: 1n, ino: 1n, size: 1n, ...times }, second + later)
  }
  t.false(rested(second, second, 999), 'ext3 and HFS+ stamp one second')
  t.false(rested(second, second, 1999), 'FAT stamps two')
  t.true(rested(second, second, 2100))
  t.false(rested(second - 5000, second, 1999), 'the mtime was set back')
  t.true(rested(second, second + 1, 100), 'a copy of a whole second on a disk that stamps finely')
})

// A site that is built while it runs: what is broken keeps its last good copy, and the rest goes on.

test('the last good version of a broken asset is served until it is fixed, also after a restart', async t => {
  const site = await makeFingerprinted(t, 'live', { 'app.css.scss': 'a { b: c }', 'ok.js': 'ok()' })
  const path = await site.path('app.css')
  await site.edit({ 'app.css.scss': 'a { b: ', 'ok.js': 'better()' })
  t.is(await site.path('app.css'), path)
  t.is((await site.ask(path)).status, 200)
  t.is(await site.text('ok.js'), 'better()')
  const next = await makeFingerprinted(t, 'live', {}, { root: site.root })
  t.regex((await next.ask('/assets/app.css')).text, /b: c/)
  await site.edit({ 'app.css.scss': 'a { b: d }' })
  t.not(await site.path('app.css'), path)
  const strict = await makeFingerprinted(t, 'live', { 'app.css': 'a {}' }, { missing: 'error' })
  const good = await strict.path('app.css')
  await strict.edit({ 'app.css': 'a { b: url(/assets/own.png) }' })
  for (let times = 0; times < 2; times++) {
    await untilSettled()
    t.is(await strict.path('app.css'), good)
  }
  await strict.edit({ '/public/assets/own.png': 'what was missing' })
  t.not(await strict.path('app.css'), good)
})

test.serial('while the disk is full, the last good version of an asset is sent', async t => {
  const options = { env: 'production', compile: true, fingerprint: false }
  const files = { 'app.css.scss': 'a { b: one }', 'film.bin': 'one' }
  const site = await makeSite(t, files, options)
  const at = ({ syscall }: DiskCall) => /^(?:write|copyFile)$/.test(syscall)
  for (const [name, file] of [
    ['app.css', 'app.css.scss'],
    ['film.bin', 'film.bin']
  ] as const) {
    const text = async () => (await site.ask(`/assets/${name}`)).text
    const good = await text()
    site.write(file, files[file].replace('one', 'two'))
    for (let times = 1; times < 3; times++) {
      const { result } = await onFailingDisk(site.root, { at, code: 'ENOSPC' }, text)
      t.is(result, good)
      t.is(site.errors.splice(0).length, 1)
    }
    t.regex(await text(), /two/)
  }
  t.deepEqual(readdirSync(site.at('/public/assets')).toSorted(), ['app.css', 'film.bin'])
})

const HEX = `lib-${'0123456789abcdef'.repeat(2)}.txt`

for (const [name, next] of [
  ['a.txt', 'a page'],
  ['a.txt', 'the file'],
  [HEX, 'the file']
] as const) {
  test(`deleting ${name} unpublishes it by the next request for ${next}`, async t => {
    const site = await makeFingerprinted(t, 'live', { [name]: 'a', 'b.txt': 'b' })
    const path = await site.path(name)
    t.is((await site.ask(path)).text, 'a')
    unlinkSync(site.at(name))
    if (next === 'a page') await t.throwsAsync(site.path(name), { code: 'asset-unknown' })
    for (const gone of [path, `/assets/${name}`]) {
      t.is((await site.ask(gone)).status, 404, gone)
      t.false(isPublic(site.root, gone))
    }
    t.is(await site.text('b.txt'), 'b')
  })
}
