// What a deploy leaves in the public directory.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { test } from '../../support/test.ts'
import { finishAll } from '../../../lib/publishing/building/links.ts'
import type { Draft } from '../../../lib/publishing/rendering/draft.ts'
import { settle } from '../../../lib/runtime/settings/settings.ts'
import { precompile } from '../../../lib/koa-assets.ts'
import { PrecompileError } from '../../../lib/runtime/errors.ts'
import { COPIES } from '../../support/copies.ts'
import {
  MODES,
  filesBelow,
  makeFingerprinted,
  placed,
  readManifest,
  readPublic,
  run,
  snapshot,
  targetOf
} from '../../support/fingerprinted.ts'
import { type Files, makeProject, writeFiles } from '../../support/site.ts'
import { soakTest } from '../../support/soak.ts'
import { withDigest } from '../../support/digest.ts'
import { AS_WRITTEN } from '../../support/as-written.ts'

const makeSources = (t: Parameters<typeof makeProject>[0], files: Files) =>
  makeProject(t, placed(files))

const long = (text: string) => text.repeat(100)

test('precompiling twice writes the same files, and writes none of them again', async t => {
  const root = makeSources(t, {
    'app.css.scss': long('a { color: red }'),
    'app.js': long('go();'),
    'logo.png': randomBytes(5000)
  })
  const options = { root }
  await run(options)
  const directory = join(root, 'public')
  const before = snapshot(directory)
  const stampOf = (file: string) => {
    const { ino, mtimeNs, ctimeNs } = statSync(join(directory, file), { bigint: true })
    return [file, ino, mtimeNs, ctimeNs]
  }
  const stamps = () =>
    filesBelow(directory)
      .filter(file => file !== 'assets.json')
      .map(stampOf)
  const first = stamps()
  const report = await run(options)
  t.deepEqual(snapshot(directory), before)
  t.deepEqual(stamps(), first)
  t.deepEqual(report.changes, { added: [], changed: [], removed: [] })
})

test('files that a person put into public, among the published ones or not, are kept as they are', async t => {
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
    for (const [file, text] of Object.entries(own)) {
      t.is(readFileSync(join(root, file), 'utf8'), text, file)
    }
  }
  t.false('/assets/own.css' in readManifest(root).assets)
  t.false(existsSync(join(root, 'public/robots.txt.gz')))
})

test('what earlier deploys published under fingerprints stays', async t => {
  const root = makeSources(t, { 'app.js': long('one'), 'gone.js': 'gone' })
  await run({ root })
  const before = filesBelow(join(root, 'public/assets')).filter(name =>
    withDigest(/-DIGEST/).test(name)
  )
  t.is(before.length, 1 + COPIES.length + 1)
  const old = snapshot(join(root, 'public/assets'))
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

test('every broken source is listed, and nothing is changed', async t => {
  const root = makeSources(t, { 'app.css.scss': 'a { color: red }', 'app.js': 'one()' })
  await run({ root })
  const before = snapshot(join(root, 'public'))
  writeFiles(root, {
    ...placed({
      'app.js': 'two()',
      'app.css.scss': 'a { color: ',
      'lost.css': 'a { background: url(lost.png) }',
      'sub/broken.js.ts': 'let ='
    }),
    'apps/admin/assets/worse.css.less': '.a { .nothing(); }',
    'shared/shared.css.less': '.a { .nothing(); }'
  })
  const error = await t.throwsAsync(() => run({ root, sources: '../../shared' }), {
    instanceOf: PrecompileError,
    code: 'precompile-failed'
  })
  const files = ['app.css.scss', 'lost.css', 'sub/broken.js.ts', 'worse.css.less']
  for (const file of [...files, 'shared.css.less'])
    t.true(error?.message.includes(normalize(file)), file)
  t.is(error?.problems.length, 5, 'that of a shared source once')
  t.deepEqual(snapshot(join(root, 'public')), before)
})

test('text is compressed where that makes it smaller, images never are', async t => {
  const text = { 'app.js': long('go();'), 'icon.svg': `<svg>${long('<path/>')}</svg>` }
  const others = { 'photo.png': long('pixel'), 'tiny.js': 'go()', 'noise.txt': randomBytes(4000) }
  const root = makeSources(t, { ...text, ...others })
  const report = await run({ root })
  const targets = (files: Files) =>
    Object.keys(files).flatMap(name => [`/assets/${name}`, targetOf(root, `/assets/${name}`)])
  const copies = targets(text).flatMap(path => COPIES.map(extension => path + extension))
  t.deepEqual(
    filesBelow(join(root, 'public/assets')),
    [...targets(text), ...targets(others), ...copies].map(path => path.slice(8)).toSorted()
  )
  for (const path of targets(text)) {
    t.deepEqual(gunzipSync(readPublic(root, `${path}.gz`)), readPublic(root, path))
    t.deepEqual(brotliDecompressSync(readPublic(root, `${path}.br`)), readPublic(root, path))
  }
  t.true(report.compressedBytes < report.bytes)
})

test('a name that cannot be requested is an error that states the reason, and nothing is published', async t => {
  const names = ['scripts/aux.js', 'images/a:b.png', 'x/ends.', 'x/docs./a.txt', 'a\nb.txt']
  const root = makeProject(t, placed({ 'fine.js': 'fine()' }))
  await run({ root })
  const before = snapshot(join(root, 'public'))
  const files = Object.fromEntries(names.map(name => [name, 'x']))
  writeFiles(root, placed({ 'fine.js': 'finer()', ...files }))
  const { problems, message } = await t.throwsAsync(run({ root }), { instanceOf: PrecompileError })
  t.deepEqual(
    problems.map(({ code }) => code),
    names.map(() => 'name-unusable')
  )
  t.true(
    message.includes(
      '- apps/web/assets/scripts/aux.js is published as /assets/aux.js, which cannot be requested: Windows interprets one of its segments as another name; rename it'
    )
  )
  for (const name of ['a:b.png', 'ends.', 'docs./a.txt']) {
    t.true(message.includes(`published as /assets/${name}, `), name)
  }
  t.deepEqual(snapshot(join(root, 'public')), before)
})

test('a project without any asset is an error, and nothing is created', async t => {
  for (const files of [{}, { 'apps/web/assets/_part.scss': 'a{}' }]) {
    const root = makeProject(t, { 'package.json': '{}', ...files })
    const before = filesBelow(root)
    const error = await t.throwsAsync(() => run({ root }), { code: 'precompile-empty' })
    t.is(
      error?.message,
      `no assets found in ${join(root, 'apps/web/assets')}: create apps/web/assets or assets in ${root}, or set root or apps`
    )
    t.deepEqual(filesBelow(root), before)
    t.false(existsSync(join(root, 'public')))
  }
})

test('a published file that was damaged or taken away is written again, its copies too, although size and mtime are the same', async t => {
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
  test(`a stylesheet whose image changed gets another mtime, however indirect the reference (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, STYLES)
    await site.edit({})
    const fingerprinted = (name: string) =>
      mode === 'live' ? site.path(name) : targetOf(site.root, `/assets/${name}`)
    const mtimeOf = (path: string) => statSync(join(site.root, 'public', path)).mtimeMs / 1000
    const seen = new Set<string>()
    let alone: number | undefined
    const see = async (image: string, mtime: number) => {
      site.write('images/logo.png', image, mtime)
      await site.edit({})
      for (const name of ['app', 'page', 'first', 'second', 'compiled']) {
        const path = await fingerprinted(`${name}.css`)
        for (const each of [path, `/assets/${name}.css`]) {
          const state = `${each} ${mtimeOf(each)}`
          t.false(seen.has(state), `${state} ${image}`)
          seen.add(state)
        }
      }
      alone ??= mtimeOf('/assets/alone.css')
      t.is(mtimeOf('/assets/alone.css'), alone, 'what does not show it keeps its own')
    }
    await see('two', 1_100_000_000)
    await see('six', 1_000_000_000)
  })
}

for (const mode of MODES) {
  test(`changed bytes never keep the second of the previous mtime, whatever the sources' mtimes (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, STYLES)
    const secondOf = (path: string) =>
      statSync(join(site.root, 'public', path), { bigint: true }).mtimeNs / 1_000_000_000n
    const seen = new Set<string>()
    // The mtime of all files that npm unpacks.
    const NPM = 499_162_500
    site.write('stylesheets/app.css', STYLES['stylesheets/app.css'], NPM)
    for (const image of ['two', 'six', 'ten', 'two']) {
      site.write('images/logo.png', image, NPM - seen.size)
      await site.edit({})
      if (mode === 'live') await site.path('app.css')
      for (const path of ['/assets/app.css', '/assets/logo.png']) {
        const state = `${path} ${secondOf(path)}`
        t.false(seen.has(state), `${state} for ${image}`)
        seen.add(state)
      }
    }
  })
}

/** Files of which each refers to the next, as `line` writes it with `%`. */
const chain = (length: number, extension: string, line: string) =>
  Object.fromEntries(
    Array.from({ length }, (_, at) => [
      `m${at}.${extension}`,
      at < length - 1 ? line.replace('%', `./m${at + 1}.${extension}`) : ''
    ])
  )

test('a chain of references that is longer than the call stack has its order', t => {
  const [app] = settle({ root: makeProject(t), env: 'production' }).apps
  if (!app) return t.fail()
  const depth = 30_000
  const node = (at: number): Draft => {
    const name = `${at}.css`
    const draft = { content: Buffer.from(name), inputs: [], isSettled: true }
    const links = at < depth - 1 ? [`/assets/${at + 1}.css`] : []
    const source = { file: name } as Draft['source']
    return { app, path: `/assets/${name}`, source, ...draft, links }
  }
  const nodes = new Map(Array.from({ length: depth }, (_, at) => [`/assets/${at}.css`, node(at)]))
  const order = [...finishAll(nodes, t.fail).keys()]
  t.deepEqual(
    [order.length, order[0], order.at(-1)],
    [depth, `/assets/${depth - 1}.css`, '/assets/0.css']
  )
  return undefined
})

for (const [what, files] of [
  ['9,000 modules', chain(9000, 'js', "import '%'")],
  ['12,000 stylesheets', chain(12_000, 'css', "@import '%';")]
] as const) {
  soakTest(`${what} that each import the next are published`, async t => {
    t.timeout(300_000)
    const root = makeProject(t)
    writeFiles(root, placed(files))
    const { assets } = await precompile({ root, ...AS_WRITTEN }, { warn: t.fail })
    t.true(assets >= 8000)
  })
}
