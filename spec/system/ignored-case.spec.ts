// A file system that ignores case: NTFS, by a driver that can be told to. It needs /dev/fuse, and root.
import { mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Middleware } from 'koa'
import { program } from '../../demo/deploy/program.ts'
import { command } from '../support/command.ts'
import { ask } from '../support/raw.ts'
import { ENVIRONMENTS, makeFront, openDescriptors, serial, until } from '../support/index.ts'
import { writeFiles, type ExecutionContext, type Files } from '../support/index.ts'

/** It mounts disks: an ordinary user's run lists it as skipped, by name. */
const test = process.getuid?.() === 0 ? serial : serial.skip

async function makeProject(t: ExecutionContext, files: Files): Promise<string> {
  const top = mkdtempSync(join(tmpdir(), 'ignored-case-'))
  const [image, root] = [join(top, 'image'), join(top, 'root')]
  mkdirSync(root)
  writeFileSync(image, '')
  truncateSync(image, 20 * 1024 * 1024)
  await command(program('mkfs.ntfs', 'ntfs-3g'), ['--quick', '--quiet', '--force', image])
  await command(program('lowntfs-3g', 'ntfs-3g'), ['-o', 'ignore_case', image, root])
  t.teardown(async () => {
    await until(() => openDescriptors(root) === 0, 'every file is closed')
    await command('umount', [root])
    rmSync(top, { recursive: true })
  })
  writeFiles(root, files)
  t.is(statSync(join(root, 'FILES/Admin/X.TXT')).size, 6)
  return root
}

const guard: Middleware = (ctx, next) =>
  ctx.path.startsWith('/files/admin/') || ctx.path.startsWith('/admin/') ? undefined : next()

for (const revalidate of [0, 3600]) {
  test(`on a disk that ignores case a name in another case is not found, with revalidate ${revalidate}`, async t => {
    const root = await makeProject(t, {
      'files/admin/x.txt': 'secret',
      'files/open/größe.txt': 'open',
      'public/admin/x.txt': 'secret',
      'public/open/x.txt': 'open'
    })
    const options = { root, ...ENVIRONMENTS.production, revalidate, mounts: { '/files': 'files' } }
    const { port, errors } = await makeFront(t, { ...options, inFront: [guard] })
    for (let times = 0; times < 2; times++) {
      t.is((await ask(port, 'GET', '/files/open/gr%C3%B6%C3%9Fe.txt')).text, 'open')
      t.is((await ask(port, 'GET', '/open/x.txt')).text, 'open')
      for (const path of [
        ...['/files/ADMIN/x.txt', '/files/Admin/x.txt', '/files/ADMIN/X.TXT', '/files/admin/x.txt'],
        ...['/files/OPEN/gr%C3%B6%C3%9Fe.txt', '/files/open/GR%C3%96%C3%9Fe.txt'],
        ...['/ADMIN/x.txt', '/Admin/x.txt', '/OPEN/x.txt', '/open/X.txt']
      ]) {
        for (const method of ['GET', 'POST']) {
          t.is((await ask(port, method, path)).status, 404, `${method} ${path}`)
        }
      }
    }
    t.deepEqual(errors, [])
  })
}

const LOOKER = `const { statSync } = require('node:fs'), { workerData } = require('node:worker_threads')
  for (;;) statSync(workerData)`

test('on a disk that ignores case, another program’s spelling of a folder breaks no request', async t => {
  const files = { 'files/admin/x.txt': 'secret', 'Site/files/y.txt': 'open' }
  const sources = { 'Site/apps/web/assets/css/app.css': 'a { color: red }' }
  const top = await makeProject(t, { ...files, ...sources })
  const root = join(top, 'Site')
  const options = { root, env: 'development', memory: { maxBytes: 0 } } as const
  const { port, errors } = await makeFront(t, { ...options, mounts: { '/files': 'files' } })
  const looker = new Worker(LOOKER, { eval: true, workerData: join(top, 'site') })
  t.teardown(() => looker.terminate())
  for (let round = 0; round < 100; round++) {
    writeFileSync(join(root, 'apps/web/assets/css/app.css'), `a { width: ${round}px }`)
    t.is((await ask(port, 'GET', '/assets/app.css')).text, `a { width: ${round}px }`)
    t.is((await ask(port, 'GET', '/files/y.txt')).text, 'open', `in round ${round}`)
  }
  t.deepEqual(errors, [])
})
