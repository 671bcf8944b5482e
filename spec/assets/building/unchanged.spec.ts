// A precompile over what an earlier one wrote: nothing is written twice, and the result is that of a run
// into an empty directory.
import test, { type ExecutionContext } from 'ava'
import { existsSync, rmSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KoaAssetsOptions } from '../../../lib/assets/settings/options.ts'
import {
  placed,
  readManifest,
  readPublic,
  run,
  snapshot,
  targetOf
} from '../../support/fingerprinted.ts'
import { makeProject } from '../../support/site.ts'

const long = (text: string) => text.repeat(60)

const FILES = {
  'stylesheets/app.css.scss': '@use "part"; a { background: url(logo.png) }',
  'stylesheets/theme/_part.scss': 'b { color: red }',
  'stylesheets/page.css': '\ufeff@import "app.css";',
  'stylesheets/plain.css.scss': long('i { color: red }'),
  'javascripts/app.js': long('go();'),
  'images/logo.png': 'logo',
  'films/film.bin': Buffer.alloc(1_100_000, 'film')
}

const options: KoaAssetsOptions = { apps: { web: { sources: 'assets/stylesheets/theme' } } }

async function makePrecompiled(t: ExecutionContext) {
  const root = makeProject(t, placed(FILES))
  await run({ ...options, root })
  return root
}

/** The public directory is what a precompile of the same sources makes in an empty one. */
async function checkLikeAnew(t: ExecutionContext, root: string): Promise<void> {
  await run({ ...options, root })
  const again = snapshot(join(root, 'public'))
  rmSync(join(root, 'public'), { recursive: true })
  await run({ ...options, root })
  for (const [path, digest] of snapshot(join(root, 'public'))) {
    t.is(again.get(path), digest, path)
  }
}

test('unchanged files are not written again, and the result is the same', async t => {
  const root = await makePrecompiled(t)
  const before = snapshot(join(root, 'public'))
  const report = await run({ ...options, root })
  t.deepEqual(snapshot(join(root, 'public')), before)
  t.deepEqual(report.changes, { added: [], changed: [], removed: [] })
  t.is(report.assets, 6)
  await checkLikeAnew(t, root)
})

test('a compressed copy that appears beside an untouched file is made again, or removed', async t => {
  const root = makeProject(t, placed({ 'a.txt': 'a' }))
  await run({ root })
  const copies = ['.br', '.gz', '.zst'].map(extension =>
    join(root, `public/assets/a.txt${extension}`)
  )
  for (const copy of copies) writeFileSync(copy, 'of other bytes')
  await run({ root })
  for (const copy of copies) t.false(existsSync(copy), copy)
})

for (const [what, change] of Object.entries({
  'an image': (root: string) =>
    writeFileSync(join(root, 'apps/web/assets/images/logo.png'), 'LOGO'),
  'an image of the same size and mtime': (root: string) => {
    const file = join(root, 'apps/web/assets/images/logo.png')
    const { mtime } = statSync(file)
    writeFileSync(file, 'LOGO')
    utimesSync(file, mtime, mtime)
  },
  'a big file of the same size and mtime': (root: string) => {
    const file = join(root, 'apps/web/assets/films/film.bin')
    const { mtime } = statSync(file)
    writeFileSync(file, Buffer.alloc(1_100_000, 'FILM'))
    utimesSync(file, mtime, mtime)
  },
  'a partial': (root: string) =>
    writeFileSync(join(root, 'apps/web/assets/stylesheets/theme/_part.scss'), 'b { color: blue }'),
  'a partial that comes before another': (root: string) =>
    writeFileSync(join(root, 'apps/web/assets/stylesheets/_part.scss'), 'b { color: green }'),
  'a plain source beside a compiled one': (root: string) =>
    writeFileSync(join(root, 'apps/web/assets/stylesheets/app.css'), 'plain {}'),
  'a source that is gone': (root: string) =>
    unlinkSync(join(root, 'apps/web/assets/javascripts/app.js')),
  'a source that is older than before': (root: string) =>
    utimesSync(join(root, 'apps/web/assets/javascripts/app.js'), 1e9, 1e9)
})) {
  test(`a change is seen: ${what}`, async t => {
    const root = await makePrecompiled(t)
    change(root)
    await checkLikeAnew(t, root)
  })
}

for (const [what, path] of Object.entries({
  'the plain file': '/assets/app.js',
  'its compressed copy': '/assets/app.js.gz',
  'the fingerprinted file': '',
  'its compressed copy as well': '.br'
})) {
  for (const how of ['damaged', 'taken away']) {
    test(`a published file that was ${how} is written again: ${what}`, async t => {
      const root = await makePrecompiled(t)
      const before = snapshot(join(root, 'public'))
      const url = path.startsWith('/') ? path : targetOf(root, '/assets/app.js') + path
      const file = join(root, 'public', url)
      const { mtime, size } = statSync(file)
      if (how === 'damaged') {
        writeFileSync(file, Buffer.alloc(size, 'x'))
        utimesSync(file, mtime, mtime)
      } else unlinkSync(file)
      await run({ ...options, root })
      t.deepEqual(snapshot(join(root, 'public')), before)
    })
  }
}

test('other options get a result of their own', async t => {
  const root = await makePrecompiled(t)
  await run({ ...options, root, integrity: 'sha512' })
  t.regex(readManifest(root).assets['/assets/logo.png']?.integrity[0] ?? '', /^sha512-/)
  const compiler = {
    extensions: '.scss',
    target: '.css',
    compile: () => ({ code: 'own {}' })
  }
  await run({ ...options, root, compilers: [compiler] })
  t.is(readPublic(root, '/assets/app.css').toString(), 'own {}')
  await run({ ...options, root })
  t.regex(readPublic(root, '/assets/app.css').toString(), /logo-/)
})
