import { readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { sweep, sweepTree, temporaryName } from '../../../lib/files/writing/atomic-write.ts'
import { makeProject } from '../../support/site.ts'

const LEFT = '.koa-fresh-assets-cafecafe-0.tmp'

test('temporary files go once they are older than they may be, whatever their mtime; other files stay', async t => {
  const others = ['.hidden', '.koa-fresh-assets.lock', 'app.css']
  const root = makeProject(
    t,
    Object.fromEntries([...others, LEFT].map(name => [name, 'half a fi']))
  )
  for (const name of [...others, LEFT]) utimesSync(join(root, name), 1e9, 1e9)
  await sweep(root)
  t.deepEqual(readdirSync(root).toSorted(), [...others, LEFT].toSorted())
  await sweep(root, -1000)
  t.deepEqual(readdirSync(root).toSorted(), others)
})

test('every temporary file has a name of its own, which is swept', async t => {
  const names = [temporaryName(), temporaryName()]
  t.is(new Set(names).size, 2)
  const root = makeProject(t)
  for (const name of names) writeFileSync(join(root, name), '')
  await sweep(root, -1000)
  t.deepEqual(readdirSync(root), [])
})

test('S74 folders below are swept, but not through a link', async t => {
  const outside = makeProject(t, { [LEFT]: '', [`deep/${LEFT}`]: '' })
  const root = makeProject(t, { [`a/b/${LEFT}`]: '', [`a/${LEFT}`]: '' })
  symlinkSync(outside, join(root, 'link'))
  symlinkSync(root, join(root, 'again'))
  await sweepTree(root, -1000)
  t.deepEqual(readdirSync(join(root, 'a')), ['b'])
  t.deepEqual(readdirSync(join(root, 'a/b')), [])
  t.deepEqual(readdirSync(outside).toSorted(), [LEFT, 'deep'])
  t.deepEqual(readdirSync(join(outside, 'deep')), [LEFT])
})

test('a folder that is not there is swept without complaint', async t => {
  await t.notThrowsAsync(sweep(join(makeProject(t), 'nowhere')))
})
