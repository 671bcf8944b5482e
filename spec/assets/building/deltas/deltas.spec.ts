// The deltas that precompile writes, verify checks and clean removes. Where zlib takes no dictionary for
// Zstandard, precompile says so once, and everything else is as before.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { canMakeDeltas } from '../../../../lib/files/deltas/make-delta.ts'
import { sealDelta, splitDelta } from '../../../../lib/files/deltas/delta-file.ts'
import { digestOf } from '../../../../lib/files/digest.ts'
import { withFingerprint } from '../../../../lib/assets/urls/fingerprint.ts'
import { clean, verify, type KoaAssetsOptions } from '../../../../lib/index.ts'
import type { ListedAsset } from '../../../../lib/assets/inspecting/list-assets.ts'
import { run as runCommand } from '../../../cli/run.ts'
import {
  decode,
  deltaFile,
  deltaName,
  deltaSent,
  offering,
  sha256
} from '../../../support/deltas.ts'
import { filesBelow, run, snapshot } from '../../../support/fingerprinted.ts'
import { makeProject, makeSite, writeFiles } from '../../../support/site.ts'

const isAble = await canMakeDeltas()

/** Text that compresses to about a third. */
const text = (seed: number, lines = 400) =>
  Array.from({ length: lines }, (_, at) => `export const v${at} = ${(at * seed) % 9973}\n`).join('')

const release = (number: number) =>
  text(7919).replace('export const v100 ', `export const version = ${number}\n$&`)

const target = (content: string, path = '/assets/app.js') =>
  withFingerprint(path, digestOf(content))

/** A project in which app.js was published in each of these states. */
async function makeReleases(
  t: ExecutionContext,
  releases: readonly string[],
  options: KoaAssetsOptions = {}
) {
  const root = makeProject(t)
  const deploy = (content: string) => {
    writeFiles(root, { 'apps/web/assets/app.js': content })
    return run({ ...options, root })
  }
  const reports = []
  for (const content of releases) reports.push(await deploy(content))
  const folder = join(root, 'public')
  return {
    root,
    folder,
    deploy,
    report: reports.at(-1),
    deltas: () => filesBelow(folder).filter(path => splitDelta(path) !== undefined),
    problems: async () => (await verify({ root })).problems
  }
}

const nameOf = (old: string, next: string) => deltaName(target(next).slice(1), old)

test('DLT-05 DLT-06 precompile writes a delta from each of the last three versions, and says what they save', async t => {
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
    t.is(statSync(join(folder, nameOf(old, last))).mode & 0o777, 0o644)
  }
  const size = (path: string) => statSync(join(folder, path)).size - 40
  const smallest = Math.min(
    ...['.br', '.gz', '.zst']
      .map(extension => join(folder, target(last)) + extension)
      .filter(existsSync)
      .map(path => statSync(path).size)
  )
  t.deepEqual(report?.deltas, {
    isWritable: isAble,
    files: isAble ? 3 : 0,
    bytes: isAble ? expected.reduce((sum, path) => sum + size(path), 0) : 0,
    insteadOf: isAble ? 3 * smallest : 0
  })
  t.deepEqual(await problems(), [])
})

test('DLT-05 a first deploy, and one that changes nothing, writes no delta and looks at none', async t => {
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

test('DLT-05 a delta of more than half the smallest representation is not kept', async t => {
  const { deltas, report } = await makeReleases(t, [text(7919), text(6577)])
  t.deepEqual(deltas(), [])
  t.is(report?.deltas?.files, 0)
})

test('DLT-05 a delta that is there and right is kept, and one of other bytes is replaced', async t => {
  const [old, next] = [release(1), release(2)]
  const { root, folder, deltas, deploy } = await makeReleases(t, [old])
  const path = join(folder, nameOf(old, next))
  const good = deltaFile(old, next)
  writeFiles(folder, { [nameOf(old, next)]: good })
  await deploy(next)
  t.deepEqual(readFileSync(path), good)
  await deploy(old)
  t.deepEqual(deltas().includes(nameOf(next, old)), isAble, 'after a rollback as well')
  writeFileSync(path, deltaFile(old, old))
  await deploy(next)
  t.is((await verify({ root })).problems.length, isAble ? 0 : 1)
})

test('DLT-05 what is not a version of ours, or was edited, is no dictionary', async t => {
  const [old, next] = [release(1), release(2)]
  const { folder, deltas, deploy } = await makeReleases(t, [old])
  writeFileSync(join(folder, target(old)), `${old}edited`)
  writeFiles(folder, { [withFingerprint('assets/app.js', '0'.repeat(32))]: old })
  await deploy(next)
  t.deepEqual(deltas(), [])
})

test('DLT-01 deltas: false writes none', async t => {
  const { deltas, report } = await makeReleases(t, [release(1), release(2)], { deltas: false })
  t.deepEqual(deltas(), [])
  t.is(report?.deltas, undefined)
})

test('DLT-02 what precompile wrote is what a browser is sent', async t => {
  const { root } = await makeReleases(t, [release(1), release(2)])
  const site = await makeSite(t, {}, { root, env: 'production' })
  const { headers, bytes } = await site.ask(target(release(2)), { headers: offering(release(1)) })
  t.is(headers['content-encoding'], isAble ? 'dcz' : 'br')
  if (isAble) t.is(decode(bytes, release(1)), release(2))
  t.deepEqual(site.errors, [])
})

test('DLT-05 clean removes a delta with either of its ends', async t => {
  const releases = [1, 2, 3].map(release)
  const [first = '', second = '', third = ''] = releases
  const { root, folder, deltas } = await makeReleases(t, releases)
  const all = { first, second, third }
  const pairs = [
    [first, second],
    [first, third],
    [second, third],
    [second, first],
    ['an unknown version', third]
  ] as const
  writeFiles(
    folder,
    Object.fromEntries(pairs.map(([old, next]) => [nameOf(old, next), deltaFile(old, next)]))
  )
  writeFiles(folder, { [deltaName('assets/plain.js', first)]: 'somebody else made it' })
  const dry = await clean({ root }, { keep: 2, age: 0, dryRun: true })
  t.is(deltas().length, pairs.length + 1)
  const report = await clean({ root }, { keep: 2, age: 0 })
  t.is(report.bytes, dry.bytes)
  t.deepEqual(report.removed, [target(all.first)])
  t.deepEqual(deltas(), [nameOf(second, third), deltaName('assets/plain.js', first)].toSorted())
})

test('DLT-05 verify decodes each delta where Node can, and compares its seal everywhere', async t => {
  const [old, next] = [release(1), release(2)]
  const { folder, problems } = await makeReleases(t, [old, next])
  const path = nameOf(old, next)
  const put = (bytes: Uint8Array) => writeFiles(folder, { [path]: bytes })
  const good = deltaFile(old, next)
  put(good)
  t.deepEqual(await problems(), [])
  const damaged = {
    path: `/${path}`,
    message: 'is damaged or of another version, so it is not sent'
  }
  for (const bytes of [
    good.subarray(1),
    good.subarray(0, -1),
    deltaSent(old, next),
    deltaFile(next, next)
  ]) {
    put(bytes)
    t.deepEqual(await problems(), [damaged])
  }
  put(sealDelta(sha256(old), deltaSent(old, old).subarray(40), digestOf(next)))
  const message = 'does not decode to the original'
  t.deepEqual(await problems(), isAble ? [{ path: `/${path}`, message }] : [])
})

test.serial(
  'DLT-06 the command says once what the deltas save, or that this Node cannot write them',
  async t => {
    const { root } = await makeReleases(t, [release(1)])
    writeFiles(root, { 'apps/web/assets/app.js': release(2) })
    const { status, stdout } = await runCommand(root, 'precompile')
    t.is(status, 0)
    const lines = stdout.split('\n').filter(line => line.startsWith('Deltas'))
    const saved = /^Deltas {6}1 file, \d+ B instead of \d(?:\.\d)? kB$/
    const cannot = /^Deltas {6}none: Node [\d.]+ cannot write them; 22\.19, 24\.6 and newer can$/
    t.is(lines.length, 1)
    t.regex(lines[0] ?? '', isAble ? saved : cannot)
    const again = await runCommand(root, 'precompile')
    t.notRegex(again.stdout, /Deltas/)
    const listed = await runCommand(root, 'list')
    t.is(/ 1 file, \d+ B instead of \d(?:\.\d)? kB\n$/.test(listed.stdout), isAble)
    const [asset] = JSON.parse((await runCommand(root, 'list --json')).stdout) as ListedAsset[]
    t.is(asset?.deltas?.files, isAble ? 1 : undefined)
  }
)
