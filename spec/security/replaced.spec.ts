// What somebody who may write to the directory puts in the place of a temporary file, or of a folder in which a
// command removes files.
import fs from 'node:fs/promises'
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { test, type ExecutionContext } from '../support/test.ts'
import { precompile } from '../../lib/koa-assets.ts'
import * as face from '../../lib/index.ts'
import { withFingerprint } from '../../lib/runtime/urls/spelling.ts'
import { requireInPlace } from '../../lib/runtime/files/containment.ts'
import { digestOf } from '../../lib/runtime/files/digest.ts'
import type { OpenFile } from '../../lib/runtime/files/open-file.ts'
import { writeAtomically } from '../../lib/publishing/writing/write.ts'
import { filesBelow } from '../support/fingerprinted.ts'
import { makeProject, makeSite, writeFiles } from '../support/site.ts'
import { cases } from '../support/soak.ts'
import { AS_WRITTEN } from '../support/as-written.ts'

const THEN = 1_700_000_000
const SECRET = 'private bytes'

// What an extra adds, as long as it is there.
const { clean, compress, keep, cleanKept } = face as {
  clean?: (options: object, limits: { keep: number; age: number }) => Promise<unknown>
  compress?: (directory: string) => Promise<unknown>
  keep?: (older: string, newer: string) => Promise<unknown>
  cleanKept?: (directory: string, limits: { keep: number; age: number }) => Promise<unknown>
}

/** A private file outside, and what a change of it, or beside it, would show. */
function makePrivate(t: ExecutionContext) {
  const directory = makeProject(t, { key: SECRET })
  const file = join(directory, 'key')
  chmodSync(file, 0o600)
  utimesSync(file, THEN, THEN)
  chmodSync(directory, 0o700)
  utimesSync(directory, THEN, THEN)
  const state = () => {
    const names = ['.', ...readdirSync(directory)]
    return names.map(name => {
      const { mode, mtimeNs, size } = lstatSync(join(directory, name), { bigint: true })
      return { name, mode, mtimeNs, ...(name !== '.' && { size }) }
    })
  }
  const before = state()
  const check = (round: number | string) => {
    t.deepEqual(state(), before, `round ${round}`)
    t.is(readFileSync(file, 'utf8'), SECRET)
  }
  return { directory, file, check }
}

/** Removes a folder in which the other process may still put links. */
function removeContested(folder: string): void {
  for (;;) {
    try {
      return rmSync(folder, { recursive: true, force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
    }
  }
}

const TEMPORARY = /^\.koa-fresh-assets-.*\.tmp$/

function temporaryIn(directory: string): string {
  return join(directory, readdirSync(directory).find(name => TEMPORARY.test(name)) ?? '')
}

test('a temporary file that was moved out is not removed by another name', async t => {
  const root = makeProject(t, { 'public/app.css': 'old', 'away/other': '' })
  const dir = join(root, 'public')
  const checkContent = async (file: OpenFile) => {
    // A link in the place of `away` would lead the removal of `away/key` to whatever has that name.
    renameSync(temporaryIn(dir), join(root, 'away/key'))
    await requireInPlace({ root, dir, symlinks: 'inside' }, file)
  }
  const writing = writeAtomically(join(dir, 'app.css'), Buffer.from('a{}'), { checkContent })
  await t.throwsAsync(writing, { code: 'publish-failed' })
  t.deepEqual(readdirSync(join(root, 'away')).toSorted(), ['key', 'other'])
})

/** Puts a link in the place of each temporary file in these directories, as often as it can. */
async function replacing(t: ExecutionContext, directories: readonly string[], to: string) {
  const count = new Int32Array(new SharedArrayBuffer(4))
  const link = join(makeProject(t), 'link')
  const worker = new Worker(
    `const { readdirSync, renameSync, symlinkSync, rmSync } = require('node:fs')
     const { parentPort, workerData: { directories, link, to, count } } = require('node:worker_threads')
     const replaceAll = directory => {
       for (const entry of readdirSync(directory, { withFileTypes: true })) {
         if (!entry.isFile() || !${TEMPORARY}.test(entry.name)) continue
         rmSync(link, { force: true })
         symlinkSync(to, link)
         renameSync(link, directory + '/' + entry.name)
         Atomics.add(count, 0, 1)
       }
     }
     parentPort.postMessage('replacing')
     for (;;) for (const directory of directories) {
       try { replaceAll(directory) } catch (error) { if (error.code !== 'ENOENT') throw error }
     }`,
    { eval: true, workerData: { directories, link, to, count } }
  )
  t.teardown(() => worker.terminate())
  await new Promise(resolve => worker.once('message', resolve))
  return () => Atomics.load(count, 0)
}

/** What is refused while somebody replaces files. */
function refused(error: unknown): void {
  const { code = '', name } = error as { code?: string; name?: string }
  const isKnown = ['publish-failed', 'compress-failed', 'ENOENT', 'ELOOP', 'EEXIST'].includes(code)
  if (!isKnown && name !== 'PrecompileError') throw error
}

/** A build of one script, as a bundler leaves it. */
function writeBuild(folder: string, file: string, text: string): void {
  const manifest = { 'src/app.js': { file, src: 'src/app.js', isEntry: true } }
  writeFiles(folder, { [file]: text, '.vite/manifest.json': JSON.stringify(manifest) })
}

const PAGE = (round: number) => `/* ${round} */${'body { color: red }\n'.repeat(40)}`

interface Race {
  readonly directories: readonly string[]
  readonly run: (round: number) => Promise<unknown>
}

const RACES: Readonly<Record<string, (t: ExecutionContext) => Promise<Race>>> = {
  precompile: async t => {
    const root = makeProject(t, { 'public/assets/sub/x': '' })
    const run = async (round: number) => {
      writeFiles(root, { 'apps/web/assets/x/sub/app.css': PAGE(round) })
      return precompile({ root, integrity: false, ...AS_WRITTEN }, { warn: () => undefined })
    }
    return { directories: [join(root, 'public/assets/sub')], run }
  },
  ...(compress && {
    compress: async (t: ExecutionContext) => {
      const root = makeProject(t)
      const run = async (round: number) => {
        writeFiles(root, { 'sub/app.css': PAGE(round) })
        return compress(root)
      }
      return { directories: [join(root, 'sub')], run }
    }
  }),
  ...(keep && {
    keep: async (t: ExecutionContext) => {
      const root = makeProject(t)
      const [older, newer] = [join(root, 'older'), join(root, 'newer')]
      const run = async (round: number) => {
        for (const folder of [older, newer]) {
          removeContested(folder)
          const name = `assets/app-${folder === older ? 'AAAA' : 'BBBB'}${String(round).padStart(4, '0')}.js`
          writeBuild(folder, name, PAGE(round))
        }
        return keep(older, newer)
      }
      return { directories: [newer, join(newer, 'assets')], run }
    }
  }),
  'a request': async t => {
    const site = await makeSite(t, { '/public/assets/x': '' }, { env: 'test' })
    const run = async (round: number) => {
      site.write('x/app.css', PAGE(round))
      // It may be refused.
      await site.ask('/assets/app.css')
    }
    return { directories: [site.at('/public/assets')], run }
  }
}

for (const [what, prepare] of Object.entries(RACES)) {
  test.serial(
    `${what} changes nothing outside while links take the place of its temporary files`,
    async t => {
      const secret = makePrivate(t)
      const { directories, run } = await prepare(t)
      const replaced = await replacing(t, directories, secret.file)
      const rounds = cases(15, 300)
      // On a busy machine the other process may come too late for many of them.
      for (let round = 0; round < rounds || (replaced() === 0 && round < rounds * 50); round++) {
        await run(round).catch(refused)
        secret.check(round)
      }
      t.true(replaced() > 0)
      t.log(`${replaced()} links in ${rounds} rounds`)
    }
  )
}

/** Does something right after the first of these calls for a file in a folder. */
function afterFirst(
  t: ExecutionContext,
  call: 'lstat' | 'unlink',
  folder: string,
  act: () => void
) {
  const original = fs[call] as (path: string, ...rest: unknown[]) => Promise<unknown>
  const put = (replacement: unknown) => {
    Object.assign(fs, { [call]: replacement })
    syncBuiltinESMExports()
  }
  t.teardown(() => put(original))
  let isFirst = true
  put(async (path: string, ...rest: unknown[]) => {
    const result = await original(path, ...rest)
    if (isFirst && dirname(path) === folder && !TEMPORARY.test(basename(path))) {
      isFirst = false
      act()
    }
    return result
  })
}

const OLD = 'old { color: red }\n'.repeat(40)
const NAMES = ['.br', '.zst', '.gz', '']

interface Removal {
  readonly folder: string
  /** After which the folder becomes a link, with another removal to come. Default: the first removal. */
  readonly call?: 'lstat'
  readonly run: () => Promise<unknown>
}

const REMOVALS: Readonly<Record<string, (t: ExecutionContext, root: string) => Promise<Removal>>> =
  {
    ...(clean && {
      clean: async (_: ExecutionContext, root: string) => {
        writeFiles(root, { 'apps/web/assets/x/sub/app.css': 'new{}' })
        await precompile({ root, integrity: false, ...AS_WRITTEN })
        const old = withFingerprint('app.css', digestOf(OLD))
        writeFiles(
          root,
          Object.fromEntries(NAMES.map(copy => [`public/assets/sub/${old}${copy}`, OLD]))
        )
        const run = () => clean({ root }, { keep: 0, age: 0 })
        return { folder: join(root, 'public/assets/sub'), run }
      }
    }),
    ...(keep &&
      cleanKept && {
        'clean of a build': async (_: ExecutionContext, root: string) => {
          const [older, newer] = [join(root, 'older'), join(root, 'newer')]
          for (const [folder, name] of [
            [older, 'sub/app-AAAAAAA1.js'],
            [newer, 'sub/app-BBBBBBB2.js']
          ] as const) {
            writeBuild(folder, name, OLD + name)
          }
          await keep(older, newer)
          return { folder: join(newer, 'sub'), run: () => cleanKept(newer, { keep: 0, age: 0 }) }
        }
      }),
    ...(compress && {
      compress: async (_: ExecutionContext, root: string) => {
        // Too small for a copy, and this one does not decompress to it.
        writeFiles(root, { 'sub/app.css': 'a{}', 'sub/app.css.br': 'x' })
        return { folder: join(root, 'sub'), call: 'lstat' as const, run: () => compress(root) }
      }
    }),
    precompile: async (_, root) => {
      const publish = () => precompile({ root, integrity: false, ...AS_WRITTEN })
      writeFiles(root, { 'apps/web/assets/x/sub/app.css': OLD })
      await publish()
      writeFiles(root, { 'apps/web/assets/x/sub/app.css': 'a{}' })
      return { folder: join(root, 'public/assets/sub'), run: publish }
    }
  }

for (const [what, prepare] of Object.entries(REMOVALS)) {
  test.serial(
    `${what} looks again before each removal: of a folder that becomes a link meanwhile, nothing is removed`,
    async t => {
      const root = makeProject(t)
      const { folder, call = 'unlink', run } = await prepare(t, root)
      const outside = join(makeProject(t), 'outside')
      const names = readdirSync(folder)
      afterFirst(t, call, folder, () => {
        for (const name of names) writeFiles(outside, { [name]: SECRET })
        renameSync(folder, `${folder}-moved`)
        symlinkSync(outside, folder)
      })
      await t.throwsAsync(run(), { message: /was not (?:removed|written): / })
      t.is(readlinkSync(folder), outside, 'the removal was reached')
      t.deepEqual(filesBelow(outside), names.toSorted())
      for (const name of names) t.is(readFileSync(join(outside, name), 'utf8'), SECRET)
    }
  )
}
