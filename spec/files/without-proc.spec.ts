// A system that does not tell where an open file lies, as macOS and Windows: it is judged by its name.
import { renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { Middleware } from 'koa'
import { openDescriptors } from '../support/descriptors.ts'
import { makeFront } from '../support/front.ts'
import { ask } from '../support/raw.ts'
import { makeProject } from '../support/site.ts'

Object.defineProperty(process, 'platform', { value: 'darwin' })

const PRODUCTION = { env: 'production', compile: false, fingerprint: false, revalidate: 0 } as const

test('a file that is replaced as soon as it is open is sent all the same', async t => {
  const root = makeProject(t, { 'public/a.txt': 'a'.repeat(1000) })
  const file = join(root, 'public/a.txt')
  const replace = () => {
    writeFileSync(`${file}.next`, 'b'.repeat(1000))
    renameSync(`${file}.next`, file)
  }
  const replacing: Middleware = async (_, next) => {
    const state = { isOver: false }
    const look = () => {
      if (state.isOver) return
      if (openDescriptors(file) > 0) replace()
      else setImmediate(look)
    }
    look()
    await next()
    state.isOver = true
  }
  const { port, errors } = await makeFront(t, { root, ...PRODUCTION, inFront: [replacing] })
  for (let round = 0; round < 50; round++) {
    replace()
    t.is((await ask(port, 'GET', '/a.txt')).status, 200)
  }
  t.deepEqual(errors, [])
})

test('S52 what a link leads to is judged as well', async t => {
  const outside = makeProject(t, { 'secret.txt': 'secret' })
  const root = makeProject(t, { 'public/a.txt': 'a' })
  symlinkSync(join(outside, 'secret.txt'), join(root, 'public/out.txt'))
  symlinkSync('a.txt', join(root, 'public/in.txt'))
  const { port } = await makeFront(t, { root, ...PRODUCTION })
  t.is((await ask(port, 'GET', '/out.txt')).status, 404)
  t.is((await ask(port, 'GET', '/in.txt')).text, 'a')
})
