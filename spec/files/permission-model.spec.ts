// Node's permission model, which denies `/proc` unless it is named.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { Answer } from '../support/ask.ts'
import { makeProject } from '../support/site.ts'
import { LOADER, moduleFile } from '../support/typescript.ts'

const knows = (flag: string) => process.allowedNodeEnvironmentFlags.has(flag)
const PERMISSION = [
  knows('--permission') ? '--permission' : '--experimental-permission',
  ...(knows('--allow-net') ? ['--allow-net'] : [])
]
const PROJECT = process.cwd()
// What compiles TypeScript starts a process, and asks for a folder in capitals.
const LOADING =
  LOADER.length === 0
    ? []
    : [
        ...LOADER,
        '--allow-child-process',
        '--allow-worker',
        `--allow-fs-read=${PROJECT.toUpperCase()}`
      ]

test('S72 files are served without /proc under the permission model, and links are still checked', async t => {
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
  const [told] = (await once(child, 'message')) as [{ answers: Answer[]; errors: string[] }]
  await once(child, 'exit')
  t.deepEqual(
    told.answers.map(({ status, text }) => [status, text.length]),
    [
      [200, 3],
      [200, 6],
      [200, 7],
      [200, 2_000_000],
      [200, 7],
      [404, 9],
      [404, 9],
      [404, 9]
    ]
  )
  t.deepEqual(told.errors, [])
})
