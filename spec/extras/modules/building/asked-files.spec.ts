// Files of packages that stylesheets (in CSS, Sass and Less), modules and workers ask for, without any option.
import { rmSync, symlinkSync } from 'node:fs'
import { join, posix } from 'node:path'
import { compileStringAsync } from 'sass'
import { makeCounter, makeFingerprinted, makeProject, makeSite } from '../../../support/index.ts'
import { MODES, placed, readManifest, run, test, warningsAbout } from '../../../support/index.ts'
import { writeFiles, type Files, type Site } from '../../../support/index.ts'
import { dependencies, makePage, modulePkg, pkg } from '../package-files.ts'

const KIT: Files = {
  'dist/a.css': '.kit { src: url(../fonts/kit.woff2) }',
  'fonts/kit.woff2': 'font',
  'x.mjs': '',
  'fonts/other.woff2': ''
}

/** What package.json says, and what a stylesheet imports: it is `dist/a.css`. */
const WRITTEN: readonly (readonly [json: object, path: string])[] = [
  [{}, '/dist/a.css'],
  [{}, '/dist/a'],
  [{ style: 'dist/a.css', main: 'x.mjs' }, ''],
  [{ style: './dist/a' }, ''],
  [{ main: 'dist/a.css' }, ''],
  [{ exports: './dist/a.css' }, ''],
  [{ exports: { import: './x.mjs', style: './dist/a.css' } }, ''],
  [{ exports: { '.': './x.mjs', './css': './dist/a.css' } }, '/css'],
  [{ exports: { './*': { types: './x.d.ts', default: './dist/*.css' } } }, '/a'],
  [{ exports: { './css': [{ node: './x.mjs' }, './dist/a.css'] } }, '/css'],
  [{ exports: { '.': './x.mjs' } }, '/dist/a.css']
]

function install(root: string, name: string, json: object, files = KIT) {
  const all = { 'package.json': JSON.stringify({ name, ...json }), ...files }
  writeFiles(join(root, 'node_modules', name), all)
}

const LANGUAGES = {
  'app.css': (path: string) => `@import '${path}';`,
  'url.css': (path: string) => `@import url(${path}) print;`,
  'app.css.scss': (path: string) => `@use '${path}';`,
  'app.css.less': (path: string) => `@import (less) '${path}';`
}

/** Every URL in a stylesheet, and in those that it imports. */
async function urlsFrom(site: Pick<Site, 'ask'>, sheet: string): Promise<string[]> {
  const urls = new Set([sheet])
  for (const url of urls) {
    const { status, text } = await site.ask(url)
    if (status !== 200) throw new Error(`${url} is ${status}: ${text}`)
    for (const [, to = ''] of text.matchAll(/(?:url\(|@import )"?([^")(]+)\b(?!\()/g))
      if (url.endsWith('.css')) urls.add(posix.resolve(posix.dirname(url), to))
  }
  return [...urls]
}

for (const [language, write] of Object.entries(LANGUAGES)) {
  test(`a stylesheet (${language}) finds dependencies as package.json says, with their fonts`, async t => {
    const root = makeProject(t)
    const names = WRITTEN.map((_, at) => `@fonts/kit-${at}.css`)
    const expected = WRITTEN.map(([json, path], at) => {
      const name = names[at] ?? ''
      install(root, name, json)
      writeFiles(root, { [`apps/web/assets/css/${at}/${language}`]: write(name + path) })
      const sheet = `/assets/${at}/${language.replace(/\.(?:scss|less)$/, '')}`
      const font = `/assets/npm/${name}/fonts/kit.woff2`
      return /less|scss/.test(language)
        ? [sheet, font]
        : [sheet, `/assets/npm/${name}/dist/a.css`, font]
    })
    writeFiles(root, { 'package.json': dependencies(...names) })
    const site = await makeSite(t, {}, { root })
    for (const [at, urls] of expected.entries()) {
      t.deepEqual(await urlsFrom(site, urls[0] ?? ''), urls, JSON.stringify(WRITTEN[at]))
      const [font = ''] = urls.slice(-1)
      t.is((await site.ask(font.replace('kit.w', 'other.w'))).status, 404)
    }
    for (const bundle of [true, false]) {
      await run({ root, bundle })
      t.deepEqual(Object.keys(readManifest(root).assets), expected.flat().toSorted())
    }
  })
}

test('a stylesheet of the app comes before a package of the same name', async t => {
  const files = {
    ...pkg('reset.css', { style: 'a.css' }, { 'a.css': '' }),
    ...pkg('kit', { style: 'a.css' }, { 'a.css': '', 'named.css': '' }),
    '/package.json': dependencies('reset.css', 'kit'),
    'css/app.css': "@import 'reset.css'; @import 'kit/named.css'; @import 'kit'",
    'css/reset.css': '',
    'other/kit/named.css': ''
  }
  const site = await makeSite(t, files)
  const expected = `@import 'reset.css'; @import 'kit/named.css'; @import "/assets/npm/kit/a.css"`
  t.is((await site.ask('/assets/app.css')).text, expected)
  rmSync(site.at('css/reset.css'))
  t.regex((await site.ask('/assets/app.css')).text, /^@import "\/assets\/npm\/reset\.css\/a\.css"/)
})

test('Sass takes the file of a package that it would take with node_modules as a load path', async t => {
  const stems = ['theme', '_theme', 'theme/index', 'theme/_index']
  const names = stems.flatMap(stem => ['.scss', '.css'].map(ending => stem + ending))
  const pairs = names.flatMap((one, at) => names.slice(at).map(other => [one, other]))
  for (const json of [{}, { exports: { './*': './*' } }]) {
    const root = makeProject(t, { 'package.json': dependencies('kit') })
    for (const [at, pair] of pairs.entries()) {
      install(root, `kit/${at}`, {}, {})
      for (const name of pair)
        writeFiles(root, { [`node_modules/kit/${at}/${name}`]: `a{b:'${name}'}` })
      writeFiles(root, { [`apps/web/assets/css/${at}/app.css.scss`]: `@use 'kit/${at}/theme'` })
    }
    install(root, 'kit', json, {})
    const site = await makeSite(t, {}, { root, sourceMaps: false })
    for (const [at, pair] of pairs.entries()) {
      const options = { loadPaths: [join(root, 'node_modules')] }
      const expected = await compileStringAsync(`@use 'kit/${at}/theme'`, options).then(
        ({ css }) => css,
        () => 'fails'
      )
      const { status, text } = await site.ask(`/assets/${at}/app.css`)
      const told = status === 200 ? text.replace(/\s*\/\*[^]*/, '') : 'fails'
      t.is(told, expected, pair.join(' and '))
    }
  }
})

const FIELDS = { style: 'style.css', css: 'css.css', sass: 'sass.scss', less: 'less.less' }
const CONDITIONS = { style: './by-style.css', sass: './by-sass.scss', less: './by-less.less' }

/** What is in package.json besides these, and whether Sass finds an index; then what each language takes. */
const WHOLE: readonly (readonly [json: object, hasIndex: boolean, ...taken: string[]])[] = [
  [FIELDS, true, 'css', 'sass', 'less'],
  [{ style: 'style.css' }, true, 'style', '_index', 'style'],
  [{ style: 'style.css' }, false, 'style', 'style', 'style'],
  [{ exports: CONDITIONS }, true, 'by-style', 'by-sass', 'by-less'],
  [{ exports: { style: './by-style.css' } }, true, 'by-style', '_index', 'by-style'],
  [{ main: 'css.css' }, true, 'css', '_index', 'css']
]

test('CSS, Sass and Less each prefer the stylesheet that a package has for that language', async t => {
  const root = makeProject(t, {
    'package.json': dependencies(...WHOLE.map((_, at) => `kit-${at}`))
  })
  for (const [at, [json, hasIndex]] of WHOLE.entries()) {
    const paths = [FIELDS, CONDITIONS].flatMap(each => Object.values(each))
    const all = [...paths.map(path => posix.normalize(path)), ...(hasIndex ? ['_index.scss'] : [])]
    const files = all.map(path => [path, `.x { --of: "${path.replace(/\..*/, '')}" }`])
    install(root, `kit-${at}`, json, Object.fromEntries(files))
    writeFiles(root, {
      [`apps/web/assets/css/${at}/app.css`]: `@import 'kit-${at}';`,
      [`apps/web/assets/css/${at}/sass.css.scss`]: `@use 'kit-${at}';`,
      [`apps/web/assets/css/${at}/less.css.less`]: `@import (less) 'kit-${at}';`
    })
  }
  const site = await makeSite(t, {}, { root })
  for (const [at, [, , ...expected]] of WHOLE.entries()) {
    const taken: string[] = []
    for (const name of ['app', 'sass', 'less']) {
      const [url = ''] = (await urlsFrom(site, `/assets/${at}/${name}.css`)).slice(-1)
      taken.push(/--of: "(.*)"/.exec((await site.ask(url)).text)?.[1] ?? '')
    }
    t.deepEqual(taken, expected, String(at))
  }
})

test('@plugin in Less loads a script of a package, even beside a stylesheet of the same name', async t => {
  const code = "module.exports = { install: (_, __, all) => all.add('seven', () => 7) }"
  const files = {
    ...pkg('kit', {}, { 'seven.js': code, 'seven.css': '.a {}' }),
    '/package.json': dependencies('kit'),
    'css/app.css.less': "@plugin 'kit/seven'; a { width: seven() }"
  }
  const site = await makeSite(t, files)
  t.regex((await site.ask('/assets/app.css')).text, /width: 7/)
})

const ERRORS: Readonly<Record<string, string>> = {
  'node_modules/kit/a': "write 'kit/a'",
  'gone/a.css': 'gone is not installed: run npm install gone',
  'other/a.css':
    'other is installed, but is not a dependency in package.json: run npm install other',
  'none/a.css': 'if none is a package, run npm install none',
  '@none/kit': 'if @none/kit is a package, run npm install @none/kit',
  '~kit/a.css': "write 'kit/a.css'"
}

test('a package that a stylesheet cannot import is reported with its place and what to do', async t => {
  const files = {
    ...pkg('kit', {}, { 'a.css': '', '.hidden/a.css': '' }),
    ...pkg('other', {}, { 'a.css': '' }),
    '/package.json': dependencies('kit', 'gone'),
    'css/app.css': ['.a {}', ...Object.keys(ERRORS).map(path => `@import '${path}';`)].join('\n')
  }
  const site = await makeSite(t, files, { missing: 'warn' })
  await site.ask('/assets/app.css')
  const told = Object.values(ERRORS)
  for (const [at, path] of Object.keys(ERRORS).entries()) {
    const place = `apps/web/assets/css/app.css:${at + 2}:9`
    const [warning = ''] = warningsAbout(`${place} refers to ${path}`)
    t.true(warning.endsWith(`refers to ${path}, which was not found: ${told[at]}`), warning)
  }
  for (const [name, write, text] of [
    ['a.css.scss', (path: string) => `@use '${path}'`, "Can't find stylesheet to import"],
    ['b.css.less', (path: string) => `@import '${path}'`, "wasn't found"]
  ] as const) {
    for (const [path, advice] of Object.entries(ERRORS)) {
      if (path.startsWith('other') || (name.endsWith('scss') && path.endsWith('/a.css'))) continue
      site.write(`css/${name}`, `// a\n${write(path.replace('.css', '.less'))};`)
      const answer = (await site.ask(`/assets/${name.slice(0, -5)}`)).text
      t.true(answer.includes(text) && answer.includes(advice.replace('.css', '.less')), answer)
      t.true(answer.includes(`css/${name}:2:`), answer)
    }
  }
  const own = { ...files, 'css/app.css': "@import 'kit/a.css'" }
  const off = await makeSite(t, own, { packages: false })
  t.is((await off.ask('/assets/app.css')).status, 500)
  t.false(off.errors[0]?.message.includes('npm install'))
})

test('stylesheets can import only visible files inside of a package or its dependencies', async t => {
  const paths = ['kit/../x.css', 'kit/.hidden/a.css', 'kit/out.css']
  const files = {
    ...pkg('kit', {}, { 'a.css': "@import 'in/a.css'; @import '../x.css'", '.hidden/a.css': '' }),
    ...pkg('kit/node_modules/in', {}, { 'a.css': '' }),
    '/node_modules/x.css': '',
    '/secret.css': '',
    '/package.json': dependencies('kit'),
    'css/app.css': paths.map(path => `@import '${path}';`).join('\n'),
    'css/kit.css': "@import 'kit/a.css'"
  }
  const site = await makeSite(t, files, { missing: 'warn' })
  symlinkSync(join(site.root, 'secret.css'), join(site.root, 'node_modules/kit/out.css'))
  const { text } = await site.ask('/assets/app.css')
  t.is(text.trim(), files['css/app.css'])
  await site.ask('/assets/kit.css')
  const inner = (await site.ask('/assets/npm/kit/a.css')).text
  t.is(inner, '@import "/assets/npm/-/kit/node_modules/in/a.css"; @import \'../x.css\'')
  t.is((await site.ask('/assets/npm/-/kit/node_modules/in/a.css')).status, 200)
})

test('a new version, a new package and an edit of one are in the next page', async t => {
  const files = {
    ...pkg('kit', { exports: { './css': './one.css' } }, { 'one.css': '.one {}' }),
    '/package.json': dependencies('kit', 'late'),
    'css/app.css': "@import 'kit/css';",
    'css/late.css': "@import 'late';"
  }
  const page = await makePage(t, files, { missing: 'warn' }, assets => assets.stylesheet('app'))
  const load = async (name = 'app.css') => {
    await page.ask('/')
    return urlsFrom(page, `/assets/${name}`)
  }
  t.deepEqual(await load(), ['/assets/app.css', '/assets/npm/kit/one.css'])
  t.is((await page.ask('/assets/late.css')).text, "@import 'late';")
  page.write('/node_modules/kit/one.css', '.edited {}')
  t.is((await page.ask('/assets/npm/kit/one.css')).text, '.edited {}')
  const second = { version: '2.0.0', exports: { './css': './two.css' } }
  for (const [path, text] of Object.entries(pkg('kit', second, { 'two.css': '' })))
    page.write(path, text)
  t.deepEqual(await load(), ['/assets/app.css', '/assets/npm/kit/two.css'])
  t.is((await page.ask('/assets/npm/kit/one.css')).status, 404)
  for (const [path, text] of Object.entries(pkg('late', { style: 'a.css' }, { 'a.css': '' })))
    page.write(path, text)
  t.deepEqual(await load('late.css'), ['/assets/late.css', '/assets/npm/late/a.css'])
})

for (const mode of MODES) {
  test(`stylesheets of packages get fingerprints without a second compilation (${mode})`, async t => {
    const { calls, compiler } = makeCounter('.own')
    const files = {
      ...pkg('kit', { style: 'a.css' }, { 'a.css': '.a { src: url(f.woff2) }', 'f.woff2': '' }),
      '/package.json': dependencies('kit'),
      'css/app.own': "@import 'kit';"
    }
    const site = await makeFingerprinted(t, mode, files, { compilers: [compiler] })
    const sheet = await site.path('app.css')
    const urls = await urlsFrom(site, sheet)
    t.is(urls.length, 3)
    for (const url of urls) t.regex(url, /-[\da-f]{32}\.\w+$/)
    t.is(calls.length, 1)
    await site.edit({ '/node_modules/kit/a.css': '.b {}' })
    t.is((await urlsFrom(site, await site.path('app.css'))).length, 2)
  })
}

test('a module gets the packages of its workspace member before those of the root', async t => {
  const files = {
    ...modulePkg('both', "export const both = 'root'"),
    '/package.json': '{ "workspaces": ["apps/*"] }',
    '/apps/web/package.json': dependencies('both', 'only'),
    'app.js':
      "import { both } from 'both'; import { only } from 'only/sub'; console.log(both, only)"
  }
  const inMember = Object.entries({
    ...modulePkg('both', "export const both = 'member'"),
    ...pkg('only', { exports: { './sub': './sub.js' } }, { 'sub.js': "export const only = 'only'" })
  })
  const member = Object.fromEntries(inMember.map(([path, text]) => [`/apps/web${path}`, text]))
  const page = await makePage(t, { ...files, ...member }, {})
  t.is((await page.ask('/assets/app.js')).status, 200)
  t.is((await page.load('both'))['both'], 'member')
  t.is((await page.load('only/sub'))['only'], 'only')
  for (const bundle of ['packages', true, false] as const) {
    const root = makeProject(t, placed({ ...files, ...member }))
    t.deepEqual((await run({ root, bundle })).warnings, [])
  }
  const named = await makePage(t, { ...files, ...member }, { packages: ['only/sub', false] })
  t.deepEqual(Object.keys(await named.imports()), ['only/sub'])
  rmSync(page.at('/apps/web/node_modules/both'), { recursive: true })
  t.is((await page.load('both'))['both'], 'root')
})

const WORKERS = {
  'build/w.mjs': "import './part.mjs'; import.meta.url",
  'build/part.mjs': "import '../img.js'",
  'img.js': "export const url = new URL('./img.png', import.meta.url)",
  'img.png': '',
  'classic.js': 'importScripts',
  'unused.mjs': ''
}
const WITH_WORKERS = {
  ...pkg('pdf', { exports: { '.': './x.js', './worker': { import: './build/w.mjs' } } }, WORKERS),
  ...pkg('other', {}, { 'w.js': '' }),
  '/package.json': dependencies('pdf', 'gone'),
  'js/app.ts': `new Worker(new URL('pdf/worker', import.meta.url) as URL, { type: 'module' })
    new Worker(new URL("pdf/classic.js", import.meta.url))`
}
const ASKED = ['build/part.mjs', 'build/w.mjs', 'classic.js', 'img.js', 'img.png']

test('of a package every server process serves the files to which modules refer, and no others', async t => {
  const root = makeProject(t, placed(WITH_WORKERS))
  for (const name of ASKED) {
    const site = await makeSite(t, {}, { root })
    t.is((await site.ask(`/assets/npm/pdf/${name}`)).status, 200, name)
    t.is((await site.ask('/assets/npm/pdf/unused.mjs')).status, 404)
  }
  const { text } = await (await makeSite(t, {}, { root })).ask('/assets/app.js')
  t.regex(text, /new URL\("\/assets\/npm\/pdf\/build\/w\.mjs", import\.meta\.url\)/)
  await run({ root, bundle: false })
  const names = Object.keys(readManifest(root).assets).filter(path => path.includes('/npm/'))
  const asked = ASKED.map(name => `/assets/npm/pdf/${name}`)
  t.deepEqual(names, asked)
})

const NOT_ASKED: Readonly<Record<string, string>> = {
  'pdf/gone.js': '',
  'other/w.js':
    ': other is installed, but is not a dependency in package.json: run npm install other',
  'gone/w.js': ': gone is not installed: run npm install gone',
  './pdf/worker.js': '',
  'pdf/../other/w.js': ''
}

test('a file of a package that a module cannot load is reported with its place and what to do', async t => {
  const urls = Object.keys(NOT_ASKED).map(path => `new URL('${path}', import.meta.url)`)
  const code = urls.join('\n')
  const site = await makeSite(t, { ...WITH_WORKERS, 'js/app.ts': code }, { missing: 'warn' })
  await site.ask('/assets/app.js')
  for (const [at, [path, advice]] of Object.entries(NOT_ASKED).entries()) {
    const place = `apps/web/assets/js/app.ts:${at + 1}:9`
    const told = `koa-fresh-assets: ${place} refers to ${path}, which was not found${advice}`
    t.deepEqual(warningsAbout(`${place} refers to ${path}`), [told])
  }
  const none = await makeSite(t, WITH_WORKERS, { packages: false, missing: 'warn' })
  await none.ask('/assets/app.js')
  t.is((await none.ask('/assets/npm/pdf/classic.js')).status, 404)
})
