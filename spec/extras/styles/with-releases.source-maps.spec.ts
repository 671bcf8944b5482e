import { join } from 'node:path'
import { clean } from '../../../lib/index.ts'
import { makeProject, placed, run, snapshot, targetOf, test } from '../../support/index.ts'
import { writeFiles } from '../../support/index.ts'

test('clean removes hidden source maps only together with their files', async t => {
  const root = makeProject(t, placed({ 'app.css': 'a { color: red }', 'a.js': 'one()' }))
  await run({ root, minify: true })
  writeFiles(root, placed({ 'app.css': 'a { color: green }' }))
  await run({ root, minify: true })
  const maps = () => [...snapshot(join(root, 'source-maps')).keys()]
  t.is(maps().length, 3)
  await clean({ root }, { keep: 0, age: 0, dryRun: true })
  t.is(maps().length, 3)
  await clean({ root }, { keep: 0, age: 0 })
  const left = ['/assets/a.js', '/assets/app.css'].map(name => `${targetOf(root, name)}.map`)
  t.deepEqual(maps().toSorted(), left.map(path => path.slice(1)).toSorted())
})

test('where hidden source maps cannot be written, precompile leaves nothing in public', async t => {
  const files = placed({ 'app.css': 'a { color: red }', 'a.js': 'one()' })
  const root = makeProject(t, { ...files, 'source-maps': 'a file' })
  await t.throwsAsync(run({ root, minify: true }), { message: /source-maps/ })
  t.deepEqual([...snapshot(join(root, 'public')).keys()], [])
})
