import { renameSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { showsChangesAfter } from '../../../lib/files/clock.ts'
import { readSnapshot } from '../../../lib/files/disk.ts'
import { MtimeIndex, type Entry } from '../../../lib/assets/publishing/mtime-index.ts'
import { isFileObservation, observe } from '../../../lib/files/observation.ts'
import { makeProject } from '../../support/site.ts'
import { untilSettled } from '../../support/until.ts'
import { digestOf } from '../../../lib/files/digest.ts'

async function look(path: string) {
  const read = await readSnapshot(path)
  if (!read) throw new Error(`${path} is not there`)
  return observe(path, read.stamp, () => read.bytes)
}

async function makeIndex(t: ExecutionContext) {
  const root = makeProject(t, { source: 'one', part: 'one', target: 'one' })
  const at = (name: string) => join(root, name)
  await untilSettled()
  const index = new MtimeIndex(10)
  const inputs = [await look(at('source')), await look(at('part'))]
  const target = { path: at('target'), stamp: statSync(at('target'), { bigint: true }) }
  const entry: Entry = { inputs, target, generation: 1 }
  index.set('key', entry)
  const holds = async () => (await index.check('key', index.get('key') ?? entry)) !== undefined
  return { at, index, entry, holds }
}

test('an entry is valid as long as nothing changes, and returns the stamp of its target', async t => {
  const { index, entry, at } = await makeIndex(t)
  const stamp = await index.check('key', entry)
  t.is(stamp?.ino, statSync(at('target'), { bigint: true }).ino)
  t.truthy(await index.check('key', entry))
})

for (const name of ['source', 'part', 'target']) {
  test(`an entry is not valid when its ${name} is newer, older, replaced, or gone`, async t => {
    const { at, holds } = await makeIndex(t)
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
  const { at, index, entry } = await makeIndex(t)
  const tomorrow = Date.now() / 1000 + 86_400
  utimesSync(at('source'), tomorrow, tomorrow)
  const stamp = statSync(at('source'), { bigint: true })
  const inputs = (bytes: string) => [observe(at('source'), stamp, () => Buffer.from(bytes))]
  t.truthy(await index.check('key', { ...entry, inputs: inputs('one') }))
  t.is(await index.check('key', { ...entry, inputs: inputs('two') }), undefined)
})

test('once its stamp is conclusive, a file is compared by its stamp alone', async t => {
  const { at, index, entry } = await makeIndex(t)
  const inputs = entry.inputs.map(input => ({ ...input, digest: digestOf(Buffer.from('one')) }))
  const young: Entry = { ...entry, inputs }
  index.set('key', young)
  t.truthy(await index.check('key', young))
  t.deepEqual(
    index
      .get('key')
      ?.inputs.filter(isFileObservation)
      .map(({ path, digest }) => [path, digest]),
    [
      [at('source'), undefined],
      [at('part'), undefined]
    ]
  )
  t.is(
    young.inputs.find(isFileObservation)?.digest,
    digestOf(Buffer.from('one')),
    'the entry itself stays as it was'
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
  const { entry } = await makeIndex(t)
  const index = new MtimeIndex(3)
  for (const key of ['a', 'b', 'c']) index.set(key, entry)
  index.get('a')
  index.set('d', entry)
  t.is(index.size, 3)
  t.deepEqual(
    ['a', 'b', 'c', 'd'].map(key => index.get(key) !== undefined),
    [true, false, true, true]
  )
  index.delete('a')
  t.is(index.get('a'), undefined)
})
