import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import * as fc from 'fast-check'
import { makeFront } from '../../support/front.ts'
import { ask } from '../../support/raw.ts'
import { makeProject, makeSite, type Site, writeFiles } from '../../support/site.ts'
import { cases } from '../../support/soak.ts'
import { warningsAbout } from '../../support/warnings.ts'

const found = async (site: Site, paths: readonly string[]) => {
  const all = await Promise.all(paths.map(path => site.ask(path)))
  return all.map(({ status, text }) => (status === 200 ? text : status))
}

test('PUB-12 the first folder is not part of the name, whatever it is called', async t => {
  const folders = ['javascripts', 'stylesheets', 'images', 'fonts', 'any-other']
  const site = await makeSite(t, {
    ...Object.fromEntries(folders.map(folder => [`${folder}/${folder}.txt`, `in ${folder}`])),
    'favicon.ico': 'in no folder'
  })
  const asked = folders.map(folder => `/assets/${folder}.txt`)
  t.deepEqual(
    await found(site, asked),
    folders.map(folder => `in ${folder}`)
  )
  t.is((await site.ask('/assets/favicon.ico')).bytes.toString(), 'in no folder')
})

test('PUB-13 every tail of the path finds the source, which is published under the requested name', async t => {
  const site = await makeSite(t, { 'stylesheets/admin/menu.css': 'menu{}' })
  const names = ['admin/menu.css', 'menu.css', 'stylesheets/admin/menu.css']
  for (const name of names) {
    t.is((await site.ask(`/assets/${name}`)).text, 'menu{}')
    t.is(site.read(`/public/assets/${name}`), 'menu{}')
  }
  t.deepEqual(
    await found(site, ['/assets/enu.css', '/assets/n/menu.css', '/assets/menu']),
    [404, 404, 404]
  )
})

test('PUB-13 a tail is a tail of the compiled name', async t => {
  const site = await makeSite(t, { 'stylesheets/admin/menu.css.scss': 'a { b: c }' })
  for (const name of ['admin/menu.css', 'menu.css', 'stylesheets/admin/menu.css']) {
    t.is((await site.ask(`/assets/${name}`)).status, 200)
  }
})

test('PUB-13 with tails: false an asset is found only under its name', async t => {
  const site = await makeSite(
    t,
    {
      'stylesheets/admin/menu.css': 'menu{}',
      'stylesheets/shop/till.css.scss': 'a { b: c }',
      'stylesheets/app.css': 'a { src: url(admin/menu.css) url(till.css) url(docs/logo.txt) }',
      'images/logo.txt': 'images',
      'docs/logo.txt': 'docs',
      'favicon.ico': 'icon'
    },
    { tails: false }
  )
  t.deepEqual(await found(site, ['/assets/admin/menu.css', '/assets/favicon.ico']), [
    'menu{}',
    'icon'
  ])
  t.is((await site.ask('/assets/shop/till.css')).status, 200)
  const tails = [
    ...['menu.css', 'stylesheets/admin/menu.css', 'till.css', 'stylesheets/shop/till.css'],
    ...['images/logo.txt', 'docs/logo.txt']
  ]
  for (const tail of tails) {
    t.deepEqual(await found(site, [`/assets/${tail}`]), [404], tail)
    t.is((await site.ask(`/assets/${tail}`, { method: 'POST' })).status, 404, tail)
    t.is(site.read(`/public/assets/${tail}`), undefined)
  }
  t.deepEqual(await found(site, ['/assets/logo.txt', '/assets/app.css']), [
    'docs',
    'a { src: url(admin/menu.css) url(till.css) url(docs/logo.txt) }'
  ])
  t.is(warningsAbout('app.css:1:').length, 2)
  for (const path of ['docs/logo.txt', 'till.css']) {
    t.is(warningsAbout(` refers to ${path}`).length, 1, path)
  }
})

test('PUB-14 a tail that two files share is not found, and the log names both', async t => {
  const site = await makeSite(t, {
    'stylesheets/admin/menu.css': 'admin{}',
    'stylesheets/shop/menu.css': 'shop{}'
  })
  t.is((await site.ask('/assets/menu.css')).status, 404)
  t.is(site.read('/public/assets/menu.css'), undefined)
  t.deepEqual(warningsAbout(site.root), [
    `koa-fresh-assets: menu.css is ambiguous in ${site.at('')}: use one of stylesheets/admin/menu.css, stylesheets/shop/menu.css`.replace(
      '/:',
      ':'
    )
  ])
  t.deepEqual(await found(site, ['/assets/admin/menu.css', '/assets/shop/menu.css']), [
    'admin{}',
    'shop{}'
  ])
  await site.ask('/assets/menu.css')
  t.is(warningsAbout(site.root).length, 1, 'warned once')
})

test('PUB-14 a tail that becomes ambiguous is not found until one of the files is removed', async t => {
  const site = await makeSite(t, { 'stylesheets/admin/menu.css': 'admin{}' })
  t.deepEqual(await found(site, ['/assets/menu.css']), ['admin{}'])
  site.write('stylesheets/shop/menu.css', 'shop{}')
  t.deepEqual(await found(site, ['/assets/menu.css']), [404])
  site.write('stylesheets/menu.css', 'exact{}')
  t.deepEqual(await found(site, ['/assets/menu.css']), ['exact{}'])
})

test('PUB-14 if two sources have one name, the first in byte order is served, with a warning', async t => {
  const site = await makeSite(t, { 'images/logo.txt': 'images', 'docs/logo.txt': 'docs' })
  t.deepEqual(
    await found(site, ['/assets/logo.txt', '/assets/images/logo.txt', '/assets/docs/logo.txt']),
    ['docs', 'images', 'docs']
  )
  const verdict = `several sources in ${join(site.root, 'apps/web/assets')} are published as logo.txt: docs/logo.txt, images/logo.txt; development uses the first, precompile refuses them: rename or exclude all but one`
  t.deepEqual(warningsAbout(site.root), [`koa-fresh-assets: ${verdict}`])
})

test('PUB-17 a file without a preprocessor is copied byte for byte', async t => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at))
  const names = [
    'x.min.js.map',
    'logo.2x.png',
    'style.foobar',
    'no-extension',
    'jquery.min.js',
    'spa~ce.css',
    'v1.2/data.bin',
    'scss',
    'a.scss.css',
    'bom.css'
  ]
  const site = await makeSite(t, Object.fromEntries(names.map(name => [`files.d/${name}`, bytes])))
  for (const name of names) {
    const { status, bytes: sent, headers } = await site.ask(`/assets/${name}`)
    t.deepEqual([name, status, headers['content-length']], [name, 200, '256'])
    t.true(sent.equals(bytes), name)
  }
})

test('PUB-17 text of another encoding, or with a byte order mark, is copied as it is', async t => {
  const files = {
    'stylesheets/latin.css': Buffer.from('a::after { content: "é" }', 'latin1'),
    'stylesheets/bom.css': Buffer.from('\uFEFFa { color: red }')
  }
  const site = await makeSite(t, files)
  for (const [path, bytes] of Object.entries(files)) {
    const { bytes: sent } = await site.ask(`/assets/${path}`)
    t.true(sent.equals(bytes), path)
  }
})

test('PUB-18 dotfiles, partials, leftovers and the text of preprocessor sources are not found', async t => {
  const names = [
    '.hidden.css',
    '_partial.css.scss',
    '_partial.sass',
    '_mixins.less',
    'app.css~',
    'app.css.scss~',
    '.app.css.swp',
    'app.css.swp',
    '#app.css#'
  ]
  const raw = ['raw.css.scss', 'raw2.css.less', 'raw3.js.ts', 'types.d.ts']
  const files = [...names, ...raw, '.folder/in.css', 'deep/.folder/in.css']
  const site = await makeSite(
    t,
    Object.fromEntries(files.map(name => [`stylesheets/${name}`, 'a{}']))
  )
  const asked = ['partial.css', ...files].flatMap(name => [
    `/assets/${encodeURIComponent(name).replaceAll('%2F', '/')}`,
    `/assets/stylesheets/${encodeURIComponent(name).replaceAll('%2F', '/')}`
  ])
  t.deepEqual(
    await found(site, asked),
    asked.map(() => 404)
  )
  t.is(site.read('/public/assets/raw.css.scss'), undefined)
})

test('PUB-18 any other name may begin with an underscore, as in lodash-es and date-fns', async t => {
  const site = await makeSite(t, {
    'javascripts/_base.js': 'base',
    'javascripts/_lib/a.js': 'a',
    'javascripts/_typed.js.ts': "say('typed')",
    'images/_x.png': 'x',
    'stylesheets/_plain.css': 'p{}'
  })
  const names = ['_base.js', '_lib/a.js', 'a.js', '_x.png', '_plain.css']
  const paths = names.map(name => `/assets/${name}`)
  t.deepEqual(await found(site, paths), ['base', 'a', 'a', 'x', 'p{}'])
  t.regex((await site.ask('/assets/_typed.js')).text, /say\("typed"\)/)
})

test('PUB-18 the text of a preprocessor source is not found in upper case either', async t => {
  const site = await makeSite(t, { 'stylesheets/APP.CSS.SCSS': 'a { b { c: d } }' })
  t.deepEqual(await found(site, ['/assets/APP.CSS.SCSS']), [404])
})

test('PUB-22 a source directory that is a link works', async t => {
  const site = await makeSite(t, { '/elsewhere/stylesheets/a.css': 'a{}' }, {})
  mkdirSync(site.at('/apps/web'), { recursive: true })
  symlinkSync(site.at('/elsewhere'), site.at('/apps/web/assets'))
  t.deepEqual(await found(site, ['/assets/a.css']), ['a{}'])
  for (const symlinks of ['deny', 'follow'] as const) {
    const other = await makeSite(t, {}, { root: site.root, symlinks, public: symlinks })
    t.deepEqual(await found(other, ['/assets/a.css']), ['a{}'], symlinks)
  }
})

for (const [symlinks, expected] of [
  ['inside', ['inside', 'inside', 404, 404]],
  ['follow', ['inside', 'inside', 'outside', 'outside']],
  ['deny', [404, 404, 404, 404]]
] as const) {
  test(`PUB-22 with symlinks: '${symlinks}' links in a source lead to ${expected.join(', ')}`, async t => {
    const outside = makeProject(t, { 'secret/s.txt': 'outside' })
    const site = await makeSite(t, { 'files/real/r.txt': 'inside' }, { symlinks })
    symlinkSync('real/r.txt', site.at('files/link.txt'))
    symlinkSync('files/real', site.at('linked'))
    symlinkSync(join(outside, 'secret/s.txt'), site.at('files/leak.txt'))
    symlinkSync(join(outside, 'secret'), site.at('files/leak'))
    const asked = ['link.txt', 'linked/r.txt', 'leak.txt', 'leak/s.txt']
    t.deepEqual(
      await found(
        site,
        asked.map(name => `/assets/${name}`)
      ),
      [...expected]
    )
  })
}

test('PUB-22 a link that is retargeted outside after it was served is no longer found', async t => {
  const outside = makeProject(t, { 's.txt': 'outside' })
  const site = await makeSite(t, { 'files/r.txt': 'inside' })
  const { renameSync } = await import('node:fs')
  symlinkSync('r.txt', site.at('files/link.txt'))
  t.deepEqual(await found(site, ['/assets/link.txt']), ['inside'])
  symlinkSync(join(outside, 's.txt'), site.at('files/new-link'))
  renameSync(site.at('files/new-link'), site.at('files/link.txt'))
  t.deepEqual(await found(site, ['/assets/link.txt']), [404])
  t.is(site.read('/public/assets/link.txt'), undefined)
})

test('PUB-22 a link whose file appears later is found then', async t => {
  const site = await makeSite(t, { 'files/a.txt': 'a' })
  symlinkSync('../later/r.txt', site.at('files/link.txt'))
  t.deepEqual(await found(site, ['/assets/a.txt', '/assets/link.txt']), ['a', 404])
  site.write('later/r.txt', 'here')
  t.deepEqual(await found(site, ['/assets/link.txt']), ['here'])
})

test('PUB-14 a plain file beside a source of the same name is served, and the log says what it hides, except in a package', async t => {
  const site = await makeSite(
    t,
    {
      'stylesheets/two.css': 'plain{}',
      'stylesheets/two.css.scss': 'a { b: c }',
      '/lib/stylesheets/theirs.css': 'theirs{}',
      '/lib/stylesheets/theirs.css.scss': 'a { b: c }'
    },
    { sources: ['../../lib'] }
  )
  t.deepEqual(await found(site, ['/assets/two.css', '/assets/theirs.css']), ['plain{}', 'theirs{}'])
  t.deepEqual(warningsAbout('theirs.css'), [])
  t.deepEqual(warningsAbout('two.css'), [
    `koa-fresh-assets: several sources in ${join(site.root, 'apps/web/assets')} are published as two.css: stylesheets/two.css is used, stylesheets/two.css.scss ignored; rename or remove all but one`
  ])
})

// Names of every kind: what a person may call a file, and what no request may ask for.

// A percent-encoded character that needs no encoding is another spelling, and not ours.
function encoded(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/').replace(/%7E/gi, '~')
}

const ODD = '!"#$%&\'()*+,-.;<=>?@[]^_`{|}~ äöüß€😀日本語אב\u0301\u200b\u202e\ufeff'

test('a name with any characters is served under its encoded form, and written below public', async t => {
  const names = [
    ...[...new Intl.Segmenter().segment(ODD)].map(({ segment }) => `a${segment}b.txt`),
    ...[
      'a%2Fb.txt',
      'a%00b.txt',
      '%2e%2e.txt',
      'a..b.txt',
      'a...txt',
      '--help',
      '-rf',
      "o'clock.txt"
    ],
    ...[
      'a?b=c&d.txt',
      'a#b.txt',
      '$(id).txt',
      '`id`.txt',
      'a;b|c.txt',
      'x'.repeat(200) + '.txt',
      '{{7*7}}'
    ]
  ]
  const sources = Object.fromEntries(names.map(name => [`apps/web/assets/x/${name}`, `in ${name}`]))
  const root = makeProject(t, sources)
  const { port, errors } = await makeFront(t, { root, env: 'development' })
  for (const name of names) {
    const response = await ask(port, 'GET', `/assets/${encoded(name)}`)
    t.is(response.text, `in ${name}`, encoded(name))
    t.is(readFileSync(join(root, 'public/assets', name), 'utf8'), `in ${name}`)
  }
  t.deepEqual(readdirSync(join(root, 'public/assets')).toSorted(), [...new Set(names)].toSorted())
  t.deepEqual(errors, [])
})

test('names that are not valid in a request are never served, whatever is on disk', async t => {
  const names = [
    'a\nb.txt',
    'a\tb.txt',
    'a\\b.txt',
    'a:b.txt',
    'a\u007fb.txt',
    'end.',
    'blank ',
    'con.txt',
    '..a',
    '.b'
  ]
  const root = makeProject(
    t,
    Object.fromEntries([
      ...names.map(name => [`apps/web/assets/x/${name}`, 'secret'] as const),
      ...names.map(name => [`public/${name}`, 'secret'] as const)
    ])
  )
  // A name that is no UTF-8 at all.
  closeSync(openSync(Buffer.from(`${root}/apps/web/assets/x/\xff\xfe.txt`, 'latin1'), 'w'))
  mkdirSync(Buffer.from(`${root}/apps/web/assets/\xff`, 'latin1'))
  writeFiles(root, { 'apps/web/assets/x/good.txt': 'good' })
  const { port, errors } = await makeFront(t, { root, env: 'development' })
  for (const name of [...names, '\ufffd\ufffd.txt']) {
    for (const path of [
      `/assets/${encoded(name)}`,
      `/${encoded(name)}`,
      `/assets/x/${encoded(name)}`
    ]) {
      t.is((await ask(port, 'GET', path)).status, 404, path)
    }
  }
  t.is((await ask(port, 'GET', '/assets/good.txt')).text, 'good')
  t.deepEqual(errors, [])
})

test('names that differ only in case are two names, each with its own bytes', async t => {
  const names = ['App.css', 'app.css', 'APP.CSS', 'aPP.css', 'sub/x.css', 'Sub/x.css']
  const sources = Object.fromEntries(names.map(name => [`apps/web/assets/x/${name}`, `in ${name}`]))
  const { port, errors } = await makeFront(t, { root: makeProject(t, sources), env: 'development' })
  for (const name of [...names, ...names.toReversed()]) {
    t.is((await ask(port, 'GET', `/assets/${name}`)).text, `in ${name}`)
  }
  t.is((await ask(port, 'GET', '/assets/aPp.css')).status, 404)
  t.deepEqual(errors, [])
})

test('a file is found under any name that it can have, and once it is gone its name is a 404', async t => {
  const root = makeProject(t, { 'apps/web/assets/x/keep': '' })
  const { port, errors } = await makeFront(t, { root, env: 'test' })
  const letters = fc.constantFrom(
    ...[...new Intl.Segmenter().segment(ODD)].map(each => each.segment),
    'a',
    'B',
    '7'
  )
  const stem = fc.array(letters, { minLength: 1, maxLength: 12 }).map(all => all.join(''))
  await fc.assert(
    fc.asyncProperty(stem, async odd => {
      const name = `n${odd}.txt`
      const file = join(root, 'apps/web/assets/x', name)
      writeFileSync(file, name)
      const response = await ask(port, 'GET', `/assets/${encoded(name)}`)
      rmSync(file)
      const gone = await ask(port, 'GET', `/assets/${encoded(name)}`)
      return response.text === name && gone.status === 404
    }),
    { numRuns: cases(50, 300) }
  )
  t.deepEqual(errors, [])
})
