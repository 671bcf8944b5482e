// Values in place of `process.env.…` and `import.meta.env.…`: source maps, errors and warnings name places in the source.
import { SourceMap, type SourceMapPayload } from 'node:module'
import { decode } from '@jridgewell/sourcemap-codec'
import { makeProject, makeSite, placed, run, test, warningsAbout } from '../../support/index.ts'
import { words } from '../../support/index.ts'

const CODE = [
  'export const mode = import.meta.env.MODE, after = f(1)',
  'export const own = import.meta',
  '  .env',
  '  .DEV, behind = f(2), both = f(process.env.NODE_ENV, import.meta.env.DEV, 3)',
  'throw new Error(mode)'
].join('\n')
const FILES = { 'plain.js': CODE, 'typed.js.ts': `let n: number = 1\n${CODE}` }
const INLINE = ['after = ', 'f(1)', 'own = ', 'behind = ', 'f(2)', 'both = ', '3)']

test('a large script gets no source map, which would be longer than the script', async t => {
  const large = `console.log(process.env.NODE_ENV, '${'x'.repeat(300_000)}')`
  const site = await makeSite(t, placed({ 'large.js': large }), { env: 'development' })
  const { text } = await site.ask('/assets/large.js')
  t.true(text === large.replace('process.env.NODE_ENV', '"development"'))
})

test('source maps stay correct after a replaced import.meta.env, in JavaScript and TypeScript', async t => {
  const root = makeProject(t, placed(FILES))
  const site = await makeSite(t, {}, { root, env: 'development' })
  for (const [name, source] of Object.entries(FILES)) {
    const { text } = await site.ask(`/assets/${name.replace('.ts', '')}`)
    t.true(text.includes('"development"') && !/\benv\b/.test(text), text)
    const [, data = ''] = /base64,(\S+)\s*$/.exec(text) ?? []
    const map = JSON.parse(Buffer.from(data, 'base64').toString()) as SourceMapPayload
    t.deepEqual(map.sourcesContent, [source])
    // In order, as readers of a map search by halves.
    for (const line of decode(map.mappings)) {
      const columns = line.map(([column]) => column)
      t.deepEqual(
        columns,
        columns.toSorted((a, b) => a - b)
      )
    }
    const entries = new SourceMap(map)
    const lines = [text, source].map(each => each.split('\n'))
    for (const place of [...INLINE, 'throw new', 'Error(']) {
      const [row, origin] = lines.map(all => all.findIndex(line => line.includes(place)))
      const column = lines[0]?.[row ?? 0]?.indexOf(place) ?? 0
      const entry = entries.findEntry(row ?? 0, column)
      const found = 'originalLine' in entry && [entry.originalLine, entry.originalColumn]
      t.deepEqual(found, [origin, lines[1]?.[origin ?? 0]?.indexOf(place)], `${name}: ${place}`)
    }
  }
})

test('an error after a replaced import.meta.env names its place in the source', async t => {
  const code = "import.meta.env.MODE; import './gone.js'"
  const root = makeProject(t, placed({ 'app.js': code }))
  const message = 'apps/web/assets/app.js:1:30 refers to ./gone.js'
  await t.throwsAsync(run({ root }), { message: new RegExp(message) })
})

test('import.meta.glob and an environment variable without a value are warnings with their places, in all environments', async t => {
  const uses = `export const a = process.env.API
export const b = [import.meta.env.VITE_A, process.env.API]
export const c = () => import.meta.glob("import.meta.glob()") // import.meta.glob`
  const files = { 'warned.js': uses, 'warned-too.js.ts': `type A = 1\n${uses}` }
  const root = makeProject(t, placed(files))
  const warning = (name: string, what: string) =>
    `uses ${name}, which ${what}: set define: { '${name}': … }`
  const warnings = [
    warning('process.env.API', 'browsers do not have'),
    warning('import.meta.env.VITE_A', 'is undefined'),
    'uses import.meta.glob, which is undefined: import each module'
  ]
  const places = words(
    `warned.js:1:18 warned.js:2:19 warned.js:3:24
    warned-too.js.ts:2:18 warned-too.js.ts:3:19 warned-too.js.ts:4:24`
  )
  const told = places.map((place, at) => `apps/web/assets/${place} ${warnings[at % 3]}`).toSorted()
  t.deepEqual((await run({ root })).warnings.toSorted(), told)
  const site = await makeSite(t, {}, { root, env: 'development' })
  for (const name of ['warned', 'warned-too']) await site.ask(`/assets/${name}.js`)
  const logged = warningsAbout('assets/warned').map(each => each.replace(/^koa-\S+ /, ''))
  t.deepEqual(logged.toSorted(), told)
  const define = { 'process.env.API': '/api', 'import.meta.env.VITE_A': null }
  t.deepEqual((await run({ root, define })).warnings.length, 2)
})

test('a published file is made again for another value of define, or another environment', async t => {
  const root = makeProject(t, placed({ 'app.js': '[__A__, import.meta.env.MODE]' }))
  const textWith = async (env: string, value: unknown) => {
    const site = await makeSite(t, {}, { root, env, compile: true, define: { __A__: value } })
    return (await site.ask('/assets/app.js')).text.split('\n')[0]
  }
  t.is(await textWith('development', 1), '[(1), "development"]')
  t.is(await textWith('development', 'a'), '["a", "development"]')
  t.is(await textWith('staging', { b: [null] }), '[({"b":[null]}), "staging"]')
})

test('environment values are put into all scripts, also classic ones, except in node_modules', async t => {
  const code = 'var mode = process.env.NODE_ENV'
  const sources = { dir: '../../node_modules/own', at: 'own' }
  const files = { 'classic.js': code, '/node_modules/own/b.js': code }
  const site = await makeSite(t, files, { env: 'development', sources: [sources] })
  const textOf = async (name: string) => (await site.ask(`/assets/${name}`)).text.split('\n')[0]
  t.is(await textOf('classic.js'), 'var mode = "development"')
  t.is(await textOf('own/b.js'), code)
})
