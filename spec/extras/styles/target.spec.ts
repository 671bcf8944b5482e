import { SourceMap, type SourceMapPayload } from 'node:module'
import { browsersOf, lackingIn } from '../../../lib/extras/styles/browsers.ts'
import type { KoaAssetsOptions } from '../../../lib/koa-assets.ts'
import { installWithout } from '../../publishing/cli/run.ts'
import { makeFingerprinted, makeProject, makeSite, MODES, placed } from '../../support/index.ts'
import { readPublic, run, targetOf, test, warningsAbout } from '../../support/index.ts'
import type { ExecutionContext, Files } from '../../support/index.ts'
import { LAYERED } from '../../../lib/runtime/settings/table.ts'

async function published(
  t: ExecutionContext,
  files: Files,
  name: string,
  options: KoaAssetsOptions
) {
  const all: Record<string, string> = {}
  const site = await makeSite(t, files, options)
  all['development'] = (await site.ask(`/assets/${name}`)).text
  for (const mode of MODES) {
    const other = await makeFingerprinted(t, mode, files, options)
    all[mode] = (await other.ask(await other.path(name))).text
  }
  const root = makeProject(t, placed(files))
  // Where modules can be joined, they are.
  const joined: object = 'bundle' in LAYERED ? { bundle: true } : {}
  for (const [way, more] of Object.entries({ minified: {}, joined })) {
    await run({ ...options, root, minify: true, ...more })
    all[way] = readPublic(root, targetOf(root, `/assets/${name}`)).toString()
  }
  return Object.entries(all).map(([way, text]) => {
    const code = text.replace(/\n?\/[/*]# sourceMappingURL=.*$/s, '')
    return [way, code.replaceAll(/\s+/g, '').replaceAll(';}', '}')] as const
  })
}

const SELECT = ['a { user-select: none }', 'a{-webkit-user-select:none;user-select:none}'] as const
const OLD = ['chrome80', 'firefox72', 'safari13']
const BLURRED = 'a{-webkit-backdrop-filter:none;backdrop-filter:none}'
const LAB = 'a{color:#b95857!important;color:lab(50%4020)!important}'
const SHEETS: ReadonlyArray<readonly [target: string | string[], css: string, made: string]> = [
  ['safari17.5', ...SELECT],
  ['baseline widely available', ...SELECT],
  ['safari17.5', 'a { backdrop-filter: none }', BLURRED],
  [OLD, 'a { & b { top: 0 } }', 'ab{top:0}'],
  [OLD, 'a { inset: 0 }', 'a{top:0;right:0;bottom:0;left:0}'],
  [OLD, 'a { top: 0; right: 0; bottom: 0; left: 0 }', 'a{top:0;right:0;bottom:0;left:0}'],
  ['chrome125', 'a { & b { inset: 0 } }', 'a{&b{inset:0}}'],
  ['chrome125', 'a { color: oklch(60% 0.1 200) }', 'a{color:oklch(60%0.1200)}'],
  [OLD, 'a { color: oklch(60% 0.1 200) }', 'a{color:#0d9298;color:oklch(60%0.1200)}'],
  [OLD, 'a { color: lab(50% 40 20) !important }', LAB],
  [OLD, 'a { --b: oklch(60% 0.1 200) }', 'a{--b:oklch(60%0.1200)}'],
  [OLD, 'a { content: "oklch(1)" }', 'a{content:"oklch(1)"}']
]

test('stylesheets get the syntax and the prefixes that the target needs, in every mode', async t => {
  for (const [target, css, made] of SHEETS) {
    const all = await published(t, { 'app.css': css }, 'app.css', { target })
    // Minifying writes numbers shorter.
    for (const [way, text] of all)
      t.is(text, /minified|joined/.test(way) ? made.replaceAll('0.1200', '.1200') : made, css)
  }
})

test('scripts get the syntax of the target, compiled, plain and joined', async t => {
  const files = {
    'javascripts/part.js': 'export const or = (a, b) => a ?? b',
    'javascripts/plain.js':
      "import { or } from './part.js'\nglobalThis.told = or(globalThis.a?.b, 1n)",
    'javascripts/typed.ts':
      "import { or } from './part.js'\nglobalThis.told = or(globalThis.a?.b as string, '')"
  }
  for (const name of ['plain.js', 'typed.js']) {
    for (const [way, text] of await published(t, files, name, { target: ['chrome67'] }))
      t.notRegex(text, /\?\.|\?\?/, `${way}: ${name}`)
    for (const [way, text] of await published(t, files, name, { target: 'es2020' }))
      t.regex(text, /\?\./, `${way}: ${name}`)
  }
})

test('the source map of development shows the stylesheet as it was written', async t => {
  const css = 'a {\n  color: oklch(60% 0.1 200);\n  top: 0 }'
  const site = await makeSite(t, { 'app.css': css }, { target: OLD })
  const { text } = await site.ask('/assets/app.css')
  const [, data = ''] = /base64,(\S+)/.exec(text) ?? []
  const map = JSON.parse(Buffer.from(data, 'base64').toString()) as SourceMapPayload
  t.deepEqual(map.sourcesContent, [css])
  const line = text.split('\n').findIndex(each => each.includes('top:'))
  t.like(new SourceMap(map).findEntry(line, 2), { originalLine: 2 })
})

const GRADIENT = 'a { background: linear-gradient(in oklch, red, blue) }'
/** What is told of a source, from its place on; the target of stylesheets is OLD. */
const WARNED: ReadonlyArray<readonly [name: string, text: string, told: RegExp, target?: string]> =
  [
    ['app.css', 'a {\n  color: light-dark(red, blue) }', /:2:10: light-dark\(\) .* and chrome80 /],
    ['app.css', 'a { --b: oklch(60% 0.1 200) }', /:1:10: a modern color in a custom/],
    ['app.css', GRADIENT, /:1:\d+: a gradient with a color space is not/],
    ['app.css', 'a:has(b) { top: 0 }', /:1:2: :has\(\) is not lowered/],
    ['app.css', 'a { & b, c { & + & { top: 0 } } }', /:1:\d+: .* CSS nesting syntax is not /],
    ['app.css.scss', '$a: 1;\n\na { color: light-dark(red, blue) }', /:3:\d+: light-dark\(\)/],
    [
      'app.js',
      '\nawait 1; export {}',
      /:2:1: Top-level await .*; it is left unchanged/,
      'chrome67'
    ],
    ['app.ts', '\n\nexport const big = 10n', /:3:20: Big integer literals are not/, 'chrome60'],
    ['app.js', "import './a.css' with { type: 'css' }", /:1:18: a stylesheet as/, 'chrome100']
  ]

test('syntax that esbuild cannot lower is a warning with its name and place', async t => {
  for (const [name, text, told, target = OLD] of WARNED) {
    const files = { [name]: text, 'a.css': '' }
    const site = await makeSite(t, files, { target })
    const path = `/assets/${name.replace('.scss', '').replace('.ts', '.js')}`
    t.is((await site.ask(path)).status, 200)
    t.regex(warningsAbout(`${name}:`).at(-1) ?? '', told)
    const root = makeProject(t, placed(files))
    const { warnings } = await run({ root, target, missing: 'ignore' })
    const isTold = warnings.some(each => each.includes(`${name}:`) && told.test(each))
    t.true(isTold, warnings.join('\n'))
  }
  const text = '/* light-dark() */ a:has(b) { content: ":has(" }'
  const root = makeProject(t, placed({ 'app.css': text }))
  t.deepEqual((await run({ root, target: 'chrome125' })).warnings, [])
})

/** Texts that old browsers do not know and that esbuild leaves as they are, or makes a call that throws. */
const UNKNOWN: readonly (readonly [feature: string, text: string])[] = [
  ['light-dark()', 'a{color:light-dark(red,#00f)}'],
  ['color-mix()', 'a{color:color-mix(in oklab,red,#00f)}'],
  ...['rgb(from red r g b)', 'hsl(from red h s l)', 'oklch(from red l c h)'].map(
    color => ['a color made from another', `a{color:${color}}`] as const
  ),
  ...['oklch(60% .1 200)', 'lab(50% 4 20)', 'hwb(120 10% 10%)'].map(
    color => ['a modern color in a custom property', `a{--b:${color}}`] as const
  ),
  ...['in oklab', 'in rec2020', 'in hsl longer hue'].map(
    space => ['a gradient with a color space', `a{b:linear-gradient(${space},red,#00f)}`] as const
  ),
  [':has()', 'a:has(b){top:0}'],
  [':is()', ':is(a,b) c{top:0}'],
  [':where()', ':where(a,b){top:0}'],
  [':not() with a list', ':not(a,b){top:0}'],
  [':focus-visible', 'a:focus-visible{top:0}'],
  ['@container', '@container (width>1px){a{top:0}}'],
  ['@layer', '@layer b{a{top:0}}'],
  ['@layer', '@import"a.css"layer(b);'],
  ['@scope', '@scope (.a){b{top:0}}'],
  ['subgrid', 'a{grid-template-columns:subgrid}'],
  ['an import attribute', 'import a from"./a.json"with{type:"json"};a()'],
  ['an import attribute', 'import("./a.json",{with:{type:"json"}});'],
  ['a stylesheet as a module', 'import a from"./a.css"with{type:"css"};a()'],
  ['a lookbehind in a regular expression', 'go(/(?<=a)b/)'],
  ['a modifier in a regular expression', 'go(/(?i:a)/)']
]

test('syntax is reported only for browsers of the target that lack it', t => {
  const never: Record<string, string> = { 'a stylesheet as a module': 'safari26.2' }
  for (const [feature, text] of UNKNOWN) {
    const isCss = !/import[( ]|go\(/.test(text)
    const told = (browser: string) => lackingIn(text, isCss, [browser]).map(({ name }) => name)
    for (const old of ['chrome61', 'firefox67', 'safari8', 'ios8', 'edge18', 'ie11'])
      t.deepEqual(told(old), [feature], `${old}: ${text}`)
    for (const current of ['chrome150', 'firefox150', 'safari26.2', 'node24'])
      t.deepEqual(told(current), current === never[feature] ? [feature] : [], `${current}: ${text}`)
  }
})

test('all of a file but the syntax that esbuild cannot lower is lowered, with one warning', async t => {
  const files = { 'app.js': 'const [one] = globalThis.all ?? []\nconst [two] = [one?.two]' }
  const root = makeProject(t, placed(files))
  const told =
    /^apps\/web\/assets\/app\.js:1:7: Transforming destructuring .* is not supported yet; it is left unchanged$/
  for (const minify of [false, true]) {
    const { warnings } = await run({ root, target: 'safari13', minify })
    t.regex(warnings.join('\n'), told)
    t.notRegex(readPublic(root, targetOf(root, '/assets/app.js')).toString(), /\?\?|\?\./)
  }
})

test('a script that does not parse is published as it is, with a warning, until it is repaired', async t => {
  const site = await makeSite(t, { 'app.js': 'var class' }, { target: 'chrome67', revalidate: 0 })
  t.is((await site.ask('/assets/app.js')).text, 'var class')
  const told = warningsAbout('app.js:1:5').at(-1) ?? ''
  t.regex(told, /Expected identifier.*; it is published unchanged/)
  site.write('app.js', 'go(a ?? b)')
  t.notRegex((await site.ask('/assets/app.js')).text, /\?\?/)
})

test('a missing file is reported at its place in the source, even in a lowered stylesheet', async t => {
  const files = { 'app.css': '/* a */ b { & c { top: 0 } }\n\n  d { background: url(none.png) }' }
  const root = makeProject(t, placed(files))
  const error = await t.throwsAsync(run({ root, target: OLD }))
  t.regex(error?.message ?? '', /app\.css:3:\d+ refers to none\.png, which was not found/)
})

test('a query of browserslist as target means the oldest version of each browser', async t => {
  const of = (target: string | readonly string[]) => browsersOf(target, process.cwd())
  t.deepEqual(await of('Chrome109, safari15.4'), ['chrome109', 'safari15.4'])
  t.deepEqual(await of(['es2020', 'ios14']), ['es2020', 'ios14'])
  t.deepEqual(await of('chrome 100-102, ios 15.2-15.3'), ['chrome100', 'ios15.2'])
  const mixed = await of(['firefox >= 110 and firefox < 112', 'and_chr 200 or chrome 90'])
  t.deepEqual(mixed.toSorted(), ['chrome90', 'firefox110'])
  const baseline = (await of('baseline widely available')).map(each => each.replace(/[\d.]+/, ''))
  t.deepEqual(baseline.toSorted(), ['chrome', 'edge', 'firefox', 'ios', 'safari'])
  for (const target of [['nonsense 1'], ['es2020', 'nonsense 1']])
    await t.throwsAsync(of(target), { message: /the option target cannot be '.*nonsense 1': / })
  await t.throwsAsync(of('op_mini all'), { message: /it matches no browser that esbuild knows/ })
  const message = /target must be browsers, such as/
  for (const target of [42, '', [], ['chrome1', 2], 'chrom100', 'es2020, ie_6, chrome1.2.3.4'])
    await t.throwsAsync(makeSite(t, {}, { target } as never), { message })
})

test('the option target without browserslist or esbuild is an error that says what to install', async t => {
  for (const [peer, target] of Object.entries({ browserslist: 'defaults', esbuild: 'chrome100' })) {
    const config = { '/assets.config.json': JSON.stringify({ target }) }
    const root = makeProject(t, placed({ 'app.css': 'a {}', ...config }))
    const { status, stderr } = await installWithout(root, peer)('precompile')
    t.is(status, 1)
    const reason = `the option target.* needs ${peer}, which is not installed: npm install`
    t.regex(stderr, new RegExp(reason))
  }
})
