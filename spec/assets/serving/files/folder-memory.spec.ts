// Which folders are remembered, and how many names of all of them.
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { FolderMemory } from '../../../../lib/assets/serving/files/folder-memory.ts'
import { makeProject } from '../../../support/site.ts'

/** Folders of so many files each, which are looked up at the same time. */
async function remembered(t: ExecutionContext, sizes: readonly number[]): Promise<boolean[]> {
  const files = sizes.flatMap((size, folder) =>
    Array.from({ length: size }, (_, at) => [`${folder}/${at}.css`, ''] as const)
  )
  const root = makeProject(t, Object.fromEntries(files))
  const memory = new FolderMemory()
  const paths = sizes.map((_, folder) => join(root, String(folder)))
  await Promise.all(paths.map(async path => memory.learn(path, path, 3600, false)))
  return paths.map(path => memory.recall(path, performance.now()) !== undefined)
}

test('folders that are looked up at the same time are all remembered', async t => {
  t.deepEqual(await remembered(t, [300, 1, 300, 300, 300, 300, 300, 300]), Array(8).fill(true))
})

test('a folder of more than 5,000 names is not remembered', async t => {
  t.deepEqual(await remembered(t, [5000, 5001]), [true, false])
})

test('no more than 20,000 names are remembered', async t => {
  const folders = await remembered(t, [4500, 4500, 4500, 4500, 4500])
  t.true(folders.filter(Boolean).length <= 4)
})
