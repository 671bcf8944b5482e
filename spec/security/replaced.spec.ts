// What somebody who may write to the directory puts in the place of a temporary file, or of a folder in which a command
// removes files. The races for such places are in spec/soak/races.spec.ts.
import fs from 'node:fs/promises'
import { readdirSync, readFileSync, readlinkSync, renameSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { withFingerprint } from '../../lib/runtime/urls/spelling.ts'
import { requireInPlace } from '../../lib/runtime/files/containment.ts'
import type { OpenFile } from '../../lib/runtime/files/open-file.ts'
import { writeAtomically } from '../../lib/publishing/writing/write.ts'
import { digestOf, filesBelow, makeProject, replaceCalls } from '../support/index.ts'
import { run as precompile, viteBuild } from '../support/index.ts'
import { test, writeFiles, type ExecutionContext } from '../support/index.ts'
import { ofExtras } from '../support/of-extras.ts'
import { SECRET } from './stronghold.ts'

const { clean, compress, keep, cleanKept } = ofExtras
const TEMPORARY = /^\.koa-fresh-assets-.*\.tmp$/

test('a temporary file that somebody has moved is not removed from its new place', async t => {
  const root = makeProject(t, { 'public/app.css': 'old', 'away/other': '' })
  const dir = join(root, 'public')
  const checkContent = async (file: OpenFile) => {
    const temporary = readdirSync(dir).find(name => TEMPORARY.test(name)) ?? ''
    // A link in the place of `away` would lead the removal of `away/key` to whatever has that name.
    renameSync(join(dir, temporary), join(root, 'away/key'))
    await requireInPlace({ root, dir, symlinks: 'inside' }, file)
  }
  const writing = writeAtomically(join(dir, 'app.css'), Buffer.from('a{}'), { checkContent })
  await t.throwsAsync(writing, { code: 'publish-failed' })
  t.deepEqual(readdirSync(join(root, 'away')).toSorted(), ['key', 'other'])
})

/** Does something right after the first of these calls for a file in a folder. */
function afterFirst(
  t: ExecutionContext,
  call: 'lstat' | 'unlink',
  folder: string,
  act: () => void
): void {
  const original = fs[call] as (path: string, ...rest: unknown[]) => Promise<unknown>
  let isFirst = true
  const counted = async (path: string, ...rest: unknown[]) => {
    const result = await original(path, ...rest)
    if (isFirst && dirname(path) === folder && !TEMPORARY.test(basename(path))) {
      isFirst = false
      act()
    }
    return result
  }
  replaceCalls(t, { [`promises.${call}`]: counted })
}

const OLD = 'old { color: red }\n'.repeat(40)
const SOURCE = 'apps/web/assets/x/sub/app.css'

interface Removal {
  readonly folder: string
  /** After which the folder becomes a link, with another removal to come. Default: the first removal. */
  readonly call?: 'lstat'
  readonly run: () => Promise<unknown>
}

const REMOVALS: Readonly<Record<string, (root: string) => Promise<Removal>>> = {
  ...(clean && {
    clean: async root => {
      writeFiles(root, { [SOURCE]: 'new{}' })
      await precompile({ root, integrity: false })
      const old = `public/assets/sub/${withFingerprint('app.css', digestOf(OLD))}`
      for (const copy of ['', '.br', '.zst', '.gz']) writeFiles(root, { [old + copy]: OLD })
      const run = () => clean({ root }, { keep: 0, age: 0 })
      return { folder: join(root, 'public/assets/sub'), run }
    }
  }),
  ...(keep &&
    cleanKept && {
      'clean of a build': async root => {
        const [older, newer] = [join(root, 'older'), join(root, 'newer')]
        for (const [folder, file] of [
          ['older', 'sub/app-AAAAAAA1.js'],
          ['newer', 'sub/app-BBBBBBB2.js']
        ] as const) {
          const files = viteBuild(folder, { 'src/app.js': file })
          writeFiles(root, { ...files, [`${folder}/${file}`]: OLD + file })
        }
        await keep(older, newer)
        return { folder: join(newer, 'sub'), run: () => cleanKept(newer, { keep: 0, age: 0 }) }
      }
    }),
  ...(compress && {
    compress: async root => {
      // Too small for a copy, and this one does not decompress to it.
      writeFiles(root, { 'sub/app.css': 'a{}', 'sub/app.css.br': 'x' })
      return { folder: join(root, 'sub'), call: 'lstat', run: () => compress(root) }
    }
  }),
  precompile: async root => {
    const run = () => precompile({ root, integrity: false })
    writeFiles(root, { [SOURCE]: OLD })
    await run()
    writeFiles(root, { [SOURCE]: 'a{}' })
    return { folder: join(root, 'public/assets/sub'), run }
  }
}

for (const [what, prepare] of Object.entries(REMOVALS)) {
  test.serial(`${what} removes nothing through a folder that becomes a link`, async t => {
    const { folder, call = 'unlink', run } = await prepare(makeProject(t))
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
  })
}
