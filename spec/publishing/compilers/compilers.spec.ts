import { mkdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, sep } from 'node:path'
import { inspect } from 'node:util'
import { findPeer, loadPeer, TABLE, withPeer } from '../../../lib/publishing/compilers/built-in.ts'
import type { Compiler } from '../../../lib/runtime/settings/compiler.ts'
import { errorPage } from '../../../lib/publishing/error-page.ts'
import type { Settings } from '../../../lib/runtime/settings/settings.ts'
import { AssetError, assetSources, CompileError } from '../../../lib/index.ts'
import { makeCounter, makeProject, makeSite, readPublic, run } from '../../support/index.ts'
import { targetOf, test, withDigest, writeFiles, type Files } from '../../support/index.ts'

test('a custom compiler works like a built-in one, whatever type of file it makes', async t => {
  for (const [target, type] of [
    ['.css', 'text/css; charset=utf-8'],
    ['txt', 'text/plain; charset=utf-8'],
    ['.html', 'text/html; charset=utf-8'],
    ['.svg', 'image/svg+xml']
  ] as const) {
    const { calls, compiler } = makeCounter('inc', target)
    const name = `page.${target.replace('.', '')}`
    const files = { [`pages/${name}.inc`]: 'import part.inc.txt\n', 'pages/part.inc.txt': 'one' }
    const site = await makeSite(t, files, { compilers: [compiler] })
    const first = await site.ask(`/assets/${name}`)
    t.deepEqual([first.status, first.text], [200, 'one\n'], target)
    t.is(first.headers['content-type'], type)
    t.deepEqual(calls, [site.at(`pages/${name}.inc`)])
    site.write('pages/part.inc.txt', 'two')
    t.is((await site.ask(`/assets/${name}`)).text, 'two\n')
    t.is((await site.ask(`/assets/${name}.inc`)).status, 404)
  }
})

test('a custom compiler in place of a built-in one gets the source, its path and the load paths', async t => {
  const told: unknown[] = []
  const compile: Compiler['compile'] = async input => {
    told.push(input)
    return { code: `/* mine */${input.code}` }
  }
  const compilers = [{ extensions: ['.scss', 'sass'], target: 'css', compile }]
  const files = { 'css/a.css.scss': 'é{}', 'js/b.js': '' }
  const site = await makeSite(t, files, { compilers, env: 'test' })
  t.is((await site.ask('/assets/a.css')).text, '/* mine */é{}')
  const folders = [site.at('').slice(0, -1), site.at('css'), site.at('js')]
  const loadPaths = [...folders, ...assetSources.list(), ...nodeModulesOf(site.root)]
  const text = { code: 'é{}', bytes: Buffer.from('é{}'), path: site.at('css/a.css.scss') }
  t.deepEqual(told, [{ ...text, env: 'test', sourceMap: false, loadPaths }])
})

/** As Node looks for packages, without what it has for all programs of a user. */
function nodeModulesOf(directory: string): string[] {
  const paths = createRequire(join(directory, 'file.js')).resolve.paths('kit') ?? []
  return paths.slice(0, directory.split(sep).length)
}

test('compiled files have inline source maps in development alone', async t => {
  const files = {
    'css/s.css.scss': 'a { b: c }',
    'css/l.css.less': 'a { b: c }',
    'js/t.js.ts': 'let a: number = 1'
  }
  const development = await makeSite(t, files)
  const other = await makeSite(t, files, { env: 'test' })
  for (const name of ['s.css', 'l.css', 't.js']) {
    const { text } = await development.ask(`/assets/${name}`)
    const [, encoded = ''] = /json;(?:charset=utf-8;)?base64,([\w+/=]+)/.exec(text) ?? []
    const map = Buffer.from(encoded, 'base64').toString()
    t.is(JSON.parse(map).sources.length, 1, name)
    t.false(map.includes(development.root), `${name} tells where the project lies`)
    t.false((await other.ask(`/assets/${name}`)).text.includes('sourceMappingURL'), name)
  }
})

test('a Sass file that is not UTF-8 is an error', async t => {
  const latin = Buffer.from('a::after { content: "é" }', 'latin1')
  const site = await makeSite(t, { 'stylesheets/app.css.scss': latin })
  const place = 'apps/web/assets/stylesheets/app.css.scss'
  t.like(await site.ask('/assets/app.css'), {
    status: 500,
    text: `This source does not compile\n\n${place}\n\nthe source must be UTF-8\n`
  })
})

test('sources may have CRLF and a byte order mark, be they copied or compiled', async t => {
  const copied = '\uFEFFa {\r\n  color: red;\r\n}\r\n'
  const site = await makeSite(t, {
    'css/copied.css': copied,
    'css/compiled.css.scss': '\uFEFF$c: red;\r\n\r\na {\r\n  color: $c;\r\n}\r\n'
  })
  t.is((await site.ask('/assets/copied.css')).text, copied)
  t.regex((await site.ask('/assets/compiled.css')).text, /a \{\s+color: red;\s+\}/)
})

test('scripts of every extension are sent as JavaScript, from .mts and .cts to .umd.cjs', async t => {
  const names = ['x/a.ts', 'x/b.mts', 'x/c.cts', 'x/d.js.mts']
  const files = Object.fromEntries(names.map(name => [name, 'go(1 as number)']))
  const site = await makeSite(t, { ...files, 'x/e.umd.cjs': 'go(1)' })
  for (const path of ['a.js', 'b.js', 'c.js', 'd.js', 'e.umd.cjs']) {
    const { status, text, headers } = await site.ask(`/assets/${path}`)
    t.deepEqual([status, text.split(';')[0]?.trim()], [200, 'go(1)'], path)
    t.is(headers['content-type'], 'text/javascript; charset=utf-8', path)
  }
})

// The optional peers: found in the project first, and as soon as they are installed.

const { resolve } = createRequire(import.meta.url)

for (const [extension, peer, code] of [
  ['css.scss', 'sass', 'a { b: c }'],
  ['css.less', 'less', 'a { b: c }'],
  ['js.ts', 'esbuild', 'go(1 as number)']
] as const) {
  test(`${extension} without ${peer} is a 500 with the install command, until it is installed`, async t => {
    // Loaded as ever, from a name under which nothing is installed.
    const late = `${peer}-late`
    const compilers = TABLE.map(row =>
      withPeer({ ...row, peers: row.peers.map(name => `${name}-late`) })
    )
    const files = { [`x/app.${extension}`]: code, 'x/plain.css': 'a{}' }
    const site = await makeSite(t, files, { compilers })
    const url = `/assets/app.${extension.split('.')[0]}`
    const folder = `/node_modules/${late}`
    const statusOf = async () => (await site.ask(url)).status
    const advice = `needs ${late}, which is not installed: npm install --save-dev ${late}`
    const told = `This cannot be published\n\napps/web/assets/x/app.${extension} ${advice}\n`
    t.is((await site.ask(url)).text, told)
    t.is((await site.ask('/assets/plain.css')).text, 'a{}', 'the process lives')
    mkdirSync(site.at(folder), { recursive: true })
    t.is(await statusOf(), 500, 'its installation has begun')
    site.write(`${folder}/package.json`, JSON.stringify({ name: late, main: 'm.cjs' }))
    site.write(`${folder}/m.cjs`, "module.exports = require('not-there-yet')")
    t.is(await statusOf(), 500, 'what it needs is not there yet')
    const real = `require(${JSON.stringify(resolve(peer))})`
    site.write(`${folder}/node_modules/not-there-yet/index.js`, `module.exports = ${real}`)
    t.is(await statusOf(), 200)
    const codes = site.errors.map(error => 'code' in error && error.code)
    t.deepEqual(codes, ['compiler-missing', 'compiler-missing', 'compile-failed'])
  })
}

test('a compiler that the project has installed comes before the one beside this package', async t => {
  const root = makeProject(t, {
    'node_modules/less/package.json': JSON.stringify({ name: 'less', main: 'index.cjs' }),
    'node_modules/less/index.cjs': `
      exports.FileManager = class {}
      exports.render = async () => ({ css: 'own {}', imports: [] })`
  })
  const site = await makeSite(t, { 'x/app.css.less': 'a { b: c }' }, { root, env: 'test' })
  t.is((await site.ask('/assets/app.css')).text, 'own {}')
})

test('a compiler that is installed at the root of a workspace is found', async t => {
  const workspace = makeProject(t, { 'packages/site/x': '' })
  const from = join(workspace, 'packages/site')
  const names = ['only-in-the-workspace']
  await t.throwsAsync(() => loadPeer(names, 'app.css', from), { code: 'compiler-missing' })
  writeFiles(workspace, {
    'node_modules/only-in-the-workspace/package.json': '{ "type": "module", "exports": "./m.js" }',
    'node_modules/only-in-the-workspace/m.js': 'export const found = true'
  })
  t.like(await loadPeer(names, 'app.css', from), { found: true })
})

test.serial('under Plug’n’Play one of several alternative compilers is enough', async t => {
  const { versions } = process
  Object.defineProperty(process, 'versions', { value: { ...versions, pnp: '3' } })
  t.teardown(() => Object.defineProperty(process, 'versions', { value: versions }))
  t.is((await findPeer(['not-installed', 'sass'], makeProject(t)))?.name, 'sass')
})

// A project in a workspace, whose packages npm has put into the node_modules of the workspace's root.

const ASSETS = 'packages/web/apps/web/assets'

const WORKSPACE: Files = {
  [`${ASSETS}/stylesheets/sass.css.scss`]: "@use 'kit/scss/kit'",
  [`${ASSETS}/stylesheets/pkg.css.scss`]: "@use 'pkg:kit/scss/kit'",
  [`${ASSETS}/stylesheets/less.css.less`]: "@import 'kit/less/kit';",
  [`${ASSETS}/stylesheets/plain.css`]: '.plain { background: url(kit/images/dial.svg) }',
  'node_modules/kit/package.json': '{ "name": "kit" }',
  'node_modules/kit/scss/kit.scss': ".kit { background: url('../images/dial.svg') }",
  'node_modules/kit/less/kit.less': ".kit { background: url('../images/dial.svg') }",
  'node_modules/kit/images/dial.svg': '<svg/>'
}

const sources = '../../../../node_modules/kit/images'
const NAMES = ['sass.css', 'pkg.css', 'less.css', 'plain.css']

test('Sass, Less and url() find packages in the nearest node_modules above', async t => {
  const root = join(makeProject(t, WORKSPACE), 'packages/web')
  const site = await makeSite(t, {}, { root, sources })
  for (const name of NAMES) {
    const { text } = await site.ask(`/assets/${name}`)
    t.regex(text, /url\("?'?\/assets\/dial\.svg/, `${name}: ${text}`)
  }
  t.is((await site.ask('/assets/dial.svg')).text, '<svg/>')
  site.write('kit/scss/kit.scss', '.ours { a: b }')
  t.regex((await site.ask('/assets/sass.css')).text, /\.ours/, 'node_modules comes last')
  rmSync(site.at('kit'), { recursive: true })
  await run({ root, sources })
  for (const name of NAMES)
    t.regex(readPublic(root, `/assets/${name}`).toString(), withDigest(/dial-DIGEST\.svg/), name)
  writeFiles(join(root, '../node_modules/kit'), {
    'package.json': '{ "name": "kit" }',
    'scss/kit.scss': '.nearer { a: b }',
    'less/kit.less': '.nearer { a: b }'
  })
  const compiled = ['sass.css', 'less.css']
  for (const name of compiled) t.regex((await site.ask(`/assets/${name}`)).text, /\.nearer/)
  await run({ root, sources })
  for (const name of compiled) t.regex(readPublic(root, `/assets/${name}`).toString(), /\.nearer/)
})

// What a source, or its compiler, does wrong.

const BROWSER = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }

/** The source, the column in its second line, and what is said of it. */
const BROKEN = {
  'css.scss': ['a {\n  b: $no;\n}', 6, 'Undefined variable.\n\n2 |   b: $no;\n         ^'],
  'css.sass': ['a\n  b: $no', 6, 'Undefined variable.\n\n2 |   b: $no\n         ^'],
  'css.less': ['a {\n  b: @no;\n}', 6, 'variable @no is undefined\n\na {\n  b: @no;\n}'],
  'js.ts': ['let a = 1\nlet b = ;', 9, 'Unexpected ";"\n\n2 | let b = ;\n            ^']
} as const

for (const [extension, [code, column, told]] of Object.entries(BROKEN)) {
  test(`a broken ${extension} is a page with file, line, column and excerpt, until it is right`, async t => {
    const source = `code/app.${extension}`
    const place = `apps/web/assets/${source}:2:${column}`
    const url = `/assets/app.${extension.replace(/\.[a-z]+$/, '')}`
    const site = await makeSite(t, {})
    for (const end of ['\r\n', '\n']) {
      site.write(source, code.replaceAll('\n', end) + end)
      const { status, text, headers } = await site.ask(url)
      t.deepEqual([status, headers['cache-control'], headers.etag], [500, 'no-store', undefined])
      t.is(headers['content-type'], 'text/plain; charset=utf-8')
      t.is(text, `This source does not compile\n\n${place}\n\n${told}\n`)
    }
    t.is(site.read(`/public${url}`), undefined)
    const [error, again] = site.errors as CompileError[]
    t.true(error instanceof CompileError)
    // As Koa logs it, without frames of a library, and as console.error does, with the cause.
    t.is(error?.stack, `CompileError: ${error?.message}\n  See ${error?.help}`)
    t.notRegex(inspect(error), /^\s+at /m)
    t.truthy(error?.cause)
    const line = `CompileError: ${again?.message.split('\n')[0]}`
    t.is(again?.stack, line, 'what is in the log already is one line')

    const html = await site.ask(url, BROWSER)
    t.is(html.headers['content-type'], 'text/html; charset=utf-8')
    t.true(html.text.includes(`<code>${place}</code>`))
    t.true(html.text.includes('<title>This source does not compile</title>'))
    t.false(html.text.includes(site.root))
    const head = await site.ask(url, { method: 'HEAD' })
    t.deepEqual([head.status, head.text], [500, ''])

    site.write(source, '')
    t.is((await site.ask(url)).status, 200)
    t.is(site.errors.length, 4)
  })
}

for (const env of ['production', 'test']) {
  const options = { env, compile: true, fingerprint: false }

  test(`in ${env} visitors get the last good version of a broken source, or a bare 500`, async t => {
    const site = await makeSite(t, { 'css/app.css.scss': 'a { b: $x }' }, options)
    const answer = await site.ask('/assets/app.css', BROWSER)
    t.like(answer, { status: 500, text: 'Internal Server Error' })
    t.is(site.errors.splice(0).length, 1)
    site.write('css/app.css.scss', 'a { b: good }')
    const good = await site.ask('/assets/app.css')
    site.write('css/app.css.scss', 'a { b: $x }')
    const next = await makeSite(t, {}, { ...options, root: site.root })
    for (const { ask, errors } of [site, next]) {
      for (const emitted of [1, 2]) {
        const { status, text, headers } = await ask('/assets/app.css')
        t.deepEqual([status, text, headers.etag], [200, good.text, good.headers.etag])
        t.is(errors.length, emitted)
      }
    }
    const message = `${site.at('css/app.css.scss')}:1:8: Undefined variable.`
    t.like(site.errors[0], { code: 'compile-failed', message })
    site.write('css/app.css.scss', 'a { b: fixed }')
    t.regex((await site.ask('/assets/app.css')).text, /fixed/)
  })
}

const thrown = (error: unknown) => () => {
  throw error
}

test('whatever a compiler throws, or returns by mistake, is reported with its source', async t => {
  const wrong = 'the compiler for .x must return { code, dependencies }, got'
  for (const [compile, reason] of [
    [thrown('no luck'), "'no luck'"],
    [thrown(undefined), 'undefined'],
    [thrown({ odd: true }), '{ odd: true }'],
    [thrown(new TypeError('a bug')), 'a bug'],
    [thrown(Object.freeze(new Error('frozen'))), 'frozen'],
    [() => undefined, `${wrong} undefined`],
    [() => null, `${wrong} null`],
    [() => 'css', `${wrong} 'css'`],
    [() => ({ code: 42 }), `${wrong} { code: 42 }`],
    [() => ({ code: [42] }), `${wrong} { code: [Array] }`],
    [() => ({ code: '', dependencies: 'a' }), `${wrong} { code: '', dependencies: 'a' }`],
    [() => ({ code: '', dependencies: [1] }), `${wrong} { code: '', dependencies: [Array] }`]
  ] as const) {
    const compilers = [{ extensions: '.x', target: '.css', compile: compile as never }]
    const site = await makeSite(t, { 'css/a.css.x': '', 'css/b.css': 'b{}' }, { compilers })
    const text = `This source does not compile\n\napps/web/assets/css/a.css.x\n\n${reason}\n`
    t.like(await site.ask('/assets/a.css'), { status: 500, text })
    t.is((await site.ask('/assets/b.css')).status, 200)
  }
})

test('a compiler may return bytes instead of text, even for a stylesheet with references', async t => {
  const compile: Compiler['compile'] = ({ bytes }) => ({ code: bytes.map(byte => byte - 1) })
  const compilers = ['.png', '.css'].map(target => ({ extensions: `${target}1`, target, compile }))
  const image = Buffer.from('00ff80c3', 'hex')
  const latin = Buffer.from('a { b: "\xff" }', 'latin1')
  const css = (url: string) => `a { background: url(${url}) }`
  const later = (bytes: Buffer) => bytes.map(byte => byte + 1)
  const app = later(Buffer.from(css('dot.png')))
  const files = { 'dot.png1': later(image), 'app.css1': app, 'latin.css1': later(latin) }
  const site = await makeSite(t, files, { compilers })
  t.deepEqual((await site.ask('/assets/dot.png')).bytes, image)
  t.is((await site.ask('/assets/app.css')).text, css('dot.png'))
  t.deepEqual((await site.ask('/assets/latin.css')).bytes, latin)
  await run({ root: site.root, compilers })
  const text = readPublic(site.root, targetOf(site.root, '/assets/app.css'))
  t.is(String(text), css(targetOf(site.root, '/assets/dot.png')))
})

test('the error page shortens paths below the root and no other text', async t => {
  const apps = [{ sources: [{ dir: '/kit/assets' }] }]
  const page = (root: string, error: AssetError) =>
    errorPage(error, { root, apps } as unknown as Settings, 'text')
  const [file, excerpt] = ['apps/web/a.css.scss', '@import "/assets/app.css", "/application.css"']
  const location = { file: `/app/${file}`, line: 1, column: 3, excerpt }
  const error = new CompileError('/app/x.css and /apple', location)
  const head = 'This source does not compile\n\n'
  const told = `${head}${file}:1:3\n\nx.css and /apple\n\n1 | ${excerpt}\n      ^\n`
  t.is(await page('/app', error), told)
  const bad = new CompileError('bad', { file: `/${file}`, line: 1 })
  t.is(await page('/', bad), `${head}${file}:1\n\nbad\n`)
})
