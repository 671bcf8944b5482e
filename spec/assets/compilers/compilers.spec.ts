import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import test from 'ava'
import { loadPeer, TABLE, withPeer } from '../../../lib/assets/compilers/built-in.ts'
import type { Compiler } from '../../../lib/assets/compilers/compiler.ts'
import { assetSources } from '../../../lib/index.ts'
import { makeCounter } from '../../support/counting-compiler.ts'
import { readPublic, run } from '../../support/fingerprinted.ts'
import { type Files, makeProject, makeSite, writeFiles } from '../../support/site.ts'
import { withDigest } from '../../support/digest.ts'

const CSS = 'text/css; charset=utf-8'

test("CMP-11 a compiler of the user's own works like a built-in one, whatever it makes", async t => {
  for (const [target, type] of [
    ['.css', CSS],
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

test('CMP-11 a custom compiler overrides the built-in one, and is given its location', async t => {
  const told: unknown[] = []
  const compilers: Compiler[] = [
    {
      extensions: ['.scss', 'sass'],
      target: 'css',
      compile(input) {
        told.push(input)
        return Promise.resolve({ code: `/* mine */${input.code}` })
      }
    }
  ]
  const site = await makeSite(
    t,
    { 'css/a.css.scss': 'é{}', 'js/b.js': '' },
    { compilers, env: 'test' }
  )
  t.is((await site.ask('/assets/a.css')).text, '/* mine */é{}')
  t.deepEqual(told, [
    {
      code: 'é{}',
      path: site.at('css/a.css.scss'),
      env: 'test',
      sourceMap: false,
      loadPaths: [
        ...[site.at('').slice(0, -1), site.at('css'), site.at('js')],
        ...thirdPartyPaths(),
        ...nodeModulesOf(site.root)
      ]
    }
  ])
})

/** As Node looks for packages, without what it has for all programs of a user. */
function nodeModulesOf(directory: string): string[] {
  const paths = createRequire(join(directory, 'file.js')).resolve.paths('kit') ?? []
  return paths.slice(0, directory.split('/').length)
}

function thirdPartyPaths(): string[] {
  return assetSources.list().flatMap(directory => [directory, join(directory, 'styles')])
}

test('development has source maps inline, other environments have none', async t => {
  const files = {
    'css/s.css.scss': 'a { b: c }',
    'css/l.css.less': 'a { b: c }',
    'js/t.js.ts': 'let a: number = 1'
  }
  const development = await makeSite(t, files)
  const other = await makeSite(t, files, { env: 'test' })
  for (const name of ['s.css', 'l.css', 't.js']) {
    const { text } = await development.ask(`/assets/${name}`)
    const [, encoded = ''] =
      /sourceMappingURL=data:application\/json;(?:charset=utf-8;)?base64,([\w+/=]+)/.exec(text) ??
      []
    const map = Buffer.from(encoded, 'base64').toString()
    t.is(JSON.parse(map).sources.length, 1, name)
    t.false(map.includes(development.root), `${name} tells where the project lies`)
    t.false((await other.ask(`/assets/${name}`)).text.includes('sourceMappingURL'), name)
  }
})

test('a preprocessor source that is not UTF-8 is an error, never served raw', async t => {
  const latin = Buffer.from('a::after { content: "é" }', 'latin1')
  const site = await makeSite(t, { 'stylesheets/app.css.scss': latin })
  const { status, text } = await site.ask('/assets/app.css')
  t.is(status, 500)
  t.is(
    text,
    'This source does not compile\n\napps/web/assets/stylesheets/app.css.scss\n\nthe source must be UTF-8\n'
  )
})

// The optional peers: found in the project first, and as soon as they are installed.

const { resolve } = createRequire(import.meta.url)

for (const [extension, peer, code] of [
  ['css.scss', 'sass', 'a { b: c }'],
  ['css.less', 'less', 'a { b: c }'],
  ['js.ts', 'esbuild', 'go(1 as number)']
] as const) {
  test(`CMP-08 ${extension} without ${peer} is a 500 with the install command, until it is installed`, async t => {
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
    t.is(
      (await site.ask(url)).text,
      'This asset cannot be published\n\n' +
        `apps/web/assets/x/app.${extension} needs ${late}, which is not installed: npm install --save-dev ${late}\n`
    )
    t.is((await site.ask('/assets/plain.css')).text, 'a{}', 'the process lives')
    mkdirSync(site.at(folder), { recursive: true })
    t.is(await statusOf(), 500, 'its installation has begun')
    site.write(`${folder}/package.json`, JSON.stringify({ name: late, main: 'm.cjs' }))
    site.write(`${folder}/m.cjs`, "module.exports = require('not-there-yet')")
    t.is(await statusOf(), 500, 'what it needs is not there yet')
    const real = `require(${JSON.stringify(resolve(peer))})`
    site.write(`${folder}/node_modules/not-there-yet/index.js`, `module.exports = ${real}`)
    t.is(await statusOf(), 200)
    t.deepEqual(
      site.errors.map(error => 'code' in error && error.code),
      ['compiler-missing', 'compiler-missing', 'compile-failed']
    )
  })
}

test("the project's own peer comes before the one beside this package", async t => {
  const root = makeProject(t, {
    'node_modules/less/package.json': JSON.stringify({ name: 'less', main: 'index.cjs' }),
    'node_modules/less/index.cjs': `
      exports.FileManager = class {}
      exports.render = async () => ({ css: 'own {}', imports: [] })`
  })
  const site = await makeSite(t, { 'x/app.css.less': 'a { b: c }' }, { root, env: 'test' })
  t.is((await site.ask('/assets/app.css')).text, 'own {}')
})

test('a peer above the project, where a workspace keeps it, is found as well', async t => {
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

test('WAY-03 Sass, Less and references find packages in the node_modules of every folder above the root', async t => {
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
  for (const name of NAMES) {
    t.regex(readPublic(root, `/assets/${name}`).toString(), withDigest(/dial-DIGEST\.svg/), name)
  }
})

test('WAY-03 CMP-06a a nearer package that appears later is used, on request and by the second precompile', async t => {
  const root = join(makeProject(t, WORKSPACE), 'packages/web')
  const site = await makeSite(t, {}, { root, sources })
  const names = ['sass.css', 'less.css']
  for (const name of names) await site.ask(`/assets/${name}`)
  await run({ root, sources })
  writeFiles(join(root, '..'), {
    'node_modules/kit/package.json': '{ "name": "kit" }',
    'node_modules/kit/scss/kit.scss': '.nearer { a: b }',
    'node_modules/kit/less/kit.less': '.nearer { a: b }'
  })
  for (const name of names) t.regex((await site.ask(`/assets/${name}`)).text, /\.nearer/)
  await run({ root, sources })
  for (const name of names) t.regex(readPublic(root, `/assets/${name}`).toString(), /\.nearer/)
})

test('WAY-03 a package of the workspace itself, which npm links, is found', async t => {
  const top = makeProject(t, {
    'node_modules/.keep': '',
    'packages/kit/package.json': '{ "name": "kit", "version": "1.0.0" }',
    'packages/kit/scss/_kit.scss': ".kit { background: url('../images/dial.svg') }",
    'packages/kit/images/dial.svg': '<svg/>',
    [`${ASSETS}/stylesheets/app.css.scss`]: "@use 'kit/scss/kit'"
  })
  symlinkSync('../packages/kit', join(top, 'node_modules/kit'))
  const options = { root: join(top, 'packages/web'), sources: '../../../kit/images' }
  const site = await makeSite(t, {}, options)
  t.regex((await site.ask('/assets/app.css')).text, /url\("\/assets\/dial\.svg"\)/)
})
