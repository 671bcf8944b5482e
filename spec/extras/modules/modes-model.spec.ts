// Random projects, with a package in the layouts of package managers: what works in one mode does in all, and the same.
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { test } from '../../support/test.ts'
import { placed } from '../../support/fingerprinted.ts'
import { makeProject, writeFiles, type Files } from '../../support/site.ts'
import { cases } from '../../support/soak.ts'
import { outcomeOf } from './page.ts'

interface Import {
  /** Gives a value a name. */
  readonly write: (name: string) => string
  /** The value; undefined: it leads nowhere, and the package cannot be used. */
  readonly told?: unknown
}

const DATA = { a: 'json', 'b-c': [1] }
const OWN_FILES: Files = {
  'data.json': JSON.stringify(DATA),
  'list.json': '[1, 2]',
  'a.txt': 'text',
  'typed.mts': 'enum Size { Small = 3 }\nexport const told: number = Size.Small',
  'one.cjs': "module.exports = require('./list.json')",
  'asks.cjs': "exports.told = require('kit/two').told",
  'two.cjs': "exports.told = 'required'",
  'two.js': "export const told = 'imported'",
  'Lib.js': "export const told = 'Lib'",
  'lib.js': "export const told = 'lib'",
  'mapped.js':
    "export const told = 'mapped'\n//# sourceMappingURL=data:application/json;base64,AAAA"
}

const IMPORTS = {
  json: { write: name => `import ${name} from './data.json'`, told: DATA },
  'a name of JSON': { write: name => `import { a as ${name} } from './data.json'`, told: 'json' },
  'an array': {
    write: name => `import ${name} from './list.json' with { type: 'json' }`,
    told: [1, 2]
  },
  'an array later': {
    write: name =>
      `const ${name} = (await import('./list.json', { with: { type: 'json' } })).default`,
    told: [1, 2]
  },
  'JSON later': { write: name => `const ${name} = (await import('./data.json')).a`, told: 'json' },
  'required JSON': { write: name => `import ${name} from './one.cjs'`, told: [1, 2] },
  text: { write: name => `import ${name} from './a.txt'`, told: 'text' },
  TypeScript: { write: name => `import { told as ${name} } from './typed.mts'`, told: 3 },
  Lib: { write: name => `import { told as ${name} } from './Lib.js'`, told: 'Lib' },
  lib: { write: name => `import { told as ${name} } from './lib.js'`, told: 'lib' },
  'a broken map': {
    write: name => `import { told as ${name} } from './mapped.js'`,
    told: 'mapped'
  },
  itself: { write: name => `import { told as ${name} } from 'kit/own.js'`, told: 'own' },
  'what is for import': {
    write: name => `import { told as ${name} } from 'kit/two'`,
    told: 'imported'
  },
  'what is for require': {
    write: name => `import { told as ${name} } from './asks.cjs'`,
    told: 'required'
  },
  'another package': { write: name => `import { told as ${name} } from 'part'`, told: 'part' },
  'none later': { write: name => `const ${name} = await import('gone').catch(() => 0)`, told: 0 },
  'no package': { write: name => `import ${name} from 'gone'` },
  'no file': { write: name => `import ${name} from './gone.js'` },
  'no path': { write: name => `import ${name} from '/gone.js'` },
  'a scheme': { write: name => `import ${name} from 'virtual:x'` },
  'our scheme': { write: name => `import ${name} from 'package:kit'` }
} as const satisfies Record<string, Import>

/** Where a package is, and `part`, which it imports; `part` is that of the project where the package has none. */
const STORES: Readonly<Record<string, readonly [kit: string, part: string]>> = {
  flat: ['app/node_modules/kit', 'app/node_modules/part'],
  nested: ['app/node_modules/kit', 'app/node_modules/kit/node_modules/part'],
  above: ['node_modules/kit', 'node_modules/part'],
  pnpm: [
    'app/node_modules/.pnpm/kit@1/node_modules/kit',
    'app/node_modules/.pnpm/part@1/node_modules/part'
  ],
  'a store': ['store/kit/1/node_modules/kit', 'store/kit/1/node_modules/part'],
  'a store without it': ['store/kit/1/node_modules/kit', 'store/part/1/node_modules/part'],
  workspace: ['packages/kit', 'packages/part']
}

const aPlan = fc.record({
  store: fc.constantFrom(...Object.keys(STORES)),
  imports: fc.uniqueArray(fc.constantFrom(...(Object.keys(IMPORTS) as (keyof typeof IMPORTS)[])), {
    minLength: 1,
    maxLength: 4
  }),
  isTyped: fc.boolean(),
  missing: fc.constantFrom('warn' as const, 'error' as const),
  bundle: fc.constantFrom('packages' as const, true as const),
  isPartNamed: fc.boolean()
})
type Plan = typeof aPlan extends fc.Arbitrary<infer T> ? T : never

/** As htm has its module for Preact in the global store of pnpm. */
const IN_STORE: Plan = {
  store: 'a store without it',
  imports: ['another package', 'itself', 'what is for import', 'what is for require'],
  isTyped: false,
  missing: 'error',
  bundle: 'packages',
  isPartNamed: true
}

/** Both names are those of files that only pass on what a file of the package exports. */
const TWINS: Plan = {
  ...IN_STORE,
  store: 'flat',
  imports: ['none later', 'Lib', 'lib'],
  bundle: true
}

/** What awaits stands alone, and imports the module that is made of JSON. */
const APART: Plan = {
  ...IN_STORE,
  store: 'flat',
  imports: ['none later', 'an array', 'an array later']
}

const OWN = ['Own', 'own']

function make(top: string, { store, imports, isTyped, isPartNamed }: Plan): string {
  const [kit, part] = STORES[store] ?? ['', '']
  const main = isTyped ? 'index.ts' : 'index.js'
  const names = imports.map((_, at) => `v${at}`)
  const lines = imports.map((each, at) => IMPORTS[each].write(`v${at}`))
  const json = (name: string, given: object) =>
    JSON.stringify({ name, version: '1.0.0', type: 'module', ...given })
  const below = (folder: string, files: Files) =>
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]))
  const app = [
    "import { told as kit } from 'kit'",
    "import list from 'kit/list.json' with { type: 'json' }",
    "import data from 'kit/data.json' with { type: 'json' }",
    ...(isPartNamed ? ["import { told as part } from 'part'", 'void part'] : []),
    ...OWN.map(name => `import { own as ${name} } from '@/${name}.ts'`),
    `export const told = [kit, list, data, ${OWN.join(', ')}]`
  ]
  const source = Object.fromEntries(
    OWN.map(name => [`js/${name}.ts`, `export const own = '${name}'`])
  )
  const paths = { '@/*': ['./apps/web/assets/js/*'] }
  writeFiles(top, {
    ...below(kit, {
      ...OWN_FILES,
      'package.json': json('kit', {
        exports: {
          '.': `./${main}`,
          './*': './*',
          './two': { require: './two.cjs', import: './two.js' }
        }
      }),
      [main]: [...lines, `export const told = [${names.join(', ')}]`].join('\n'),
      'own.js': "export const told = 'own'"
    }),
    ...below(part, {
      'package.json': json('part', { exports: './index.js' }),
      'index.js': "export const told = 'part'"
    }),
    ...below('app', placed({ ...source, 'js/app.ts': app.join('\n') })),
    'app/tsconfig.json': JSON.stringify({ compilerOptions: { paths } })
  })
  for (const folder of [kit, part]) {
    const link = join(top, 'app/node_modules', folder.split('/').at(-1) ?? '')
    const isThere = /^(?:app\/)?node_modules\/\w+(?:\/node_modules\/\w+)?$/.test(folder)
    if (isThere) continue
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(top, folder), link)
  }
  return join(top, 'app')
}

test('model: what works in development works however it is joined, and the other way round', async t => {
  t.timeout(3_600_000)
  const property = fc.asyncProperty(aPlan, async plan => {
    const { imports, missing, bundle, store, isPartNamed } = plan
    const isLost = imports.some(each => !('told' in IMPORTS[each]))
    const told = imports.map(each => ('told' in IMPORTS[each] ? IMPORTS[each].told : undefined))
    // What is nested in another package is none of the project.
    const packages = isPartNamed && store !== 'nested' ? ['kit', 'part'] : ['kit']
    for (const way of ['development', false, bundle] as const) {
      const root = make(makeProject(t), { ...plan, isPartNamed: packages.length > 1 })
      const outcome = await outcomeOf(t, root, { packages, missing }, way)
      const where = `${way}: ${outcome.failed}`
      if (isLost) {
        t.regex(outcome.failed ?? '', /kit\/index\.[jt]s:? imports '[^']+', which is not/, where)
        continue
      }
      t.deepEqual(outcome.told, [told, [1, 2], DATA, ...OWN], where)
      t.deepEqual(outcome.preloaded, outcome.loaded, where)
    }
  })
  const seed = Number(process.env['SEED'] ?? 1)
  await fc.assert(property, {
    numRuns: cases(7, 150),
    seed,
    examples: [[IN_STORE], [TWINS], [APART]]
  })
})
