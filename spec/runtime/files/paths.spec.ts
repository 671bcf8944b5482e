// A model of globs: what a person means by a folder or a file is excluded however it is spelled, and nothing else.
import fs, { mkdirSync, symlinkSync } from 'node:fs'
import { join, posix, win32 } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { isInUse, onceFree } from '../../../lib/runtime/files/disk.ts'
import { isUnmodified, withFile } from '../../../lib/runtime/files/open-file.ts'
import { absolutePath, excluderOf, isInside, matcherOf } from '../../../lib/runtime/files/paths.ts'
import { pathFrom, withSlashes } from '../../../lib/runtime/files/paths.ts'
import { deltaName } from '../../support/deltas.ts'
import { cases, makeProject, makeSite, test } from '../../support/index.ts'

interface Meant {
  readonly names: readonly string[]
  /** Whether it begins in the directory itself, said by a slash in front. */
  readonly isAnchored: boolean
  readonly end: string
}

const name = fc.constantFrom('private', 'a', 'b', 'notes.md', '.well-known')
const meant: fc.Arbitrary<Meant> = fc.record({
  names: fc.array(name, { minLength: 1, maxLength: 3 }),
  isAnchored: fc.boolean(),
  end: fc.constantFrom('', '/', '/**')
})
/** A slash, and what else stands for one. */
const slash = fc.constantFrom('/', '//', '/./', '///', '/.//')
const path = fc.array(name, { minLength: 1, maxLength: 4 })

/** By names alone, without patterns. */
function isExcluded(path: readonly string[], { names, isAnchored, end }: Meant): boolean {
  const startsAt = (at: number) => names.every((name, each) => path[at + each] === name)
  const isAnywhere = !isAnchored && names.length === 1 && end !== '/**'
  return path.some((_, at) => (isAnywhere || at === 0) && startsAt(at))
}

test('a glob means the same however its slashes are written', t => {
  fc.assert(
    fc.property(meant, fc.constantFrom('', '.'), fc.infiniteStream(slash), path, (...drawn) => {
      const [meant, dot, slashes, path] = drawn
      const next = () => String(slashes.next().value)
      const { names, isAnchored, end } = meant
      const front = isAnchored ? `${dot}${next()}` : ''
      const last = end === '' ? '' : `${next()}${end.slice(1)}`
      const written = `${front}${names.reduce((all, each) => `${all}${next()}${each}`)}${last}`
      const found = excluderOf([written])(path.join('/'))
      return found === isExcluded(path, meant)
    }),
    { numRuns: cases(1000, 50_000) }
  )
  t.pass()
})

test('a glob that leads out of its directory, or means all of it, is an error at start', async t => {
  for (const exclude of ['../site/private', 'a/../private', '/', './', '']) {
    for (const options of [
      { mounts: { '/m': { dir: 'site', exclude } } },
      { sources: [{ dir: '../../theme', exclude }] },
      { sources: [{ dir: '../../theme', include: [exclude] }] }
    ]) {
      await t.throwsAsync(makeSite(t, { '/site/a.txt': '', '/theme/b.css': '' }, options), {
        instanceOf: TypeError,
        message: /'private\/\*\*'/
      })
    }
  }
})

test('an excluded file cannot be requested by a link, a compressed file or a delta', async t => {
  const notes = 'secret'
  const root = makeProject(t, {
    'real/site/notes.md': notes,
    'real/site/open.txt': 'open',
    [`real/site/${posix.basename(deltaName('/notes.md', 'old'))}`]: 'delta',
    'real/site/notes.md.br': 'copy'
  })
  mkdirSync(`${root}/apps/web/assets`, { recursive: true })
  symlinkSync('notes.md', `${root}/real/site/alias.txt`)
  symlinkSync('real', `${root}/linked`)
  symlinkSync('real/site', `${root}/direct`)
  for (const symlinks of ['inside', 'follow'] as const) {
    for (const dir of ['real/site', 'linked/site', 'direct']) {
      const mounts = { '/m': { dir, exclude: '*.md', symlinks } }
      const site = await makeSite(t, {}, { root, mounts })
      t.is((await site.ask('/m/open.txt')).text, 'open', dir)
      const delta = posix.basename(deltaName('/notes.md', 'old'))
      for (const name of ['notes.md', 'alias.txt', 'notes.md.br', delta])
        t.is((await site.ask(`/m/${name}`)).status, 404, `${dir} ${name}`)
    }
  }
})

// Paths as Windows has them, by its rules on any system; and what somebody else has open.

test('paths are reported with slashes, whatever separates folders', t => {
  t.is(pathFrom('C:\\site', 'C:\\site\\apps\\web\\app.css', win32), 'apps/web/app.css')
  t.is(pathFrom('C:\\site', 'c:\\Site\\app.css', win32), 'app.css')
  t.is(pathFrom('C:\\site', 'D:\\other\\app.css', win32), 'D:/other/app.css')
  t.is(pathFrom('\\\\server\\share\\site', '\\\\server\\share\\site\\a\\b', win32), 'a/b')
  t.is(withSlashes('views\\**', win32), 'views/**')
  // Elsewhere a backslash is part of a name.
  const elsewhere = { ...win32, sep: '/', relative: () => 'a\\b/c' } as const
  t.is(pathFrom('/site', '/site/a\\b/c', elsewhere), 'a\\b/c')
})

test('a path is found to be inside of a directory or not on Windows drives and shares', t => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['C:\\site\\public', 'C:\\site\\public', true],
    ['C:\\site\\public', 'c:\\site\\public\\a.css', true],
    ['C:\\site\\public', 'C:\\site\\public-secret\\a.css', false],
    ['C:\\site\\public', 'C:\\site\\a.css', false],
    ['C:\\site\\public', 'D:\\site\\public\\a.css', false],
    ['C:\\', 'C:\\site', true],
    ['\\\\server\\share', '\\\\server\\share\\public\\a.css', true],
    ['\\\\server\\share\\public', '\\\\server\\other\\public\\a.css', false],
    ['C:\\site\\public', '\\\\server\\share\\a.css', false]
  ]
  for (const [directory, path, expected] of rows) t.is(isInside(directory, path, win32), expected)
})

test('a directory in an option may have either separator and either case of the drive', t => {
  t.is(absolutePath('C:\\site', 'front/dist', win32), 'C:\\site\\front\\dist')
  t.is(absolutePath('C:\\site', 'front\\dist', win32), 'C:\\site\\front\\dist')
  t.is(absolutePath('c:\\site', 'd:/dist', win32), 'D:\\dist')
  t.is(absolutePath('c:\\site', '', win32), 'C:\\site')
  t.is(absolutePath('C:\\site', '\\\\server\\share\\dist', win32), '\\\\server\\share\\dist')
})

test('a glob may have `\\` between folders on Windows', t => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['vendor\\**', 'vendor/a/b.css', true],
    ['vendor\\*.css', 'vendor/a.css', true],
    ['vendor\\*.css', 'other/a.css', false],
    ['vendor/*.css', 'vendor/a.css', true],
    ['*.map', 'a/b/app.js.map', true],
    ['a\\[id].js', 'a[id].js', true]
  ]
  for (const [glob, path, expected] of rows) t.is(matcherOf([glob], '\\')(path), expected, glob)
  // Elsewhere it keeps what follows from being a pattern.
  t.false(matcherOf(['vendor\\*.css'], '/')('vendor/a.css'))
  t.true(matcherOf(['vendor*.css'], '/')('vendor-a.css'))
  t.true(excluderOf(['drafts'])('drafts/a.css'))
})

/** Fails a number of times before it succeeds. */
function failing(code: string, times: number) {
  let calls = 0
  return async () => {
    if (calls++ < times) throw Object.assign(new Error(code), { code })
    return calls
  }
}

for (const code of ['EPERM', 'EACCES', 'EBUSY']) {
  test(`on Windows alone ${code} is retried, until another program has closed the file`, async t => {
    t.is(await onceFree(failing(code, 3), 'win32'), 4)
    await t.throwsAsync(onceFree(failing(code, 1), 'linux'), { code })
  })
}

test('only a file in use is retried, for about two seconds', async t => {
  const failure = onceFree(failing('ENOSPC', 1), 'win32').catch((error: unknown) => error)
  t.like(await Promise.race([failure, setImmediate('not yet')]), { code: 'ENOSPC' })
  const start = performance.now()
  const error = await t.throwsAsync(onceFree(failing('EBUSY', Infinity), 'win32'))
  t.true(isInUse(error, 'win32'))
  t.true(performance.now() - start > 1500)
})

test('an open file is unmodified while only its names change, as in a deploy by renames', async t => {
  const path = join(makeProject(t, { file: 'bytes' }), 'file')
  const after = (change: () => void) => withFile(path, file => (change(), isUnmodified(file)))
  t.true(await after(() => fs.linkSync(path, `${path}.backup`)))
  t.true(await after(() => fs.unlinkSync(path)))
  fs.renameSync(`${path}.backup`, path)
  t.false(await after(() => fs.writeFileSync(path, 'other bytes')))
})
