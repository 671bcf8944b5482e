// What a deploy leaves in the public directory.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { PrecompileError } from '../../../lib/runtime/errors.ts'
import { AS_WRITTEN, COPIES, filesBelow, LOADER, makeFingerprinted } from '../../support/index.ts'
import { makeProject, MODES, moduleFile, placed, readManifest } from '../../support/index.ts'
import { readPublic, run, snapshot, soakTest, targetOf, test } from '../../support/index.ts'
import { withDigest, words, writeFiles, type ExecutionContext } from '../../support/index.ts'
import type { Files } from '../../support/index.ts'
import { startNode } from '../cli/run.ts'

const makeSources = (t: ExecutionContext, files: Files) => makeProject(t, placed(files))

const long = (text: string) => text.repeat(100)

test('precompile never changes files that a person put into public', async t => {
  const own = {
    'public/assets/own.css': long('own'),
    'public/assets/own.css.gz': 'own gz',
    'public/assets/logo.png.gz': 'beside an asset',
    'public/assets/tiny.css.br': 'beside another',
    'public/assets/folder/own.html': 'own',
    'public/assets/.keep': '',
    'public/robots.txt': long('all ')
  }
  const root = makeSources(t, { 'logo.png': 'logo', 'tiny.js': 'tiny' })
  writeFiles(root, own)
  for (const logo of ['logo', 'other logo']) {
    writeFileSync(join(root, 'apps/web/assets/logo.png'), logo)
    await run({ root })
    for (const [file, text] of Object.entries(own))
      t.is(readFileSync(join(root, file), 'utf8'), text, file)
  }
  t.false('/assets/own.css' in readManifest(root).assets)
  t.false(existsSync(join(root, 'public/robots.txt.gz')))
})

test('what earlier deploys published under fingerprints stays', async t => {
  const root = makeSources(t, { 'app.js': long('one'), 'gone.js': 'gone' })
  await run({ root })
  const old = snapshot(join(root, 'public/assets'))
  const before = [...old.keys()].filter(name => withDigest(/-DIGEST/).test(name))
  t.is(before.length, 1 + COPIES.length + 1)
  writeFiles(root, { 'apps/web/assets/app.js': long('two') })
  const report = await run({ root })
  const now = snapshot(join(root, 'public/assets'))
  for (const name of before) t.is(now.get(name), old.get(name), name)
  t.deepEqual(report.changes, { added: [], changed: ['/assets/app.js'], removed: [] })
  t.is(report.kept, 1)
  rmSync(join(root, 'public', targetOf(root, '/assets/gone.js')))
  rmSync(join(root, 'apps/web/assets/gone.js'))
  writeFiles(root, { 'apps/web/assets/app.js': long('three') })
  t.is((await run({ root })).kept, 1, 'a file that somebody removed is not kept')
})

test('precompile compresses only text that becomes smaller by it', async t => {
  const text = { 'app.js': long('go();'), 'icon.svg': `<svg>${long('<path/>')}</svg>` }
  const others = { 'photo.png': long('pixel'), 'tiny.js': 'go()', 'noise.txt': randomBytes(4000) }
  const root = makeSources(t, { ...text, ...others })
  const report = await run({ root })
  const targets = (files: Files) =>
    Object.keys(files).flatMap(name => [`/assets/${name}`, targetOf(root, `/assets/${name}`)])
  const copies = targets(text).flatMap(path => COPIES.map(extension => path + extension))
  const all = [...targets(text), ...targets(others), ...copies].toSorted()
  const found = filesBelow(join(root, 'public/assets')).map(path => `/assets/${path}`)
  t.deepEqual(found, all)
  for (const path of targets(text)) {
    t.deepEqual(gunzipSync(readPublic(root, `${path}.gz`)), readPublic(root, path))
    t.deepEqual(brotliDecompressSync(readPublic(root, `${path}.br`)), readPublic(root, path))
  }
  t.true(report.compressedBytes < report.bytes)
})

test('a name that cannot be requested is an error that states the reason', async t => {
  const names = ['scripts/aux.js', 'images/a:b.png', 'x/ends.', 'x/docs./a.txt', 'a\nb.txt']
  const root = makeProject(t, placed({ 'fine.js': 'fine()' }))
  await run({ root })
  const before = snapshot(join(root, 'public'))
  const files = Object.fromEntries(names.map(name => [name, 'x']))
  writeFiles(root, placed({ 'fine.js': 'finer()', ...files }))
  const { problems, message } = await t.throwsAsync(run({ root }), { instanceOf: PrecompileError })
  t.is(problems.filter(({ code }) => code === 'name-unusable').length, names.length)
  t.is(problems.length, names.length)
  const told =
    '- apps/web/assets/scripts/aux.js is published as /assets/aux.js, which cannot be requested'
  const reason = 'Windows interprets one of its segments as another name; rename it'
  t.true(message.includes(`${told}: ${reason}`))
  for (const name of ['a:b.png', 'ends.', 'docs./a.txt'])
    t.true(message.includes(`published as /assets/${name}, `), name)
  t.deepEqual(snapshot(join(root, 'public')), before)
})

test('precompile of a project without assets is an error that creates nothing', async t => {
  for (const files of [{}, { 'apps/web/assets/_part.scss': 'a{}' }]) {
    const root = makeProject(t, { 'package.json': '{}', ...files })
    const before = filesBelow(root)
    const advice = `create apps/web/assets or assets in ${root}, or set root or apps`
    const message = `no assets found in ${join(root, 'apps/web/assets')}: ${advice}`
    await t.throwsAsync(run({ root }), { code: 'precompile-empty', message })
    t.deepEqual(filesBelow(root), before)
    t.false(existsSync(join(root, 'public')))
  }
})

test('precompile repairs published files and compressed copies that were damaged or deleted', async t => {
  const root = makeSources(t, { 'app.js': long('go();'), 'logo.png': 'logo' })
  await run({ root })
  const before = snapshot(join(root, 'public'))
  const target = targetOf(root, '/assets/app.js')
  const logos = ['/assets/logo.png', targetOf(root, '/assets/logo.png')]
  const files = ['/assets/app.js', '/assets/app.js.gz', target, `${target}.br`, ...logos]
  for (const isTaken of [false, true]) {
    for (const path of files) {
      const file = join(root, 'public', path)
      const { mtime, size } = statSync(file)
      if (isTaken) rmSync(file)
      else writeFileSync(file, Buffer.alloc(size, 'x'))
      if (!isTaken) utimesSync(file, mtime, mtime)
    }
    t.notDeepEqual(snapshot(join(root, 'public')), before)
    const { changed } = (await run({ root })).changes
    t.deepEqual(changed, ['/assets/app.js', '/assets/logo.png'], 'and the report says so')
    t.deepEqual(snapshot(join(root, 'public')), before)
    t.deepEqual((await run({ root })).changes.changed, [])
  }
})

const STYLES = {
  'images/logo.png': 'one',
  'images/other.png': 'other',
  'stylesheets/app.css': 'a { background: url(../images/logo.png) }',
  'stylesheets/page.css': '@import "app.css";',
  'stylesheets/first.css': '@import "second.css";',
  'stylesheets/second.css': '@import "first.css"; a { background: url(../images/logo.png) }',
  'stylesheets/compiled.css.scss': 'a { background: url(../images/logo.png) }',
  'stylesheets/alone.css': 'a { background: url(../images/other.png) }'
}

for (const mode of MODES) {
  test(`an edited image and each stylesheet that shows it get another second of mtime (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, STYLES)
    const secondOf = (path: string) =>
      statSync(join(site.root, 'public', path), { bigint: true }).mtimeNs / 1_000_000_000n
    await site.path('app.css')
    const alone = secondOf('/assets/alone.css')
    const seen = new Set<string>()
    // The mtime of all files that npm unpacks.
    const NPM = 499_162_500
    site.write('stylesheets/app.css', STYLES['stylesheets/app.css'], NPM)
    for (const image of ['two', 'six', 'ten', 'two']) {
      site.write('images/logo.png', image, NPM - seen.size)
      await site.edit({})
      if (mode === 'live') await site.path('app.css')
      for (const name of words('logo.png app.css page.css first.css second.css compiled.css')) {
        const state = `${name} ${secondOf(`/assets/${name}`)}`
        t.false(seen.has(state), `${state} for ${image}`)
        seen.add(state)
      }
      t.is(secondOf('/assets/alone.css'), alone, 'what does not show it keeps its own')
    }
  })
}

/** Imports in a row: a function that calls itself so many times needs more than the stack below. */
const length = 1500

for (const [extension, word] of [
  ['js', 'import'],
  ['css', '@import']
] as const) {
  soakTest(`a long chain of imports does not overflow the stack (${extension})`, async t => {
    const names = Array.from({ length }, (_, at) => `m${at}.${extension}`)
    const files = names.map((name, at) => [
      name,
      at + 1 < length ? `${word} './${names[at + 1]}';` : ''
    ])
    const root = makeSources(t, Object.fromEntries(files))
    writeFiles(root, { 'assets.config.json': JSON.stringify(AS_WRITTEN) })
    // A ninth of what Node has by default.
    const words = ['--stack-size=110', ...LOADER, moduleFile('lib/cli.ts'), 'precompile', '--quiet']
    const { status, stderr } = await startNode(root, words, {}).outcome
    t.deepEqual([status, stderr], [0, ''])
    t.is(Object.keys(readManifest(root).assets).length, length)
  })
}
