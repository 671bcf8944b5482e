import fs from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { assetSources } from '../../../lib/index.ts'
import { FILE_MODE, filesBelow, isWritable, makeProject, makeSite } from '../../support/index.ts'
import { placed, readManifest, removeFolder, run, targetOf, test } from '../../support/index.ts'
import { until, warningsAbout, words, writeFiles, type Site } from '../../support/index.ts'

const found = async (site: Site, names: readonly string[]) => {
  const all = await Promise.all(names.map(name => site.ask(`/assets/${name}`)))
  return all.map(({ status, text }) => (status === 200 ? text : status))
}

// Before the specs below append directories to the list of the process, and remove them at their end.
test.serial('two sources with one name are a warning and, in precompile, an error', async t => {
  const files = { 'images/logo.txt': 'images', 'docs/logo.txt': 'docs' }
  const site = await makeSite(t, { ...files, 'css/a.css': 'a { src: url(logo.txt) }' })
  const names = ['logo.txt', 'images/logo.txt', 'docs/logo.txt']
  t.deepEqual(await found(site, names), ['docs', 404, 'docs'])
  const verdict = `several sources in ${join(site.root, 'apps/web/assets')} are published as logo.txt: docs/logo.txt, images/logo.txt; development uses the first, precompile refuses them: rename or exclude all but one`
  t.deepEqual(warningsAbout(site.root), [`koa-fresh-assets: ${verdict}`])
  const hidden = '/assets/images/logo.txt'
  await until(() => warningsAbout(hidden).length > 0, 'the second is logged')
  const only = 'only one source is published as logo.txt, here docs/logo.txt'
  t.true(warningsAbout(hidden)[0]?.includes(only))
  const message = `Precompile failed with 1 error; nothing was published\n- ${verdict}`
  await t.throwsAsync(run({ root: site.root }), { message })
})

test.serial('a plain file comes before a source of its name, with a warning', async t => {
  const files = {
    'stylesheets/two.css': 'plain{}',
    'stylesheets/two.css.scss': 'a { b: c }',
    '/lib/stylesheets/theirs.css': 'theirs{}',
    '/lib/stylesheets/theirs.css.scss': 'a { b: c }'
  }
  const site = await makeSite(t, files, { sources: ['../../lib'] })
  t.deepEqual(await found(site, ['two.css', 'theirs.css']), ['plain{}', 'theirs{}'])
  t.deepEqual(warningsAbout('theirs.css'), [])
  const told = `several sources in ${join(site.root, 'apps/web/assets')} are published as two.css: stylesheets/two.css is used, stylesheets/two.css.scss ignored; rename or remove all but one`
  t.deepEqual(warningsAbout('two.css'), [`koa-fresh-assets: ${told}`])
  t.deepEqual((await run({ root: site.root })).warnings, [told], 'by precompile too')
  fs.rmSync(site.at('stylesheets/two.css'))
  t.regex((await site.ask('/assets/two.css')).text, /b: c/)
  site.write('stylesheets/two.css', 'again{}')
  t.deepEqual(await found(site, ['two.css']), ['again{}'])
})

test.serial('all assets get a plain and a fingerprinted name, those of packages too', async t => {
  const css = 'a { background: url(../images/third.png) }'
  const images = { 'images/third.png': 'third', 'images/logo.png': 'their logo' }
  assetSources.append(makeProject(t, { 'stylesheets/third.css': css, ...images }))
  const files = {
    'javascripts/app.js.ts': 'let a: number = 1',
    'stylesheets/app.scss': '@use "part"',
    'stylesheets/css.scss': 'b { color: red }',
    'stylesheets/PAGE.CSS.SCSS': 'c { color: red }',
    'stylesheets/_part.scss': 'a { color: red }',
    'files.scss/no-extension': 'copied',
    'stylesheets/.hidden.css': 'hidden',
    'stylesheets/app.css.scss~': 'left behind',
    'images/a/logo.png': 'logo',
    'favicon.ico': 'ico',
    '/apps/admin/assets/app.css': 'admin'
  }
  const root = makeProject(t, placed(files))
  const report = await run({ root })
  const own = words(
    'admin/app.css a/logo.png app.css css.css PAGE.CSS no-extension app.js favicon.ico'
  )
  const theirs = ['third.css', 'third.png', 'logo.png']
  const all = [...own, ...theirs, ...theirs.map(name => `admin/${name}`)]
  const paths = all.map(name => `/assets/${name}`)
  const written = [...paths, ...paths.map(path => targetOf(root, path)), '/assets.json']
  const found = filesBelow(join(root, 'public')).map(file => `/${file}`)
  t.deepEqual(found.toSorted(), written.toSorted())
  for (const file of found)
    t.is(fs.statSync(join(root, 'public', file)).mode & 0o777, FILE_MODE, file)
  t.like(report, { assets: all.length, manifest: join(root, 'public/assets.json') })
  t.deepEqual(report.changes.added.toSorted(), paths.toSorted())
  const { assets } = readManifest(root)
  t.is(assets['/assets/favicon.ico']?.from, undefined, 'found in the own directory')
  t.is(assets['/assets/third.png']?.from, 1)
})

test('no file in sources or public can replace a script of development below -/', async t => {
  const folders = words('x/- x/deep/- /theme/- /theme/js/- /public/assets/-')
  const stolen = Object.fromEntries(folders.map(folder => [`${folder}/live.js`, 'stolen']))
  const files = { ...stolen, '/theme/-a/b.js': 'b' }
  const sources = ['../../theme', { dir: '../../theme', at: '/' }]
  const site = await makeSite(t, files, { env: 'development', sources })
  t.notRegex((await site.ask('/assets/-/live.js')).text, /stolen/)
  const names = ['live.js', '-/other.js', 'deep/-/live.js', 'x/-/live.js', '-a/b.js']
  t.deepEqual(await found(site, names), [404, 404, 404, 404, 'b'])
  const refused = [
    ...['-', '-/x'].map(at => ({ sources: [{ dir: '../../theme', at }] })),
    ...['/-', '/-/x', '/-/'].map(path => ({ apps: { a: { path } } }))
  ]
  for (const options of refused)
    await t.throwsAsync(makeSite(t, files, options), { instanceOf: TypeError })
})

test('names of scripts, folders and plain CSS may begin with an underscore, as in lodash-es', async t => {
  const site = await makeSite(t, {
    'javascripts/_base.js': 'base',
    'javascripts/_lib/a.js': 'a',
    'javascripts/_typed.js.ts': "say('typed')",
    'stylesheets/_plain.css': 'p{}'
  })
  const names = ['_base.js', '_lib/a.js', 'a.js', '_plain.css']
  t.deepEqual(await found(site, names), ['base', 'a', 'a', 'p{}'])
  t.regex((await site.ask('/assets/_typed.js')).text, /say\("typed"\)/)
})

test('a source directory that is a link works', async t => {
  const site = await makeSite(t, { '/elsewhere/stylesheets/a.css': 'a{}' }, {})
  fs.mkdirSync(site.at('/apps/web'), { recursive: true })
  fs.symlinkSync(site.at('/elsewhere'), site.at('/apps/web/assets'))
  t.deepEqual(await found(site, ['a.css']), ['a{}'])
  for (const symlinks of ['deny', 'follow'] as const) {
    const other = await makeSite(t, {}, { root: site.root, symlinks, public: symlinks })
    t.deepEqual(await found(other, ['a.css']), ['a{}'], symlinks)
  }
})

for (const [symlinks, expected] of [
  ['inside', ['inside', 'inside', 404, 404]],
  ['follow', ['inside', 'inside', 'outside', 'outside']],
  ['deny', [404, 404, 404, 404]]
] as const) {
  test(`with symlinks: '${symlinks}' links in a source lead to ${expected.join(', ')}`, async t => {
    const outside = makeProject(t, { 'secret/s.txt': 'outside' })
    const site = await makeSite(t, { 'files/real/r.txt': 'inside' }, { symlinks })
    fs.symlinkSync('real/r.txt', site.at('files/link.txt'))
    fs.symlinkSync('files/real', site.at('linked'))
    fs.symlinkSync(join(outside, 'secret/s.txt'), site.at('files/leak.txt'))
    fs.symlinkSync(join(outside, 'secret'), site.at('files/leak'))
    const names = ['link.txt', 'linked/r.txt', 'leak.txt', 'leak/s.txt']
    t.deepEqual(await found(site, names), [...expected])
  })
}

// Names of every kind: what a person may call a file, and what no request may ask for.

// A percent-encoded character that needs no encoding is another spelling, and not ours.
function encoded(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/').replace(/%7E/gi, '~')
}

const ASSETS = 'apps/web/assets'
const ODD = '!"#$%&\'()*+,-.;<=>?@[]^_`{|}~ äöüß€😀日本語אב\u0301\u200b\u202e\ufeff'

const ODD_NAMES = [
  ...[...new Intl.Segmenter().segment(ODD)].map(({ segment }) => `a${segment}b.txt`),
  ...['a%2Fb.txt', 'a%00b.txt', '%2e%2e.txt', 'a..b.txt', 'a...txt', '--help', '-rf'],
  ...["o'clock.txt", 'a?b=c&d.txt', 'a#b.txt', '$(id).txt', '`id`.txt', 'a;b|c.txt', '{{7*7}}'],
  `${'x'.repeat(200)}.txt`
].filter(isWritable)

test('a name with any characters is served under its encoded form', async t => {
  const sources = Object.fromEntries(ODD_NAMES.map(name => [`x/${name}`, `in ${name}`]))
  const site = await makeSite(t, { ...sources, '/public/ünter wegs.txt': 'plain' })
  t.is((await site.ask('/%C3%BCnter%20wegs.txt')).text, 'plain')
  // What need not be encoded may stay.
  for (const name of words('a+b.txt a,b.txt a;b.txt a=b.txt a&b.txt a$b.txt a@b.txt a[b.txt'))
    t.is((await site.ask(`/assets/${name}`)).text, `in ${name}`)
  for (const name of ODD_NAMES) {
    t.is((await site.ask(`/assets/${encoded(name)}`)).text, `in ${name}`, encoded(name))
    t.is(site.read(`/public/assets/${name}`), `in ${name}`)
  }
  const written = fs.readdirSync(site.at('/public/assets'))
  t.deepEqual(written.toSorted(), [...new Set(ODD_NAMES)].toSorted())
  t.deepEqual(site.errors, [])
})

test('names that are not valid in a request are never served, whatever is on disk', async t => {
  const control = ['a\nb.txt', 'a\tb.txt', 'a\\b.txt', 'a:b.txt', 'a\u007fb.txt']
  const names = [...control, 'end.', 'blank ', 'con.txt', '..a', '.b']
  const files = names.flatMap(name => [`${ASSETS}/x/${name}`, `public/${name}`])
  const root = makeProject(t, Object.fromEntries(files.map(path => [path, 'secret'])))
  // A name that is no UTF-8 at all.
  fs.closeSync(fs.openSync(Buffer.from(`${root}/${ASSETS}/x/\xff\xfe.txt`, 'latin1'), 'w'))
  fs.mkdirSync(Buffer.from(`${root}/${ASSETS}/\xff`, 'latin1'))
  writeFiles(root, { [`${ASSETS}/x/good.txt`]: 'good' })
  const site = await makeSite(t, {}, { root })
  for (const name of [...names, '\ufffd\ufffd.txt'].map(encoded))
    for (const path of [`/assets/${name}`, `/${name}`, `/assets/x/${name}`])
      t.is((await site.ask(path)).status, 404, path)
  t.deepEqual(await found(site, ['good.txt']), ['good'])
  t.deepEqual(site.errors, [])
})

test('names that differ only in case are two names, each with its own bytes', async t => {
  const names = ['App.css', 'app.css', 'APP.CSS', 'aPP.css', 'sub/x.css', 'Sub/x.css']
  const site = await makeSite(t, Object.fromEntries(names.map(name => [`x/${name}`, name])))
  const asked = [...names, ...names.toReversed()]
  t.deepEqual(await found(site, [...asked, 'aPp.css']), [...asked, 404])
  t.deepEqual(site.errors, [])
})

// The source directories of third-party packages.
// The list is the process's, so each spec asks for names of its own.

test('every app finds the files of an appended directory, whenever it is appended or created', async t => {
  assetSources.append(makeProject(t, { 'scripts/before.js': 'before()' }))
  const site = await makeSite(t, { 'a.css': '', '/apps/admin/assets/b.css': '' })
  t.deepEqual(await found(site, ['before.js', 'admin/before.js']), ['before()', 'before()'])
  const [vendor, late] = [makeProject(t), ['late.js', 'admin/late.js']]
  assetSources.append([join(vendor, 'later')])
  t.deepEqual(await found(site, late), [404, 404])
  for (let times = 0; times < 2; times++) {
    writeFiles(vendor, { 'later/scripts/late.js': 'late()' })
    t.deepEqual(await found(site, late), ['late()', 'late()'])
    removeFolder(join(vendor, 'later'))
    t.deepEqual(await found(site, late), [404, 404])
  }
})

test('list() returns a copy of the appended directories, each of them once', t => {
  const [one, two] = [makeProject(t), makeProject(t)]
  const before = assetSources.list()
  assetSources.append([one, two, one])
  assetSources.append(`${one}/`)
  assetSources.append(join(two, 'x', '..'))
  t.deepEqual(assetSources.list(), [...before, one, two])
  ;(assetSources.list() as string[]).push('/nowhere')
  t.false(assetSources.list().includes('/nowhere'))
  t.true(Object.isFrozen(assetSources))
})

test('append() of anything but absolute paths is a TypeError without any effect', t => {
  const before = assetSources.list()
  for (const given of ['vendor/assets', '', 42, undefined, [['/nested']]]) {
    const what = `absolute paths, got ${inspect(given)}: build them from import.meta.dirname`
    const expected = { instanceOf: TypeError, message: `assetSources.append expects ${what}` }
    t.throws(() => assetSources.append(['/fine', given] as string[]), expected)
  }
  t.deepEqual(assetSources.list(), before)
})
