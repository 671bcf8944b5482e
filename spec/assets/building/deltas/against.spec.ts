// compress --against: deltas from an earlier build of a bundler.
import { join } from 'node:path'
import { statSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { canMakeDeltas } from '../../../../lib/files/deltas/make-delta.ts'
import { splitDelta } from '../../../../lib/files/deltas/delta-file.ts'
import { compress, verifyCopies } from '../../../../lib/index.ts'
import { run } from '../../../cli/run.ts'
import { decode, deltaFile, deltaName, offering } from '../../../support/deltas.ts'
import { filesBelow } from '../../../support/fingerprinted.ts'
import { makeProject, makeSite, writeFiles, type Files } from '../../../support/site.ts'

const isAble = await canMakeDeltas()

const text = (seed: number, lines = 400) =>
  Array.from({ length: lines }, (_, at) => `export const v${at} = ${(at * seed) % 9973}\n`).join('')
const OLD = text(7919)
const NEW = OLD.replace('export const v100 ', "export const version = 'new'\n$&")

function makeBuilds(t: ExecutionContext, old: Files, next: Files) {
  const root = makeProject(t)
  writeFiles(join(root, 'old'), old)
  writeFiles(join(root, 'dist'), next)
  return {
    root,
    dist: join(root, 'dist'),
    run: () => compress(join(root, 'dist'), { against: join(root, 'old') }),
    deltas: () => filesBelow(join(root, 'dist')).filter(path => splitDelta(path) !== undefined)
  }
}

test('DLT-05 compress against an earlier build writes deltas from the files that differ in their hash', async t => {
  const { root, dist, run, deltas } = makeBuilds(
    t,
    {
      'assets/index-BcXr2f3k.js': OLD,
      'assets/same-BcXr2f3k.js': OLD,
      'other/index-BcXr2f3k.js': NEW,
      'assets/plain.js': OLD,
      'assets/main.3f9a1c2b.chunk.js': `// webpack\n${OLD}`
    },
    {
      'assets/index-DxQkLmNp.js': NEW,
      'assets/same-BcXr2f3k.js': OLD,
      'assets/plain.js': NEW,
      'assets/main.4e8b0d1a.chunk.js': `// webpack\n${NEW}`
    }
  )
  const expected = [
    deltaName('assets/index-DxQkLmNp.js', OLD),
    deltaName('assets/main.4e8b0d1a.chunk.js', `// webpack\n${OLD}`)
  ]
  const report = await run()
  t.deepEqual(deltas(), isAble ? expected : [])
  t.is(report.deltas?.isWritable, isAble)
  t.is(report.deltas?.files, isAble ? 2 : 0)
  const site = await makeSite(
    t,
    {},
    {
      root,
      env: 'production',
      mounts: { '/static': { dir: 'dist', immutable: /[-.]\w{8}\./ } }
    }
  )
  const ask = () => site.ask('/static/assets/index-DxQkLmNp.js', { headers: offering(OLD) })
  t.is((await ask()).headers['content-encoding'], 'br', 'there is nothing to decode the delta with')
  const kept = await makeSite(
    t,
    { '/dist/assets/index-BcXr2f3k.js': OLD },
    { root, env: 'production', mounts: { '/static': { dir: 'dist', immutable: /[-.]\w{8}\./ } } }
  )
  const { headers, bytes } = await kept.ask('/static/assets/index-DxQkLmNp.js', {
    headers: offering(OLD)
  })
  t.is(headers['content-encoding'], isAble ? 'dcz' : 'br')
  if (isAble) t.is(decode(bytes, OLD), NEW)
  t.deepEqual((await verifyCopies(dist)).problems, [])
  const stamps = () => deltas().map(path => statSync(join(dist, path)).ino)
  const before = stamps()
  t.is((await run()).deltas?.files, isAble ? 2 : 0)
  t.deepEqual(stamps(), before, 'a delta that is right is not written again')
})

test('DLT-05 of several earlier chunks of one name the three of the nearest size are taken', async t => {
  const chunk = (lines: number) => text(7919, 390 + lines)
  const old = Object.fromEntries(
    [0, 1, 2, 3, 4].map(lines => [
      `chunk-${'ABCDE'[lines]}2345678.js`.replace('8', ''),
      chunk(lines)
    ])
  )
  const { run, deltas } = makeBuilds(t, old, { 'chunk-Z234567A.js': `${chunk(4)}//` })
  await run()
  const nearest = [4, 3, 2].map(lines => deltaName('chunk-Z234567A.js', chunk(lines)))
  t.deepEqual(deltas(), isAble ? nearest.toSorted() : [])
})

test('S55 a delta beside a file that was built anew under its name is removed, and verify reports it before', async t => {
  const path = deltaName('index-DxQkLmNp.js', OLD)
  const orphan = deltaName('gone-DxQkLmNp.js', OLD)
  const { dist, run, deltas } = makeBuilds(
    t,
    { 'unrelated.css': 'a{}' },
    {
      'index-DxQkLmNp.js': NEW,
      [path]: deltaFile(OLD, OLD),
      [deltaName('index-DxQkLmNp.js', NEW)]: deltaFile(NEW, NEW),
      [orphan]: deltaFile(OLD, NEW)
    }
  )
  const { problems, copies } = await verifyCopies(dist)
  t.is(copies, 3)
  t.deepEqual(problems, [
    { path: orphan, message: 'has no original, so nobody needs it: remove it' },
    { path, message: 'is damaged or of another version, so it is not sent' }
  ])
  await run()
  t.deepEqual(deltas(), [orphan, deltaName('index-DxQkLmNp.js', NEW)].toSorted())
})

test('an earlier build that is no directory is an error that names it', async t => {
  const { dist, root } = makeBuilds(t, {}, { 'a.js': 'go()' })
  const error = await t.throwsAsync(compress(dist, { against: join(root, 'nowhere') }))
  t.regex(error?.message ?? '', /nowhere does not exist/)
  await t.throwsAsync(compress(dist, { against: 42 as never }), {
    instanceOf: TypeError,
    message: /against must be/
  })
})

test.serial(
  'DLT-06 compress --against says what the deltas save, or that this Node cannot write them',
  async t => {
    const { root } = makeBuilds(t, { 'app-BcXr2f3k.js': OLD }, { 'app-DxQkLmNp.js': NEW })
    const { status, stdout } = await run(root, 'compress dist --against old')
    t.is(status, 0)
    const saved = /\nDeltas: 1 file, \d+ B instead of \d(?:\.\d)? kB\n/
    const cannot = /\nDeltas: none: Node [\d.]+ cannot write them; 22\.19, 24\.6 and newer can\n/
    t.regex(stdout, isAble ? saved : cannot)
    t.notRegex((await run(root, 'compress dist')).stdout, /Deltas/)
  }
)
