// What stylesheets and scripts refer to, under fingerprints.
import { join } from 'node:path'
import test from 'ava'
import { referenceErrors } from '../../../lib/assets/rendering/missing-reference.ts'
import { loadModuleLexer } from '../../../lib/assets/references/module-references.ts'
import { findReferences, replaceReferences } from '../../../lib/assets/references/references.ts'
import { settle } from '../../../lib/assets/settings/settings.ts'
import type { Source } from '../../../lib/assets/sources/catalog.ts'
import { growsInProportion } from '../../support/cost.ts'
import {
  digestIn,
  digestOf,
  type FingerprintedSite,
  makeFingerprinted,
  MODES
} from '../../support/fingerprinted.ts'
import { makeProject } from '../../support/site.ts'

const { find: findModuleReferences } = await loadModuleLexer()

/** The text of an asset as a page gets it. */
const textOf = async (site: FingerprintedSite, name: string) =>
  (await site.ask(await site.path(name))).text

/** What a browser loads for the first url() or @import of a stylesheet. */
const firstUrl = (css: string) =>
  /url\("?([^")]+)"?\)|@import "([^"]+)"/.exec(css)?.slice(1).find(Boolean) ?? ''

for (const mode of MODES) {
  test(`FPR-11 an edited image renames the stylesheets that show it and their importers, nothing else (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'images/logo.png': 'logo',
      'images/other.png': 'other',
      'stylesheets/page.css': '@import "theme.css";',
      'stylesheets/theme.css': 'a { background: url(logo.png) }',
      'stylesheets/plain.css': 'b { background: url(other.png) }',
      'javascripts/app.js': 'go()'
    })
    const names = ['logo.png', 'theme.css', 'page.css', 'other.png', 'plain.css', 'app.js']
    const paths = () => Promise.all(names.map(name => site.path(name)))
    const before = await paths()
    await site.edit({ 'images/logo.png': 'LOGO' })
    let after = await paths()
    for (let turn = 0; turn < 100 && after[0] === before[0]; turn++) after = await paths()
    const renamed = names.filter((_, at) => after[at] !== before[at])
    t.deepEqual(renamed, ['logo.png', 'theme.css', 'page.css'])
    const [logo, theme] = after
    t.is(await textOf(site, 'theme.css'), `a { background: url(${logo}) }`)
    t.is(await textOf(site, 'page.css'), `@import "${theme}";`)
    t.is((await site.ask(before[0] ?? '')).text, 'logo')
  })

  for (const [what, files] of Object.entries({
    two: { 'a.css': '@import "b.css"; a{}', 'b.css': '@import "a.css"; b{}' },
    three: {
      'a.css': '@import "b.css"; a{}',
      'b.css': '@import "c.css"; b{}',
      'c.css': '@import "a.css"; c { background: url(logo.png) }'
    },
    'a stylesheet by itself': { 'a.css': '@import "a.css"; a{}' }
  })) {
    test(`FPR-12 a cycle is digested as one: ${what} (${mode})`, async t => {
      const all = { 'logo.png': 'logo', ...files }
      const site = await makeFingerprinted(t, mode, all)
      const names = Object.keys(files)
      const paths = () => Promise.all(names.map(name => site.path(name)))
      const before = await paths()
      for (const [at, path] of before.entries()) {
        const { text, headers, bytes } = await site.ask(path)
        t.is(digestIn(path), digestOf(bytes), names[at])
        t.regex(headers['cache-control'] ?? '', /immutable/)
        const [, imported = ''] = /@import "([^"]+)"/.exec(text) ?? []
        t.is((await site.ask(imported)).status, 200, imported)
      }
      const changed =
        what === 'three' ? { 'logo.png': 'LOGO' } : { 'a.css': `${files['a.css']} i{}` }
      await site.edit(changed)
      let after = await paths()
      for (let turn = 0; turn < 100 && after[0] === before[0]; turn++) after = await paths()
      for (const at of names.keys()) t.not(after[at], before[at], names[at])
    })
  }

  test(`FPR-13 quotes, queries, fragments, data: URLs and comments survive intact (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'fonts/x.eot': 'eot',
      'images/sprite.svg': 'sprite',
      'images/a (1).png': 'one',
      "images/it's.png": 'its',
      'stylesheets/app.css': [
        '@font-face { src: url(x.eot?#iefix) format("embedded-opentype") }',
        'a { background: url(sprite.svg#id) }',
        'b { background: url( "sprite.svg?v=1#id" ) }',
        "c { background: url('a%20(1).png') }",
        'd { background: url(a\\ \\(1\\).png) }',
        'e { background: url("it\'s.png") }',
        'f { background: image-set("sprite.svg" 1x, url(sprite.svg) 2x) }',
        'g { background: URL(sprite.svg) }',
        'h { background: url(data:image/png;base64,AAAA) }',
        'i { background: url(https://cdn.example/sprite.svg), url(//cdn.example/x.svg) }',
        'j { mask: url(#mask) }',
        '/* url(sprite.svg) "sprite.svg" */',
        'k::after { content: "url(sprite.svg)" }'
      ].join('\n')
    })
    const [eot, sprite, one, its] = [
      await site.path('x.eot'),
      await site.path('sprite.svg'),
      await site.path('a (1).png'),
      await site.path("it's.png")
    ]
    const css = await textOf(site, 'app.css')
    t.deepEqual(css.split('\n'), [
      `@font-face { src: url(${eot}?#iefix) format("embedded-opentype") }`,
      `a { background: url(${sprite}#id) }`,
      `b { background: url( "${sprite}?v=1#id" ) }`,
      `c { background: url("${one}") }`,
      `d { background: url(${one}) }`,
      `e { background: url("${its}") }`,
      `f { background: image-set("${sprite}" 1x, url(${sprite}) 2x) }`,
      `g { background: URL(${sprite}) }`,
      'h { background: url(data:image/png;base64,AAAA) }',
      'i { background: url(https://cdn.example/sprite.svg), url(//cdn.example/x.svg) }',
      'j { mask: url(#mask) }',
      '/* url(sprite.svg) "sprite.svg" */',
      'k::after { content: "url(sprite.svg)" }'
    ])
    for (const url of [one, its]) t.is((await site.ask(url)).status, 200, url)
  })

  test(`a chain of stylesheets ends at an image, and each is found under its fingerprint (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'stylesheets/page.css.scss': '@import url("parts/theme.css");',
      'stylesheets/parts/theme.css.less': '@import (css) "../more/last.css";',
      'stylesheets/more/last.css': 'a { background: url("../../images/deep/logo.png") }',
      'images/deep/logo.png': 'logo'
    })
    let path = await site.path('page.css')
    for (let step = 0; step < 3; step++) {
      const { text, bytes } = await site.ask(path)
      t.is(digestIn(path), digestOf(bytes), path)
      path = firstUrl(text)
    }
    t.is((await site.ask(path)).text, 'logo')
    t.is(digestIn(path), digestOf('logo'))
  })

  test(`a reference may be written as a path, a name, a tail or a file beside the source (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'images/flags/fi.png': 'fi',
      'stylesheets/admin/a.css': 'a { background: url(/assets/flags/fi.png) }',
      'stylesheets/admin/b.css': 'a { background: url(../flags/fi.png) }',
      'stylesheets/admin/c.css': 'a { background: url(../../images/flags/fi.png) }',
      'stylesheets/admin/d.css': 'a { background: url(flags/fi.png) }',
      'stylesheets/admin/e.css': 'a { background: url(fi.png) }',
      'stylesheets/admin/f.css': 'a { background: url(/assets/images/flags/fi.png) }',
      'stylesheets/admin/g.css.scss': '@use "parts/part";',
      'stylesheets/parts/_part.scss': 'a { background: url(../../images/flags/fi.png) }'
    })
    for (const letter of 'abcdefg') {
      const url = firstUrl(await textOf(site, `admin/${letter}.css`))
      t.is(url, `/assets/flags/fi-${digestOf('fi')}.png`, letter)
    }
  })

  test(`a stylesheet shows the image beside it, not another app's of that path (${mode})`, async t => {
    const css = 'a { background: url(../images/logo.png) }'
    const site = await makeFingerprinted(t, mode, {
      'stylesheets/app.css': css,
      'images/logo.png': 'web',
      '/apps/admin/assets/stylesheets/app.css': css,
      '/apps/admin/assets/images/logo.png': 'admin'
    })
    const web = await textOf(site, 'app.css')
    t.is(firstUrl(web), `/assets/logo-${digestOf('web')}.png`)
    const path = await site.render(assets => assets.path('app.css'), '/admin/page')
    t.is(firstUrl((await site.ask(path)).text), `/assets/admin/logo-${digestOf('admin')}.png`)
  })

  test(`a stylesheet may refer to another app's image by its URL (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'app.css': 'a { background: url(/assets/admin/seal.png?x#y) }',
      '/apps/admin/assets/images/seal.png': 'seal'
    })
    const url = `/assets/admin/seal-${digestOf('seal')}.png`
    t.is(await textOf(site, 'app.css'), `a { background: url(${url}?x#y) }`)
    t.is((await site.ask(url)).text, 'seal')
  })

  test(`source maps are found under their fingerprints; a missing one is not reported (${mode})`, async t => {
    const site = await makeFingerprinted(
      t,
      mode,
      {
        'javascripts/lib/app.min.js': 'go()\n//# sourceMappingURL=app.min.js.map\n',
        'javascripts/lib/app.min.js.map': '{"version":3}',
        'stylesheets/app.css': 'a{}\n/*# sourceMappingURL=app.css.map */\n',
        'stylesheets/app.css.map': '{"version":3,"sources":[]}',
        'javascripts/lost.js': 'go()\n//# sourceMappingURL=lost.js.map\n',
        'javascripts/inline.js': 'go()\n//# sourceMappingURL=data:application/json;base64,e30=\n',
        'javascripts/text.js': 'say("//# sourceMappingURL=lib/app.min.js.map")\n'
      },
      { missing: 'error' }
    )
    const map = `/assets/lib/app.min.js-${digestOf('{"version":3}')}.map`
    t.is(await textOf(site, 'lib/app.min.js'), `go()\n//# sourceMappingURL=${map}\n`)
    t.is((await site.ask(map)).text, '{"version":3}')
    const [, cssMap = ''] = /=(\S+)/.exec(await textOf(site, 'app.css')) ?? []
    t.is((await site.ask(cssMap)).text, '{"version":3,"sources":[]}')
    t.is(await textOf(site, 'lost.js'), 'go()\n//# sourceMappingURL=lost.js.map\n')
    t.regex(await textOf(site, 'inline.js'), /data:application/)
    t.is(await textOf(site, 'text.js'), 'say("//# sourceMappingURL=lib/app.min.js.map")\n')
  })

  test(`bytes that are not UTF-8 are left alone (${mode})`, async t => {
    const latin = Buffer.from('/* é */ a { background: url(logo.png) }', 'latin1')
    const site = await makeFingerprinted(t, mode, { 'app.css': latin, 'logo.png': 'logo' })
    t.true((await site.ask(await site.path('app.css'))).bytes.equals(latin))
  })

  test(`a reference to an app without fingerprints keeps the plain name (${mode})`, async t => {
    const site = await makeFingerprinted(
      t,
      mode,
      {
        'app.css': 'a { background: url(/assets/admin/seal.png) }',
        '/apps/admin/assets/images/seal.png': 'seal'
      },
      { apps: { web: {}, admin: { fingerprint: false } } }
    )
    t.is(await textOf(site, 'app.css'), 'a { background: url(/assets/admin/seal.png) }')
    t.is((await site.ask('/assets/admin/seal.png')).text, 'seal')
  })
}

const COUNT = 250

for (const [what, compiler, placed] of [
  ['as it was written', undefined, COUNT],
  ['that was compiled', { extensions: '.x', target: '.css', compile: () => ({ code: '' }) }, 100]
] as const) {
  test(`S61 in a stylesheet ${what} ${placed} of ${COUNT} missing references are located`, async t => {
    const code = Array.from({ length: COUNT }, (_, at) => `a { b: url(${at}.png) }\n`).join('')
    const root = makeProject(t, { 'apps/web/assets/app.css': code })
    const directory = join(root, 'apps/web/assets')
    const file = join(directory, 'app.css')
    const source: Source = {
      ...{ file, directory, from: 0, path: 'app.css', tail: 'app.css', name: 'app.css' },
      compiler
    }
    const references = findReferences('css', code)
    const text = { code, references, dependencies: [] }
    const settings = settle({ root })
    const asset = { app: settings.publicApp, source }
    const errors = await referenceErrors(settings, asset, { text }, references)
    t.is(errors.length, COUNT)
    errors.forEach(({ message }, at) => {
      const place = at < placed ? `:${at + 1}:12` : ''
      t.is(message, `apps/web/assets/app.css${place} refers to ${at}.png, which was not found`)
    })
  })
}

// What is a reference in a script, and what only looks like one.

/** Each reference as it stands in the code, with its path and suffix. */
function found(code: string) {
  const references = findModuleReferences(code)
  return references.map(({ start, end, kind, path, suffix }) => [
    kind,
    code.slice(start, end),
    path + suffix
  ])
}

for (const [code, kind, written, specifier] of [
  ["import './a.js'", 'import', "'./a.js'", './a.js'],
  ['import{a}from"./a.js"', 'import', '"./a.js"', './a.js'],
  ["import a, * as b from '/assets/a.js?x#y'", 'import', "'/assets/a.js?x#y'", '/assets/a.js?x#y'],
  ["export * from './a.js'", 'import', "'./a.js'", './a.js'],
  ["export { a } from './a.js'", 'import', "'./a.js'", './a.js'],
  ["import d from './d.json' with { type: 'json' }", 'import', "'./d.json'", './d.json'],
  ["import './\\x61.js'", 'import', "'./\\x61.js'", './a.js'],
  ["import confetti from 'confetti'", 'import', "'confetti'", 'confetti'],
  ["import '#internal?x'", 'import', "'#internal?x'", '#internal?x'],
  ["import('./a.js')", 'dynamic-import', "'./a.js'", './a.js'],
  ['import(`./a.js`)', 'dynamic-import', '`./a.js`', './a.js'],
  ["import(/* later */ './a.js' /* or never */)", 'dynamic-import', "'./a.js'", './a.js'],
  ["import('./a.css', { with: { type: 'css' } })", 'dynamic-import', "'./a.css'", './a.css'],
  ["`${import('./a.js')}`", 'dynamic-import', "'./a.js'", './a.js'],
  ["new URL('./a.png', import.meta.url)", 'new-url', "'./a.png'", './a.png'],
  ['new URL( "a.png#x" ,import . meta . url , )', 'new-url', '"a.png#x"', 'a.png#x'],
  ["new Worker(new URL('./w.js', import.meta.url))", 'new-url', "'./w.js'", './w.js'],
  ["new URL('./it\\'s.png', import.meta.url)", 'new-url', "'./it\\'s.png'", "./it's.png"]
] as const) {
  test(`JSM-01 a reference: ${code}`, t => {
    t.deepEqual(found(code), [[kind, written, specifier]])
  })
}

for (const code of [
  '"import \'./a.js\'"',
  "`import './a.js'`",
  "// import './a.js'",
  "/* import('./a.js') */",
  "/import('.a.js')/.test(x)",
  "a.import('./a.js')",
  'import(name)',
  "import('./' + name)",
  'import(`./${name}.js`)',
  "new URL('./a.png', location.href)",
  "new URL('./a.png', import.meta.url.href)",
  'new URL(name, import.meta.url)',
  'new URL(`./${name}.png`, import.meta.url)',
  "new URL('../', import.meta.url)",
  "new URL('.', import.meta.url)",
  "new URL('', import.meta.url)",
  "create(new Base('./a.png', import.meta.url))",
  "const { URL } = import.meta; f('./a.png', import.meta.url)",
  'console.log(import.meta.url)',
  '<!-- a classic script that imports nothing, and it\'s not closed: "',
  ''
]) {
  test(`JSM-01 not a reference: ${code}`, t => {
    t.deepEqual(found(code), [])
  })
}

test('JSM-01 a specifier that spans several lines stays as it is, because source maps are only shifted within lines', t => {
  t.deepEqual(found("import './a\\\n.js'; import(`./b\n.js`)"), [])
})

test('JSM-01 a replaced specifier is a valid string, whatever it contains', t => {
  const code = "import './a.js?q=\\'\"#\\r\\n'; export {}"
  const references = findModuleReferences(code)
  t.is(
    replaceReferences(code, references, ['/assets/a-1.js']),
    'import "/assets/a-1.js?q=\'%22#%0D%0A"; export {}'
  )
})

for (const [what, piece] of [
  ['imports', "import './a.js';"],
  ['URLs beside the module', "new URL('./a.png', import.meta.url);"],
  ['beginnings of URLs', "new URL('./a.png', import.meta.url, "],
  ['uses of import.meta', 'import.meta.url;']
] as const) {
  test(`S61 ${what} take time in proportion to their number`, t => {
    const code = (count: number) => piece.repeat(count)
    t.true(growsInProportion(2000, count => findModuleReferences(code(count))))
  })
}
