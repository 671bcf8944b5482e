// Source maps that no tool takes, in development and production.
import { makeProject, placed, test } from '../../support/index.ts'
import { outcomeOf } from './page.ts'

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
