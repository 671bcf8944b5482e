import { join } from 'node:path'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { precompile } from '../../../lib/koa-assets.ts'
import { type CompileError, PrecompileError } from '../../../lib/runtime/errors.ts'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { installWithout, makeShop, run as runCommand } from '../../publishing/cli/run.ts'
import { APART, digestIn, digestOf, isPublic, makeProject, placed } from '../../support/index.ts'
import { readManifest, readMapped, readPublic, run, snapshot } from '../../support/index.ts'
import { targetOf, test, withDigest, writeFiles, type Files } from '../../support/index.ts'

async function minify(options: KoaAssetsOptions) {
  const warnings: string[] = []
  const warn = (message: string) => void warnings.push(message)
  return { ...(await precompile({ ...APART, ...options }, { minify: true, warn })), warnings }
}

async function makeMinified(t: Parameters<typeof makeProject>[0], files: Files) {
  const root = makeProject(t, placed(files))
  return { root, ...(await minify({ root })) }
}

const CSS = '/* why */\n.a {\n  color: red;\n}\n\n.b {\n  color: blue;\n}\n'
const JS = '// why\nfunction greet(somebody) {\n  return "Hello " + somebody\n}\n'

test('precompile minifies stylesheets and scripts, unless minify is false', async t => {
  const { root } = await makeMinified(t, { 'a.css': CSS, 'a.js': JS, 'm.mjs': `export ${JS}` })
  const text = (name: string) => readPublic(root, `/assets/${name}`).toString()
  t.is(text('a.css'), '.a{color:red}.b{color:#00f}\n')
  t.regex(text('a.js'), /^function greet\(\w\)\{return"Hello "\+\w\}/)
  const small = snapshot(join(root, 'public'))
  const { minified } = await precompile({ root, ...APART })
  t.deepEqual(snapshot(join(root, 'public')), small)
  t.like(minified, { files: 3, insteadOf: Buffer.byteLength(CSS + JS + `export ${JS}`) })
  t.true((minified?.bytes ?? Infinity) < 160)
  t.is((await precompile({ root, ...APART, minify: false })).minified, undefined)
  t.is(text('a.css'), CSS)
  const paths = ['/assets/a.css', '/assets/a.js', '/assets/m.mjs']
  t.deepEqual(Object.keys(readManifest(root).assets), paths)
})

test('with sourceMaps: false there is no source map', async t => {
  const root = makeProject(t, placed({ 'app.css': CSS, 'a.js': JS }))
  await minify({ root, sourceMaps: false })
  t.deepEqual(readdirSync(root).toSorted(), ['apps', 'public'])
  t.false(readPublic(root, '/assets/a.js').includes('sourceMappingURL'))
})

test('with sourceMaps: true a source map is an asset, under its plain name and with a fingerprint', async t => {
  const root = makeProject(t, placed({ 'app.css': CSS.repeat(9), 'scripts/sub/a.js': JS }))
  const { assets } = await minify({ root, sourceMaps: true })
  t.is(assets, 4)
  for (const name of ['/assets/app.css', '/assets/sub/a.js']) {
    const target = targetOf(root, `${name}.map`)
    t.is(readMapped(root, name).mapUrl, target)
    t.is(digestOf(readPublic(root, target)), digestIn(target) ?? '')
    t.deepEqual(readPublic(root, `${name}.map`), readPublic(root, target))
    t.is(digestOf(readPublic(root, targetOf(root, name))), digestIn(targetOf(root, name)) ?? '')
  }
})

test('precompile leaves no compressed copy of a source map', async t => {
  const rules = Array.from({ length: 99 }, (_, at) => `.a${at} { top: ${at}px }`)
  const files = { 'app.css': rules.join('\n'), 'own.js.map': `{ "version": 3 }${' '.repeat(999)}` }
  const root = makeProject(t, placed(files))
  const options = { root, sourceMaps: true }
  await minify(options)
  const maps = ['/assets/app.css.map', '/assets/own.js.map']
  const names = maps.flatMap(path => [path, targetOf(root, path)])
  const copies = names.flatMap(path => [`${path}.br`, `${path}.gz`, `${path}.zst`])
  for (const each of copies) t.false(isPublic(root, each), each)
  t.true(isPublic(root, '/assets/app.css.br'))
  for (const each of copies) writeFileSync(join(root, 'public', each), 'of an older version')
  await minify(options)
  for (const each of copies) t.false(isPublic(root, each), each)
})

for (const [extension, word, part] of [
  ['css.scss', '@use "../lib/part";', 'lib/_part.scss'],
  ['css.less', '@import "../lib/part.less";', 'lib/part.less']
] as const) {
  test(`the source map of minified CSS leads into .${extension} files and what these import`, async t => {
    const title = '.title { background: url(logo.png); outline: 7px; }'
    const nested = `\n\n// Nested.\n.card {\n  width: 1px;\n\n  ${title}\n}\n`
    const { root } = await makeMinified(t, {
      'images/logo.png': 'logo',
      [`stylesheets/main/app.${extension}`]: word + nested,
      [`stylesheets/${part}`]: '// part\n\n.part { color: green; }\n'
    })
    const { origin, map, text } = readMapped(root, '/assets/main/app.css')
    t.regex(text, withDigest(/logo-DIGEST\.png\);outline/))
    t.like(origin('outline'), { source: `app.${extension}`, line: 7, code: 'outline: 7px; }' })
    t.like(origin('.part'), { source: `../${part}`, line: 3 })
    t.false(JSON.stringify(map).includes(root))
  })
}

// Line 1 of the text is line 3 of its source.
const MAP = JSON.stringify({
  version: 3,
  sources: ['../src/app.coffee'],
  sourcesContent: ['# one\n# two\ngo = -> 1\n'],
  names: [],
  mappings: 'AAEA'
})
const BUILT = 'function go() { return 1 }\n//# sourceMappingURL='

const COLORS = ['oklch(70% 0.1 200)', 'OKLAB(0.5 0.1 0.1)', 'lab(50% 40 59.5/.5)', 'lch(50% 70 50)']

test('modern colors, such as oklch() and lab(), are not converted to older ones, not even in gradients', async t => {
  const kept = [...COLORS, 'color(srgb 1 0 0)', 'color(display-p3 1 0.5 0)']
  const rules = kept.map((color, at) => `.a${at} { color: ${color}; margin: 0px 0px }\n`)
  const gradient = '.g{background:linear-gradient(lab(50% 40 59.5),red)}'
  const more = `/*! lab( */\n${gradient}\n.h { color: hsl(120deg 100% 50%); content: "lch(\\e06f" }\n`
  const { root, warnings } = await makeMinified(t, {
    'a.css': rules.join('') + more,
    'b.css': 'a { color: oklch(70% 0.1 200); top: calc(oklch( }'
  })
  const css = readPublic(root, '/assets/a.css').toString()
  for (const [at, color] of kept.entries())
    t.true(css.includes(`.a${at}{color:${color.replaceAll(/\b0\./g, '.')};margin:0}`), css)
  t.true(css.includes(gradient))
  t.true(css.includes('.h{color:#0f0;content:"lch(\ue06f"}'))
  t.like(readMapped(root, '/assets/a.css').map, { sourcesContent: [rules.join('') + more] })
  t.false(/[\ue043-\ue06f](?!")/.test(css + warnings.join('')))
})

test('a file that has a linked or inline source map is mapped to the sources of that map', async t => {
  const inline = `data:application/json;base64,${Buffer.from(MAP).toString('base64')}`
  const { root } = await makeMinified(t, {
    'linked.js': `${BUILT}linked.js.map\n`,
    'linked.js.map': MAP,
    'aside.js': `${BUILT}maps/aside-of.js.map?v=1\n`,
    'maps/aside-of.js.map': MAP,
    'inline.js': `${BUILT}${inline}\n`,
    'linked.css': 'a { color: red }\n/*# sourceMappingURL=linked.css.map */\n',
    'linked.css.map': MAP
  })
  for (const name of ['linked.js', 'aside.js', 'inline.js', 'linked.css']) {
    const { origin, text } = readMapped(root, `/assets/${name}`)
    const found = origin(name.endsWith('.js') ? 'function' : 'a{')
    t.like(found, { source: '../src/app.coffee', line: 3 })
    t.false(text.includes('sourceMappingURL'))
  }
  t.is(readPublic(root, '/assets/aside-of.js.map').toString(), MAP)
})

test('a .min file is not minified again or given another source map', async t => {
  const { root } = await makeMinified(t, {
    'lib.min.js': `${JS}//# sourceMappingURL=lib.min.js.map\n`,
    'lib.min.js.map': MAP,
    'lib.min.css': CSS,
    'sass.min.css.scss': CSS
  })
  const target = targetOf(root, '/assets/lib.min.js.map')
  const text = (path: string) => readPublic(root, path).toString()
  t.is(text('/assets/lib.min.js'), `${JS}//# sourceMappingURL=${target}\n`)
  t.is(text(target), MAP)
  t.is(text('/assets/lib.min.css'), CSS)
  t.false(text('/assets/sass.min.css').includes('sourceMappingURL'))
})

test('a file that is empty, or that is not UTF-8, is published as it is', async t => {
  const files = { 'latin.css': Buffer.from('a { content: "é" }', 'latin1'), 'empty.js': '' }
  const { root } = await makeMinified(t, files)
  t.deepEqual(readPublic(root, '/assets/latin.css'), files['latin.css'])
  t.is(readPublic(root, '/assets/empty.js').length, 0)
})

test('with minify: true precompile reports all syntax errors instead of publishing anything', async t => {
  const { root } = await makeMinified(t, { 'good.js': JS })
  const before = snapshot(join(root, 'public'))
  const broken = {
    'good.js': 'better()',
    'logo.png': 'logo',
    'bad.js': 'let fine = 1\nlet = = 2\n',
    'made.js.x': '',
    'bad.css': 'a { background: url(logo.png) } b {} /* never closed'
  }
  writeFiles(root, placed(broken))
  const compilers = [{ extensions: '.x', target: '.js', compile: () => ({ code: 'let = = 2' }) }]
  const options = { root, compilers }
  const error = await t.throwsAsync(minify(options), { instanceOf: PrecompileError })
  const [css, js, made] = (error?.problems ?? []) as CompileError[]
  const at = (name: string) => ({ file: join(root, 'apps/web/assets', name) })
  t.like(css?.location, { ...at('bad.css'), line: 1, excerpt: broken['bad.css'] })
  t.deepEqual(js?.location, { ...at('bad.js'), line: 2, column: 7, excerpt: 'let = = 2' })
  t.deepEqual(made?.location, at('made.js.x'))
  t.regex(made?.message ?? '', /its compiled output cannot be minified: /)
  t.deepEqual(snapshot(join(root, 'public')), before)
})

test('by default a source that esbuild cannot parse is published as it is, with a warning', async t => {
  const bad = 'let fine = 1\nlet = = 2\n'
  const root = makeProject(t, placed({ 'bad.js': bad, 'good.js': JS }))
  const { minified, warnings } = await run({ root, minify: undefined, missing: 'ignore' })
  t.is(minified?.files, 1)
  t.deepEqual(warnings, ['apps/web/assets/bad.js:2:7: Unexpected "="; it is published unchanged'])
  t.is(readPublic(root, '/assets/bad.js').toString(), bad)
})

test('a warning of esbuild has its place in the source, also where that is Sass', async t => {
  const css = 'a {\n  *zoom: 1;\n}\n'
  const scss = `$one: 1;\n${css.replace('1', '$one')}`
  const { root, warnings } = await makeMinified(t, { 'hack.css': css, 'made.css.scss': scss })
  t.deepEqual(warnings.toSorted(), [
    'apps/web/assets/hack.css:2:3: Expected identifier but found "*"',
    'apps/web/assets/made.css.scss:3:3: Expected identifier but found "*"'
  ])
  t.regex(readPublic(root, '/assets/hack.css').toString(), /^a\{\*zoom: 1\}/)
})

test.serial('precompile --minify prints how much smaller the files became', async t => {
  const root = makeShop(t, { 'stylesheets/app.css': 'a {\n  color: red;\n}\n' })
  const { stdout } = await runCommand(root, 'precompile --minify')
  t.regex(stdout, /^Minified +1 file, 13 B instead of 20 B$/m)
  t.regex(readFileSync(join(root, 'public/assets/app.css'), 'utf8'), /^a\{color:red\}\n/)
})

test('without esbuild nothing is minified or joined, which is an error only if minify is set', async t => {
  const root = makeShop(t, {
    'app.css': '@import "part.css";',
    'part.css': 'a {\n  color: red;\n}\n',
    '/assets.config.mjs': 'export default { bundle: true }'
  })
  const runWithout = installWithout(root, 'esbuild')
  const missing = 'needs esbuild, which is not installed: npm install --save-dev esbuild'
  const { status, stdout } = await runWithout('precompile')
  t.is(status, 0)
  t.true(stdout.includes(`\nMinified     nothing: minifying ${missing}\n`), stdout)
  t.true(stdout.includes(`\nStylesheets  none is joined: joining stylesheets ${missing}\n`), stdout)
  t.truthy(readManifest(root).assets['/assets/part.css'])
  const asked = await runWithout('precompile --minify')
  t.is(asked.status, 1)
  t.true(asked.stderr.startsWith(`koa-fresh-assets: minifying ${missing}\n`), asked.stderr)
  const config = 'export default { apps: { web: { minify: true }, admin: {} } }'
  writeFiles(root, { 'assets.config.mjs': config, 'apps/admin/assets/a.txt': '' })
  t.is((await runWithout('precompile')).stderr, asked.stderr)
})
