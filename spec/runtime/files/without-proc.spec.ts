// Where a system does not tell where an open file lies: macOS and Windows, and Node's permission model, which
// denies `/proc` unless it is named. The file is judged by its name.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Middleware } from 'koa'
import { ask } from '../../support/raw.ts'
import { LOADER, makeFront, makeProject, moduleFile, openDescriptors } from '../../support/index.ts'
import { test, type Answer } from '../../support/index.ts'

Object.defineProperty(process, 'platform', { value: 'darwin' })

const PRODUCTION = { env: 'production', compile: false, fingerprint: false, revalidate: 0 } as const

test('a file that is replaced as soon as it is open is still sent', async t => {
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
  for (let round = 0; round < 15; round++) {
    replace()
    t.is((await ask(port, 'GET', '/a.txt')).status, 200)
  }
  t.deepEqual(errors, [])
})

const knows = (flag: string) => process.allowedNodeEnvironmentFlags.has(flag)
const PERMISSION = [
  knows('--permission') ? '--permission' : '--experimental-permission',
  ...(knows('--allow-net') ? ['--allow-net'] : [])
]
const PROJECT = process.cwd()
// What compiles TypeScript starts a process, and asks for a folder in capitals.
const COMPILING = ['--allow-child-process', '--allow-worker']
COMPILING.push(`--allow-fs-read=${PROJECT.toUpperCase()}`)
const LOADING = LOADER.length === 0 ? [] : [...LOADER, ...COMPILING]

test('without /proc, under the permission model, files are served but no link that leads outside', async t => {
  const outside = makeProject(t, { 'secret.txt': 'secret' })
  const readable = makeProject(t, { 'secret.txt': 'secret' })
  const root = makeProject(t, {
    'apps/web/assets/css/a.css': 'a{}',
    'public/a.txt': 'public',
    'build/a.txt': 'mounted',
    'build/big.bin': Buffer.alloc(2_000_000, 1)
  })
  symlinkSync('a.txt', join(root, 'build/in.txt'))
  symlinkSync(join(outside, 'secret.txt'), join(root, 'build/out.txt'))
  symlinkSync(join(readable, 'secret.txt'), join(root, 'build/readable.txt'))
  const reads = [root, readable, PROJECT].map(path => `--allow-fs-read=${path}`)
  const paths = ['/assets/a.css', '/a.txt', '/static/a.txt', '/static/big.bin', '/static/in.txt']
  const denied = ['/static/out.txt', '/static/readable.txt', '/static/none.txt']
  const child = fork(moduleFile('spec/support/ordinary-user.ts'), [root, ...paths, ...denied], {
    execArgv: [...PERMISSION, ...reads, `--allow-fs-write=${root}`, ...LOADING],
    env: { ...process.env, TSX_DISABLE_CACHE: '1', NODE_V8_COVERAGE: undefined }
  })
  const [[given]] = await Promise.all([once(child, 'message'), once(child, 'exit')])
  const told = given as { answers: Answer[]; errors: string[] }
  const sizes = told.answers.map(({ status, text }) => (status === 200 ? text.length : status))
  t.deepEqual(sizes, [3, 6, 7, 2_000_000, 7, 404, 404, 404])
  t.deepEqual(told.errors, [])
})
