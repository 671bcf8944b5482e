// Expressions such as process.env.NODE_ENV have one value in a module, however it is compiled and joined.
import { cases, makeProject, placed, test } from '../../support/index.ts'
import { modulePkg, pkg } from './package-files.ts'
import { outcomeOf, WAYS } from './page.ts'

type Both = readonly [code: string, development: unknown, production: unknown]

const same = (code: string, value: unknown): Both => [code, value, value]

const TEXT = 'process.env.NODE_ENV import.meta.env.DEV __VERSION__'

/** Whatever their syntax is: the model of references/constants.spec.ts has that. */
const EXPRESSIONS: readonly Both[] = [
  ['process.env.NODE_ENV', 'development', 'production'],
  ["process.env.NODE_ENV !== 'production' && [1]", [1], false],
  ['import.meta.env.MODE', 'development', 'production'],
  ['import.meta.env.DEV', true, false],
  ['import.meta.env.PROD', false, true],
  ['(({ MODE }) => MODE)(import.meta.env)', 'development', 'production'],
  ['`${import.meta.env.MODE}, ${__VERSION__}`', 'development, 1.0', 'production, 1.0'],
  same('import.meta.env.BASE_URL', '/'),
  same('import.meta.env.SSR', false),
  same('import.meta.env.VITE_API', 'https://api.example'),
  same('Object.keys(import.meta.env).includes("VITE_API")', true),
  same('__LIMITS__.most - __NONE__', 6),
  same(`"${TEXT}"`, TEXT),
  same('/process.env.NODE_ENV/.source', 'process.env.NODE_ENV')
]

const DEFINE = {
  __VERSION__: '1.0',
  __LIMITS__: { most: 5 },
  __NONE__: -1,
  'import.meta.env.VITE_API': 'https://api.example'
}

const IN_PACKAGES =
  "process.env.NODE_ENV, __VERSION__, __LIMITS__.most, (__VERSION__ => __VERSION__)('own')"

const list = EXPRESSIONS.map(([code]) => code).join(',\n')

test('constants such as import.meta.env.DEV have the same value in all modules, joined or not', async t => {
  const own = "export const own = (process => process.env.NODE_ENV)({ env: { NODE_ENV: 'mine' } })"
  const files = {
    'plain.js': `export const plain = [${list}]`,
    'typed.ts': `export const typed: unknown[] = [${list}]`,
    'jsx.jsx': `export const jsx = [${list}]`,
    'own.js': own,
    'later.js': "export const later = import.meta.env.DEV ? (await import('./dev.js')).dev : 0",
    'dev.js': 'export const dev = 1',
    'app.js': `import { plain } from './plain.js'
import { typed } from './typed.js'
import { jsx } from './jsx.js'
import { own } from './own.js'
import { mode } from 'kit'
export const told = import('./later.js').then(({ later }) => [plain, typed, jsx, own, mode, later])`
  }
  const kit = modulePkg(
    'kit',
    `import { more } from 'common'
import { built } from 'built'
export const mode = [...more, ${IN_PACKAGES}, import.meta.env.MODE, import.meta.env.VITE_API, typeof import.meta.hot, built]`
  )
  const common = pkg('common', { main: 'a.js' }, { 'a.js': `exports.more = [${IN_PACKAGES}]` })
  const browser = { development: './one.js', production: './two.js' }
  const built = pkg(
    'built',
    { exports: { '.': { browser, default: './none.cjs' } } },
    {
      'one.js': "export const built = 'development'",
      'two.js': "export const built = 'production'"
    }
  )
  const sources = Object.entries(files).map(([name, code]) => [`javascripts/${name}`, code])
  const all = { ...kit, ...common, ...built, ...Object.fromEntries(sources) }
  const root = makeProject(t, placed(all))
  for (const way of WAYS) {
    const isDeveloped = way === 'development'
    const values = EXPRESSIONS.map(([, one, other]) => (isDeveloped ? one : other))
    const mode = isDeveloped ? 'development' : 'production'
    const common = [mode, '1.0', 5, 'own']
    const kit = [...common, ...common, mode, 'https://api.example', 'undefined', mode]
    const expected = [values, values, values, 'mine', kit, isDeveloped ? 1 : 0]
    for (const minify of isDeveloped ? [false] : [true, false].slice(0, cases(1, 2))) {
      const options = { env: mode, packages: ['kit'], define: DEFINE, minify }
      const { told, failed, warnings } = await outcomeOf(t, root, options, way)
      t.deepEqual(told, expected, `${way}, minify: ${minify}: ${failed}`)
      t.deepEqual(warnings, [])
    }
  }
})
