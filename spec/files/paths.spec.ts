// Paths as Windows has them, by its rules on any system; and what somebody else has open.
import { win32 } from 'node:path'
import test from 'ava'
import { isInUse, onceFree } from '../../lib/files/disk.ts'
import {
  excluderOf,
  matcherOf,
  absolutePath,
  isInside,
  pathFrom,
  withSlashes
} from '../../lib/files/paths.ts'

test('WIN-01 what is told of a file has slashes, whatever separates folders', t => {
  t.is(pathFrom('C:\\site', 'C:\\site\\apps\\web\\app.css', win32), 'apps/web/app.css')
  t.is(pathFrom('C:\\site', 'c:\\Site\\app.css', win32), 'app.css')
  t.is(pathFrom('C:\\site', 'D:\\other\\app.css', win32), 'D:/other/app.css')
  t.is(pathFrom('\\\\server\\share\\site', '\\\\server\\share\\site\\a\\b', win32), 'a/b')
  t.is(withSlashes('views\\**', win32), 'views/**')
  // Elsewhere a backslash is part of a name.
  t.is(
    pathFrom('/site', '/site/a\\b/c', { ...win32, sep: '/', relative: () => 'a\\b/c' }),
    'a\\b/c'
  )
})

test('WIN-02 a directory is known by either case of its drive, on a share, and beside one whose name is longer', t => {
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

test('WIN-02 a directory in an option may have either separator and either case of the drive', t => {
  t.is(absolutePath('C:\\site', 'front/dist', win32), 'C:\\site\\front\\dist')
  t.is(absolutePath('C:\\site', 'front\\dist', win32), 'C:\\site\\front\\dist')
  t.is(absolutePath('c:\\site', 'd:/dist', win32), 'D:\\dist')
  t.is(absolutePath('c:\\site', '', win32), 'C:\\site')
  t.is(absolutePath('C:\\site', '\\\\server\\share\\dist', win32), '\\\\server\\share\\dist')
})

test('WIN-03 where `\\` separates folders, a glob may have it', t => {
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
  const call = async () => {
    if (calls++ < times) throw Object.assign(new Error(code), { code })
    return calls
  }
  return call
}

for (const code of ['EPERM', 'EACCES', 'EBUSY']) {
  test(`WIN-04 on Windows ${code} of a file that is let go of soon is no failure, and elsewhere it is`, async t => {
    t.is(await onceFree(failing(code, 3), 'win32'), 4)
    await t.throwsAsync(onceFree(failing(code, 1), 'linux'), { code })
  })
}

test('WIN-04 a file that stays open is a failure after two seconds, and another failure at once', async t => {
  const start = performance.now()
  await t.throwsAsync(onceFree(failing('ENOSPC', 1), 'win32'), { code: 'ENOSPC' })
  t.true(performance.now() - start < 1000)
  const error = await t.throwsAsync(onceFree(failing('EBUSY', Infinity), 'win32'))
  t.true(isInUse(error, 'win32'))
  t.true(performance.now() - start > 1500)
})
