// Development and production agree on modules and packages, however these are joined.
import { posix } from 'node:path'
import { makeProject, placed, test } from '../../support/index.ts'
import { modulePkg, pkg } from './package-files.ts'
import { outcomeOf, WAYS } from './page.ts'

const MAP = { version: 3, sources: ['a.ts'], names: [], mappings: 'AAAA' }
/** Maps that no tool takes. */
const BROKEN: readonly unknown[] = [
  null,
  {},
  { ...MAP, mappings: '!!' },
  { ...MAP, sources: 'a.ts' }
]
const inline = (json: string) =>
  `sourceMappingURL=data:application/json;base64,${Buffer.from(json).toString('base64')}`

test('a broken source map is a warning with its file, joined and minified or not', async t => {
  const maps = ['no JSON', ...BROKEN.map(each => JSON.stringify(each))]
  const sound = JSON.stringify({ ...MAP, file: 1, sourcesContent: [1] })
  const modules = [...maps, sound].map((json, at): [string, string] => [
    `javascripts/m${at}.js`,
    `export const m = ${at}\n//# ${inline(json)}`
  ])
  const imports = modules.map((_, at) => `import { m as m${at} } from './m${at}.js'`)
  const told = `export const told = [${modules.map((_, at) => `m${at}`).join(', ')}]`
  const files = placed({
    ...Object.fromEntries(modules),
    'javascripts/app.js': [...imports, told].join('\n'),
    'stylesheets/site.css': `@import './part.css';\n/*# ${inline('no JSON')} */`,
    'stylesheets/part.css': `a { color: red }\n/*# ${inline('{}')} */`
  })
  const broken = ['stylesheets/part.css', 'stylesheets/site.css']
  const expected = modules.slice(0, -1).map(([name]) => name)
  for (const [way, minify, sheets] of [
    ['development', false, []],
    [false, true, broken],
    [true, false, broken],
    [true, true, broken]
  ] as const) {
    const root = makeProject(t, files)
    const outcome = await outcomeOf(t, root, { minify }, way)
    t.deepEqual(outcome.told, Array.from(modules.keys()), `${way}: ${outcome.failed}`)
    const warned = outcome.warnings.filter(each =>
      each.includes('a source map that cannot be read')
    )
    const all = way === 'development' ? [] : [...expected, ...sheets]
    const named = warned.map(each => each.replace(/ .*/, '').replace('apps/web/assets/', ''))
    t.deepEqual(named.toSorted(), all, `${way}, minify: ${minify}`)
  }
})

const JSX = "export const mark = <p>it's {1} and don't</p>"
/** What stands in front of the reference, by extension. */
const SYNTAX = {
  js: '',
  mjs: '',
  ts: 'type A = string',
  mts: 'type A = string',
  jsx: JSX,
  tsx: JSX
}

test('a module of a package refers to a file beside it, in whatever syntax it is written', async t => {
  const names = Object.keys(SYNTAX)
  const modules = Object.entries(SYNTAX).map(([name, code]): [string, string] => [
    `${name}.${name}`,
    `${code}\nexport const url = new URL('./${name}.svg', import.meta.url).pathname`
  ])
  const images = names.map((name): [string, string] => [`${name}.svg`, `<svg id="${name}"/>`])
  const index = names.map(name => `export { url as ${name} } from './${name}.${name}'`)
  const files = Object.fromEntries([...modules, ...images])
  const app = `import * as kit from 'kit'\nexport const told = Object.values(kit)`
  const runtime = { 'jsx-runtime.js': 'exports.jsx = exports.jsxs = (...all) => all' }
  const packages = { ...modulePkg('kit', index.join('\n'), files), ...pkg('react', {}, runtime) }
  const all = { ...packages, 'javascripts/app.js': app }
  for (const way of WAYS) {
    const root = makeProject(t, placed(all))
    const { told, failed, warnings } = await outcomeOf(t, root, { packages: ['kit'] }, way)
    t.is(failed, undefined, String(way))
    const urls = (told as readonly string[]).map(url => posix.basename(url).replace(/[-.].*/, ''))
    t.deepEqual(urls, names.toSorted(), String(way))
    t.deepEqual(warnings, [])
  }
})
