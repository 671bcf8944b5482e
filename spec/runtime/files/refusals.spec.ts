// What a system may refuse: modes, times, hard links, and saving folders. Windows, WSL's DrvFs, CIFS and FUSE do.
import fs from 'node:fs'
import { join } from 'node:path'
import { tellRefusals } from '../../../lib/runtime/files/refusals.ts'
import { writeAtomically, prepareReplacement } from '../../../lib/publishing/writing/write.ts'
import { precompile } from '../../../lib/koa-assets.ts'
import { AS_WRITTEN, isWindows, makeProject, makeSite, replaceCalls } from '../../support/index.ts'
import { readPublic, serial as test, targetOf, writeFiles } from '../../support/index.ts'
import type { ExecutionContext } from '../../support/index.ts'

type Call = (...words: unknown[]) => unknown

/** Calls that fail with a code, each in the style of its name. */
function refusing(names: readonly string[], code: string): Record<string, Call> {
  const refuse = () => {
    throw Object.assign(new Error(`${code}: refused`), { code, syscall: 'refused' })
  }
  const styled = (name: string): Call => {
    if (name.startsWith('promises.')) return async () => refuse()
    if (name.endsWith('Sync')) return refuse
    return (...words) =>
      void Promise.resolve()
        .then(refuse)
        .catch(words.at(-1) as (error: unknown) => void)
  }
  return Object.fromEntries(names.map(name => [name, styled(name)]))
}

const KINDS = {
  chmod: ['promises.chmod'],
  utimes: ['futimesSync', 'promises.lutimes'],
  fsync: ['fsync']
} as const
const CODES = ['EPERM', 'ENOSYS', 'ENOTSUP', 'EINVAL', 'ERR_ACCESS_DENIED']

const CSS = 'apps/web/assets/css/app.css'

test('assets are published where a system refuses chmod, utimes or fsync, with a warning for each', async t => {
  const told: string[] = []
  tellRefusals(message => told.push(message))
  for (const code of CODES) {
    const files = { 'css/app.css': 'a{}', 'sub/deep/logo.png': 'logo' }
    const site = await makeSite(t, files, { env: 'test' })
    const { root } = site
    // Modes have to be set.
    const umask = process.umask(0o077)
    const restore = replaceCalls(t, refusing(Object.values(KINDS).flat(), code))
    t.is((await site.ask('/assets/deep/logo.png')).text, 'logo', code)
    for (const text of ['b{}', 'c{}']) {
      writeFiles(root, { [CSS]: text })
      await precompile({ root, ...AS_WRITTEN })
      t.is(readPublic(root, targetOf(root, '/assets/app.css')).toString(), text, code)
      t.is((await site.ask('/assets/app.css')).text, text, code)
    }
    // Nothing is written again, but the manifest's time is.
    await precompile({ root, ...AS_WRITTEN })
    restore()
    process.umask(umask)
  }
  const kinds = told.map(message => {
    return /^the system refuses (\w+) in .+ \(EPERM\), so /.exec(message)?.[1] ?? message
  })
  // Windows never does the others.
  const expected = isWindows ? ['utimes'] : Object.keys(KINDS)
  t.deepEqual(kinds.toSorted(), expected.toSorted())
  const again: string[] = []
  tellRefusals(message => again.push(message))
  t.deepEqual(again, told, 'a log that comes later is told as well')
})

test('precompile fails, without a manifest, if a file cannot be opened, renamed or saved', async t => {
  for (const [names, code] of [
    [['rename'], 'EPERM'],
    [['open', 'promises.open'], 'EPERM'],
    [KINDS.fsync, 'EIO'],
    [KINDS.fsync, 'EACCES'],
    [KINDS.chmod, 'EIO']
  ] as const) {
    const root = makeProject(t, { [CSS]: 'a{}' })
    const umask = process.umask(0o077)
    const restore = replaceCalls(t, refusing(names, code))
    const message = new RegExp(`failed with ${code}`)
    await t.throwsAsync(precompile({ root }), { message }, names[0])
    restore()
    process.umask(umask)
    t.false(fs.existsSync(join(root, 'public/assets.json')))
  }
})

const secondOf = (path: string) => Math.floor(fs.statSync(path).mtimeMs / 1000)

/** Sets the clock of the process two seconds ahead of that of the disk. */
function runAhead(t: ExecutionContext): void {
  const { now } = Date
  Date.now = () => now() + 2000
  t.teardown(() => (Date.now = now))
}

/** Times as FAT has them. */
function evenSeconds(set: Call): Call {
  return (fd, ...times) => set(fd, ...times.map(time => Math.floor(Number(time) / 2) * 2))
}

for (const [what, makeCalls] of [
  ['cannot be set', () => refusing(KINDS.utimes, 'EPERM')],
  ['are even seconds', () => ({ futimesSync: evenSeconds(fs.futimesSync as Call) })],
  ['are behind the clock of the process', () => ({})]
] as const) {
  test(`where mtimes ${what}, a changed file gets an mtime in another second`, async t => {
    const dir = makeProject(t)
    const place = { root: dir, dir, symlinks: 'inside' } as const
    const target = join(dir, 'app.css')
    replaceCalls(t, makeCalls())
    // Linux stamps files with the time of its last tick.
    if (what.includes('behind')) runAhead(t)
    const seconds: number[] = []
    await writeAtomically(target, Buffer.from('first'), { place })
    for (const text of ['one', 'two']) {
      seconds.push(secondOf(target))
      const next = await prepareReplacement(target, Buffer.from(text), { place })
      await next.commit()
      t.is(fs.readFileSync(target, 'utf8'), text)
    }
    t.is(new Set([...seconds, secondOf(target)]).size, 3)
  })
}
