import { unlinkSync } from 'node:fs'
import test from 'ava'
import { assetSources } from '../../../lib/index.ts'
import { run } from '../../support/fingerprinted.ts'
import { makeProject, makeSite } from '../../support/site.ts'
import { warningsAbout } from '../../support/warnings.ts'

const IMAGES = { 'images/logo.png': 'logo', 'images/icons/x.svg': 'x', 'fonts/f.woff2': 'f' }

for (const [written, becomes, why] of [
  ['logo.png', 'logo.png', 'leads there already'],
  ['icons/x.svg', 'icons/x.svg', 'leads there already'],
  ['/assets/logo.png', '/assets/logo.png', 'leads there already'],
  ['../assets/logo.png', '../assets/logo.png', 'leads there already'],
  ['images/logo.png', 'images/logo.png', 'a tail leads there already'],
  ['../images/logo.png', '/assets/logo.png', 'as it is next to the source'],
  ['../images/icons/x.svg#a', '/assets/icons/x.svg#a', 'as it is next to the source'],
  ['../fonts/f.woff2?v=1', '/assets/f.woff2?v=1', 'as it is next to the source'],
  ['../nowhere/logo.png', '../nowhere/logo.png', 'leads nowhere'],
  ['/images/logo.png', '/images/logo.png', 'a path that is not ours'],
  ['/assets/nowhere.png', '/assets/nowhere.png', 'leads nowhere'],
  ['%zz.png', '%zz.png', 'cannot be decoded'],
  ['a%00.png', 'a%00.png', 'holds a NUL'],
  ['../../../../../etc/passwd', '../../../../../etc/passwd', 'leads out of everything']
] as const) {
  test(`url(${written}) becomes url(${becomes}): ${why}`, async t => {
    const site = await makeSite(t, { ...IMAGES, 'stylesheets/app.css': `a{b:url(${written})}` })
    const { status, text } = await site.ask('/assets/app.css')
    t.is(status, 200)
    t.is(text, `a{b:url(${becomes})}`)
  })
}

test('a stylesheet requested by another tail refers to the same assets', async t => {
  const files = { ...IMAGES, 'stylesheets/admin/menu.css': 'a{b:url(../logo.png)}' }
  const site = await makeSite(t, files)
  t.is((await site.ask('/assets/admin/menu.css')).text, 'a{b:url(../logo.png)}')
  t.is((await site.ask('/assets/menu.css')).text, 'a{b:url(/assets/logo.png)}')
})

test('a reference to a file next to the source finds that file, even where another has its name', async t => {
  const site = await makeSite(t, {
    'docs/logo.txt': 'the docs have it',
    'images/logo.txt': 'the images have it',
    'stylesheets/admin/menu.css': 'a{b:url(../../images/logo.txt)}'
  })
  const [, url = ''] = /url\((.*)\)/.exec((await site.ask('/assets/admin/menu.css')).text) ?? []
  t.is((await site.ask(url)).text, 'the images have it')
})

test('a reference in an import is also looked up next to the import', async t => {
  const site = await makeSite(
    t,
    {
      ...IMAGES,
      'stylesheets/app.css.scss': "@use 'parts/box';",
      'stylesheets/parts/_box.scss': 'a { b: url(../../images/icons/x.svg) }'
    },
    { env: 'test' }
  )
  t.regex((await site.ask('/assets/app.css')).text, /url\("?\/assets\/icons\/x\.svg"?\)/)
})

test("references find the app's own assets, another app's, and those of third parties", async t => {
  assetSources.append(makeProject(t, { 'images/theirs.svg': 'x' }))
  const site = await makeSite(t, {
    ...IMAGES,
    '/apps/admin/assets/css/a.css':
      'a{b:url(../img/own.svg);c:url(/assets/logo.png);d:url(../images/theirs.svg)}',
    '/apps/admin/assets/img/own.svg': 'x'
  })
  t.is(
    (await site.ask('/assets/admin/a.css')).text,
    'a{b:url(/assets/admin/own.svg);c:url(/assets/logo.png);d:url(../images/theirs.svg)}'
  )
})

test('names with spaces and Unicode are written percent-encoded', async t => {
  const site = await makeSite(t, {
    'images/schön 1.svg': 'x',
    'stylesheets/deep/app.css':
      'a{b:url("../../images/schön 1.svg");c:url(../../images/sch%C3%B6n%201.svg)}'
  })
  const url = '/assets/sch%C3%B6n%201.svg'
  t.is((await site.ask('/assets/deep/app.css')).text, `a{b:url("${url}");c:url(${url})}`)
  t.is((await site.ask(url)).status, 200)
})

test('a file that a person put into public is found as well', async t => {
  const files = { '/public/assets/put.png': 'x', 'css/put.css': 'a{b:url(put.png)}' }
  const site = await makeSite(t, files)
  t.is((await site.ask('/assets/put.css')).text, 'a{b:url(put.png)}')
  t.deepEqual(warningsAbout('put.png'), [])
})

test('a missing reference is a warning that names the source, once', async t => {
  const site = await makeSite(t, {
    'stylesheets/lonely.css':
      'a{b:url(gone.png);c:url(data:x);d:url(#e);f:url(https://g.example/)}',
    'javascripts/lonely.js': '//# sourceMappingURL=lonely.js.map'
  })
  for (const edit of ['', ' ', '  ']) {
    site.write('stylesheets/lonely.css', `a{b:url(gone.png)}${edit}`)
    await site.ask('/assets/lonely.css')
  }
  await site.ask('/assets/lonely.js')
  t.deepEqual(warningsAbout('lonely'), [
    'koa-fresh-assets: apps/web/assets/stylesheets/lonely.css:1:9 refers to gone.png, which was not found'
  ])
})

test("with missing: 'error' it is an error instead", async t => {
  const files = { 'css/strict.css': 'a{b:url(gone.png)}' }
  const site = await makeSite(t, files, { missing: 'error' })
  const { status, text } = await site.ask('/assets/strict.css')
  t.is(status, 500)
  t.is(
    text,
    'This asset cannot be published\n\napps/web/assets/css/strict.css:1:9 refers to gone.png, which was not found\n'
  )
})

test('a missing reference is reported with its line and column in the file where it was written', async t => {
  const site = await makeSite(t, {
    'css/plain.css': '/* é */\n\na {\n  b: url("placed.png");\n  c: url(placed.png)\n}',
    'css/sheet.css.scss': '@use "part";\n$dir: "placed";\na { b: url(#{$dir}/computed.png) }',
    'css/_part.scss': '// not placed.png2\na {\n  b: url(images/placed.png);\n}',
    'css/sheet2.css.less': '@w: 1px;\na { b: url(less-placed.png) }'
  })
  for (const name of ['plain.css', 'sheet.css', 'sheet2.css']) await site.ask(`/assets/${name}`)
  const warning = (path: string) =>
    `koa-fresh-assets: apps/web/assets/css/${path}, which was not found`
  t.deepEqual(warningsAbout('placed').toSorted(), [
    warning('_part.scss:3:10 refers to images/placed.png'),
    warning('plain.css:4:10 refers to placed.png'),
    warning('sheet.css.scss refers to placed/computed.png'),
    warning('sheet2.css.less:2:12 refers to less-placed.png')
  ])
})

test("with missing: 'ignore' nothing is reported, on request and in precompile", async t => {
  const css = 'a{b:url(quiet.png)}'
  const site = await makeSite(t, { 'css/quiet.css': css }, { missing: 'ignore' })
  t.is((await site.ask('/assets/quiet.css')).text, css)
  const { warnings, assets } = await run({ root: site.root, missing: 'ignore' })
  t.is(assets, 1)
  t.deepEqual([...warnings, ...warningsAbout('quiet')], [])
})

test('stylesheets follow an asset that is added or removed', async t => {
  const site = await makeSite(t, { 'css/deep/a.css': 'a{b:url(../../images/new.svg)}' })
  const get = async () => (await site.ask('/assets/deep/a.css')).text
  t.is(await get(), 'a{b:url(../../images/new.svg)}')
  site.write('images/new.svg', 'x')
  t.is(await get(), 'a{b:url(/assets/new.svg)}')
  unlinkSync(site.at('images/new.svg'))
  t.is(await get(), 'a{b:url(../../images/new.svg)}')
})

test('a source map next to its script is found', async t => {
  const site = await makeSite(t, {
    'javascripts/vendor/x.js': 'x()\n//# sourceMappingURL=x.js.map',
    'javascripts/vendor/x.js.map': '{}'
  })
  t.is((await site.ask('/assets/vendor/x.js')).text, 'x()\n//# sourceMappingURL=x.js.map')
  t.is(
    (await site.ask('/assets/javascripts/vendor/x.js')).text,
    'x()\n//# sourceMappingURL=x.js.map'
  )
})
