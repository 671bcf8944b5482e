// The deltas that precompile writes, verify checks and clean removes. Where zlib takes no dictionary for
// Zstandard, precompile says so once, and everything else is as before.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withFingerprint } from '../../../lib/runtime/urls/spelling.ts'
import { sealDelta, splitDelta } from '../../../lib/extras/deltas/delta-format.ts'
import { digestOf } from '../../../lib/runtime/files/digest.ts'
import { clean, cleanKept, compress, keep, verify, verifyCopies } from '../../../lib/index.ts'
import type { KoaAssetsOptions } from '../../../lib/index.ts'
import { decode, deltaFile, deltaName, isAble, sha256 } from '../../support/deltas.ts'
import { FILE_MODE, filesBelow, makeProject, run, snapshot, test } from '../../support/index.ts'
import { viteBuild, writeFiles, type ExecutionContext, type Files } from '../../support/index.ts'

/** Text that compresses to about a third. */
const text = (seed: number) =>
  Array.from({ length: 200 }, (_, at) => `export const v${at} = ${(at * seed) % 9973}\n`).join('')

const release = (number: number) =>
  text(7919).replace('export const v100 ', `export const version = ${number}\n$&`)

const [BEFORE, AFTER] = [release(0), release(1)]

const target = (content: string) => withFingerprint('/assets/app.js', digestOf(content))
const deltasIn = (folder: string) =>
  filesBelow(folder).filter(path => splitDelta(path) !== undefined)

/** A project in which app.js was published in each of these states. */
async function makeReleases(
  t: ExecutionContext,
  releases: readonly string[],
  options: KoaAssetsOptions = {}
) {
  const root = makeProject(t)
  const folder = join(root, 'public')
  const deploy = (content: string) => {
    writeFiles(root, { 'apps/web/assets/app.js': content })
    return run({ ...options, root })
  }
  const reports = []
  for (const content of releases) reports.push(await deploy(content))
  const problems = async () => (await verify({ root })).problems
  return { root, folder, deploy, problems, report: reports.at(-1), deltas: () => deltasIn(folder) }
}

const nameOf = (old: string, next: string) => deltaName(target(next).slice(1), old)

test('precompile writes deltas from the last three versions, with what they save in its report', async t => {
  const releases = [0, 1, 2, 3, 4].map(release)
  const last = releases.at(-1) ?? ''
  const { folder, deltas, problems, report } = await makeReleases(t, releases)
  const expected = releases.slice(1, 4).map(old => nameOf(old, last))
  const found = deltas().filter(path => path.startsWith(target(last).slice(1)))
  t.deepEqual(found, isAble ? expected.toSorted() : [])
  for (const old of isAble ? releases.slice(1, 4) : []) {
    const file = readFileSync(join(folder, nameOf(old, last)))
    t.is(decode(file.subarray(0, -40), old), last)
    t.deepEqual(file.subarray(8, 40), sha256(old))
    t.true(file.length < 200, String(file.length))
    t.is(statSync(join(folder, nameOf(old, last))).mode & 0o777, FILE_MODE)
  }
  const size = (path: string) => statSync(join(folder, path)).size - 40
  const copies = ['.br', '.gz', '.zst'].map(extension => join(folder, target(last)) + extension)
  const smallest = Math.min(...copies.filter(existsSync).map(path => statSync(path).size))
  t.deepEqual(report?.deltas, {
    isWritable: isAble,
    files: isAble ? 3 : 0,
    bytes: isAble ? expected.reduce((sum, path) => sum + size(path), 0) : 0,
    insteadOf: isAble ? 3 * smallest : 0
  })
  t.deepEqual(await problems(), [])
})

test('a first deploy, and one that changes nothing, writes no delta', async t => {
  const { root, deploy, folder, report } = await makeReleases(t, [release(1)])
  t.is(report?.deltas, undefined)
  t.not((await deploy(release(2))).deltas, undefined)
  const before = snapshot(folder)
  t.is((await deploy(release(2))).deltas, undefined)
  t.deepEqual(snapshot(folder), before)
  writeFiles(root, { 'apps/web/assets/other.js': 'go()' })
  rmSync(join(folder, nameOf(release(1), release(2))), { force: true })
  t.is((await deploy(release(2))).deltas, undefined, 'the asset itself has not changed')
})

test('a delta is written only if it saves at least half and deltas is not false', async t => {
  const large = await makeReleases(t, [text(7919), text(6577)])
  t.deepEqual([large.deltas(), large.report?.deltas?.files], [[], 0])
  const off = await makeReleases(t, [release(1), release(2)], { deltas: false })
  t.deepEqual([off.deltas(), off.report?.deltas], [[], undefined])
})

test('a rollback has a delta from the release that it replaces', async t => {
  const [old, next] = [release(1), release(2)]
  const { deltas } = await makeReleases(t, [old, next, old])
  t.is(deltas().includes(nameOf(next, old)), isAble)
})

test('a file whose content does not match its fingerprint is not used as a dictionary', async t => {
  const [old, next] = [release(1), release(2)]
  const { folder, deltas, deploy } = await makeReleases(t, [old])
  writeFileSync(join(folder, target(old)), `${old}edited`)
  writeFiles(folder, { [withFingerprint('assets/app.js', '0'.repeat(32))]: old })
  await deploy(next)
  t.deepEqual(deltas(), [])
})

test('a damaged delta that verify finds is repaired or removed by precompile', async t => {
  const [old, next] = [release(1), release(2)]
  const { root, folder, deploy, deltas, problems } = await makeReleases(t, [old, next])
  const path = nameOf(old, next)
  const good = deltaFile(old, next)
  const message = 'is damaged or of another version, so it is not sent'
  for (const [damage, bytes] of Object.entries({
    'cut at its end': good.subarray(0, -1),
    'of another version': deltaFile(next, next)
  })) {
    writeFiles(folder, { [path]: bytes })
    t.deepEqual(await problems(), [{ path: `/${path}`, message }], damage)
    await deploy(next)
    t.deepEqual(await problems(), [], damage)
    t.deepEqual(deltas(), isAble ? [path] : [], damage)
  }
  const other = sealDelta(sha256(old), deltaFile(old, old).subarray(40, -40), digestOf(next))
  writeFiles(folder, { [path]: other })
  const undecoded = { path: `/${path}`, message: 'does not decode to the original' }
  t.deepEqual(await problems(), isAble ? [undecoded] : [])
  writeFiles(folder, { [path]: good })
  await deploy(next)
  t.deepEqual(readFileSync(join(folder, path)), good, 'an intact one stays on every Node')
  writeFiles(folder, { [path]: good.subarray(1) })
  await run({ root, deltas: false })
  t.deepEqual(deltas(), [], 'without new ones, too')
})

test('clean removes a delta together with either of its files', async t => {
  const releases = [1, 2, 3].map(release)
  const [first = '', second = '', third = ''] = releases
  const { root, folder, deltas } = await makeReleases(t, releases)
  const to = { [first]: [second, third], [second]: [third, first], 'an unknown version': [third] }
  for (const [old, all] of Object.entries(to))
    for (const next of all) writeFiles(folder, { [nameOf(old, next)]: deltaFile(old, next) })
  writeFiles(folder, { [deltaName('assets/plain.js', first)]: 'somebody else made it' })
  const dry = await clean({ root }, { keep: 2, age: 0, dryRun: true })
  t.is(deltas().length, 6)
  const report = await clean({ root }, { keep: 2, age: 0 })
  t.is(report.bytes, dry.bytes)
  t.deepEqual(report.removed, [target(first)])
  t.deepEqual(deltas(), [nameOf(second, third), deltaName('assets/plain.js', first)].toSorted())
})

function makeBuilds(t: ExecutionContext, next: Files, old: Files = {}) {
  const root = makeProject(t)
  const dist = join(root, 'dist')
  writeFiles(join(root, 'old'), old)
  writeFiles(dist, next)
  const run = () => compress(dist, { against: join(root, 'old') })
  return { root, dist, run, deltas: () => deltasIn(dist) }
}

test('compress writes deltas from an earlier build for files whose names differ only in a hash', async t => {
  const old = {
    'assets/index-BcXr2f3k.js': BEFORE,
    'assets/main.3f9a1c2b.chunk.js': `// webpack\n${BEFORE}`
  }
  const same = { 'assets/same-BcXr2f3k.js': BEFORE }
  const others = { ...same, 'other/index-BcXr2f3k.js': AFTER, 'assets/plain.js': BEFORE }
  const next = {
    ...same,
    'assets/index-DxQkLmNp.js': AFTER,
    'assets/plain.js': AFTER,
    'assets/main.4e8b0d1a.chunk.js': `// webpack\n${AFTER}`
  }
  const { root, dist, run, deltas } = makeBuilds(t, next, { ...old, ...others })
  const expected = [
    deltaName('assets/index-DxQkLmNp.js', BEFORE),
    deltaName('assets/main.4e8b0d1a.chunk.js', `// webpack\n${BEFORE}`)
  ]
  const report = await run()
  t.deepEqual(deltas(), isAble ? expected : [])
  t.is(report.deltas?.isWritable, isAble)
  t.is(report.deltas?.files, isAble ? 2 : 0)
  writeFiles(dist, old)
  t.deepEqual((await verifyCopies(dist)).problems, [])
  writeFiles(join(root, 'older'), { 'assets/index-AaXr2f3k.js': `older();${BEFORE}` })
  await compress(dist, { against: join(root, 'older') })
  t.is(deltas().filter(path => expected.includes(path)).length, isAble ? 2 : 0, 'it stays')
})

test('verify reports a delta whose earlier version is not beside it, as it is never sent', async t => {
  const name = 'index-DxQkLmNp.js'
  const path = deltaName(name, BEFORE)
  const { dist } = makeBuilds(t, { [name]: AFTER, [path]: deltaFile(BEFORE, AFTER) })
  const message =
    'starts from a version that is not beside it, so it is never sent: keep that file, or remove the delta'
  t.deepEqual((await verifyCopies(dist)).problems, [{ path, message }])
  writeFiles(dist, { 'index-BcXr2f3k.js': BEFORE })
  t.deepEqual((await verifyCopies(dist)).problems, [])
})

test('a build has deltas from all kept files, until clean removes these', async t => {
  const root = makeProject(t)
  const names = ['main-AaXr2f3k.js', 'main-BcXr2f3k.js', 'main-DxQkLmNp.js']
  const [one = '', two = '', three = ''] = names.map((file, at) => {
    const built = viteBuild(String(at), { 'src/main.js': file })
    writeFiles(root, { ...built, [`${at}/${file}`]: release(at) })
    return join(root, String(at))
  })
  await keep(one, two)
  const { compressed } = await keep(two, three)
  t.is(compressed.deltas?.files, isAble ? 2 : 0)
  const deltas = () => deltasIn(three)
  // Nobody goes back.
  const expected = [0, 1].map(at => deltaName(names[2] ?? '', release(at)))
  t.deepEqual(deltas(), isAble ? expected.toSorted() : [])
  t.deepEqual((await verifyCopies(three)).problems, [])
  await cleanKept(three, { keep: 1, age: 0 })
  t.deepEqual(deltas(), isAble ? [deltaName(names[2] ?? '', release(1))] : [])
  await cleanKept(three, { keep: 0, age: 0 })
  t.deepEqual(deltas(), [])
})
