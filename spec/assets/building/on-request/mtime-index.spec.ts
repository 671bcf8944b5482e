import { renameSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { showsChangesAfter } from '../../../../lib/files/clock.ts'
import { readSnapshot } from '../../../../lib/files/disk.ts'
import {
  hasSameInputs,
  hasSameTargets,
  MtimeIndex,
  type Entry
} from '../../../../lib/assets/building/on-request/mtime-index.ts'
import { isFileObservation, observe } from '../../../../lib/files/observation.ts'
import { makeProject } from '../../../support/site.ts'
import { untilSettled } from '../../../support/until.ts'
import { digestOf } from '../../../../lib/files/digest.ts'

async function look(path: string) {
  const read = await readSnapshot(path)
  if (!read) throw new Error(`${path} is not there`)
  return observe(path, read.stamp, () => read.bytes)
}

async function makeEntry(t: ExecutionContext) {
  const root = makeProject(t, { source: 'one', part: 'one', target: 'one' })
  const at = (name: string) => join(root, name)
  await untilSettled()
  const inputs = [await look(at('source')), await look(at('part'))]
  const targets = [await look(at('target'))]
  const entry: Entry = { source: at('source'), inputs, targets, generation: 1 }
  const holds = async () => (await hasSameInputs(entry)) && hasSameTargets(entry)
  return { at, entry, holds }
}

for (const name of ['source', 'part', 'target']) {
  test(`an entry is not valid when its ${name} is newer, older, replaced, or gone`, async t => {
    const { at, holds } = await makeEntry(t)
    const { atimeMs, mtimeMs } = statSync(at(name))
    t.true(await holds())
    utimesSync(at(name), atimeMs / 1000, mtimeMs / 1000 + 10)
    t.false(await holds(), 'newer')
    utimesSync(at(name), atimeMs / 1000, mtimeMs / 1000 - 10)
    t.false(await holds(), 'older')
    renameSync(at(name), at('away'))
    t.false(await holds(), 'gone')
    writeFileSync(at(name), 'one')
    t.false(await holds(), 'replaced by equal bytes')
  })
}

test('a file that changed recently is compared by its bytes, since its mtime need not change', async t => {
  const { at, entry } = await makeEntry(t)
  const tomorrow = Date.now() / 1000 + 86_400
  utimesSync(at('source'), tomorrow, tomorrow)
  const stamp = statSync(at('source'), { bigint: true })
  const inputs = (bytes: string) => [observe(at('source'), stamp, () => Buffer.from(bytes))]
  t.true(await hasSameInputs({ ...entry, inputs: inputs('one') }))
  t.false(await hasSameInputs({ ...entry, inputs: inputs('two') }))
})

test('once its stamp is conclusive, a file is compared by its stamp alone', async t => {
  const { at, entry } = await makeEntry(t)
  entry.inputs = entry.inputs.map(input => ({ ...input, digest: digestOf('one') }))
  t.true(await hasSameInputs(entry))
  t.deepEqual(
    entry.inputs.filter(isFileObservation).map(({ path, digest }) => [path, digest]),
    [
      [at('source'), undefined],
      [at('part'), undefined]
    ]
  )
})

test('a stamp is conclusive when neither bytes nor inode changed recently', t => {
  const now = 1_700_000_000_123
  const at = (ms: number) => BigInt(now + ms) * 1_000_000n
  const stamp = (mtime: number, ctime: number) => ({
    ...{ dev: 1n, ino: 1n, size: 1n },
    ...{ mtimeNs: at(mtime), ctimeNs: at(ctime) }
  })
  t.true(showsChangesAfter(stamp(-1000, -1000), now))
  t.false(showsChangesAfter(stamp(-1000, -5), now))
  t.false(showsChangesAfter(stamp(-5, -1000), now))
  t.false(showsChangesAfter(stamp(5000, -1000), now), 'a date in the future')
})

test('PUB-05a on a file system that stamps whole seconds, a stamp is conclusive after two', t => {
  const second = 1_700_000_000_000
  const rested = (mtime: number, ctime: number, later: number) =>
    showsChangesAfter(
      {
        ...{ dev: 1n, ino: 1n, size: 1n },
        ...{ mtimeNs: BigInt(mtime) * 1_000_000n, ctimeNs: BigInt(ctime) * 1_000_000n }
      },
      second + later
    )
  t.false(rested(second, second, 999), 'ext3 and HFS+ stamp one second')
  t.false(rested(second, second, 1999), 'FAT stamps two')
  t.true(rested(second, second, 2100))
  t.false(rested(second - 5000, second, 1999), 'the mtime was set back')
  t.true(rested(second, second + 1, 100), 'a copy of a whole second on a disk that stamps finely')
})

test('the index drops the least recently used entry', async t => {
  const { entry } = await makeEntry(t)
  const index = new MtimeIndex(3)
  for (const key of ['a', 'b', 'c']) index.set(key, entry)
  index.get('a')
  index.set('d', entry)
  t.deepEqual([...index.keys()].toSorted(), ['a', 'c', 'd'])
})
