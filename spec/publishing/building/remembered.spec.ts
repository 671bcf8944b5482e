// What was made from files is made again once one of them has changed, and so is a failure.
import { join } from 'node:path'
import { observeAll, Remembered } from '../../../lib/publishing/sources/observation.ts'
import { makeProject, test, writeFiles } from '../../support/index.ts'

test('a value is made again once a file has changed or appeared, and when it is told so', async t => {
  const root = makeProject(t, { 'a.txt': 'one' })
  const paths = ['a.txt', 'later/b.txt'].map(name => join(root, name))
  let made = 0
  const value = new Remembered(async () => ({ value: ++made, inputs: await observeAll(paths) }))
  t.deepEqual(await Promise.all([value.get(), value.get()]), [1, 1])
  writeFiles(root, { 'a.txt': 'two' })
  t.is(await value.get(), 2)
  t.is(await value.get(), 2)
  writeFiles(root, { 'later/b.txt': 'one' })
  t.is(await value.get(), 3)
  value.forget()
  t.is(await value.get(), 4)
})

test('a failure is thrown until what it came from has changed, one without inputs once', async t => {
  const root = makeProject(t, { 'a.txt': 'broken' })
  const [file, error] = [join(root, 'a.txt'), new Error('broken')]
  let tries = 0
  const value = new Remembered<number>(async () => {
    const inputs = await observeAll([file])
    return ++tries < 2 ? { error, inputs } : { value: tries, inputs }
  })
  for (let times = 0; times < 2; times++) t.is(await t.throwsAsync(value.get()), error)
  t.is(tries, 1)
  writeFiles(root, { 'a.txt': 'corrected' })
  t.is(await value.get(), 2)
  const lost = new Remembered<number>(async () => {
    if (++tries < 4) throw error
    return { value: tries, inputs: [] }
  })
  t.is(await t.throwsAsync(lost.get()), error)
  t.is(await lost.get(), 4)
})
