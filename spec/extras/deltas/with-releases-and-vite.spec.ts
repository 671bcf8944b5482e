import { join } from 'node:path'
import { splitDelta } from '../../../lib/extras/deltas/delta-format.ts'
import { cleanKept, keep, verifyCopies } from '../../../lib/index.ts'
import { deltaName, isAble } from '../../support/deltas.ts'
import { filesBelow, makeProject, test, viteBuild, writeFiles } from '../../support/index.ts'

const TEXT = Array.from({ length: 400 }, (_, at) => `export const v${at} = ${(at * 7919) % 9973}\n`)
const release = (number: number) => `export const version = ${number}\n${TEXT.join('')}`

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
  const deltas = () => filesBelow(three).filter(path => splitDelta(path) !== undefined)
  // Nobody goes back.
  const expected = [0, 1].map(at => deltaName(names[2] ?? '', release(at)))
  t.deepEqual(deltas(), isAble ? expected.toSorted() : [])
  t.deepEqual((await verifyCopies(three)).problems, [])
  await cleanKept(three, { keep: 1, age: 0 })
  t.deepEqual(deltas(), isAble ? [deltaName(names[2] ?? '', release(1))] : [])
  await cleanKept(three, { keep: 0, age: 0 })
  t.deepEqual(deltas(), [])
})
