import { symlinkSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { ListedAsset } from '../../lib/assets/inspecting/list-assets.ts'
import type { Files } from '../support/site.ts'
import { makeShop, run, runBuilt } from './run.ts'

const MODULES = resolve('node_modules')

/** What `list` finds, which shows the options that it was given. */
async function listed(root: string, line = 'list --json', env?: NodeJS.ProcessEnv) {
  const { status, stdout, stderr } = await run(root, line, env)
  if (status !== 0) return stderr
  return (JSON.parse(stdout) as ListedAsset[]).map(({ path }) => path)
}

function makeConfigured(t: ExecutionContext, files: Files): string {
  return makeShop(t, { 'a.txt': 'a', ...files })
}

/** Gives a project a package that this one has. */
function install(root: string, name: string): void {
  mkdirSync(join(root, 'node_modules'))
  symlinkSync(join(MODULES, name), join(root, 'node_modules', name))
}

const PREFIX = "prefix: '/static'"

for (const [name, text] of [
  ['assets.config.json', '{ "prefix": "/static" }'],
  ['assets.config.mjs', `export default { ${PREFIX} }`],
  ['assets.config.mts', `export default { ${PREFIX} as string }`],
  ['assets.config.ts', `interface A { prefix: string }\nexport default { ${PREFIX} } satisfies A`]
] as const) {
  test.serial(`the options come from ${name}`, async t => {
    const root = makeConfigured(t, { [`/${name}`]: text })
    if (name.endsWith('ts')) install(root, 'tsx')
    t.deepEqual(await listed(root), ['/static/a.txt'])
  })
}

test.serial('the options may be a function or a promise, and can read the environment', async t => {
  const root = makeConfigured(t, {
    '/package.json': '{ "type": "module" }',
    '/assets.config.js': 'export default async () => ({ prefix: `/${process.env.NODE_ENV}` })',
    '/other.mjs': 'export default Promise.resolve({ prefix: "/other" })'
  })
  t.deepEqual(await listed(root, 'list --json --env staging'), ['/staging/a.txt'])
  t.deepEqual(await listed(root, 'list --json --config other.mjs'), ['/other/a.txt'])
})

test.serial(
  'without a file the defaults apply; --root takes precedence over the root in the file',
  async t => {
    const root = makeConfigured(t, {
      '/elsewhere.json': '{ "root": "empty" }',
      '/empty/public/robots.txt': 'x'
    })
    t.deepEqual(await listed(root), ['/assets/a.txt'])
    t.deepEqual(await listed(root, 'list --json --config elsewhere.json'), [])
    t.deepEqual(await listed(root, 'list --json --config elsewhere.json --root .'), [
      '/assets/a.txt'
    ])
  }
)

test.serial('the error for a file that cannot be loaded has its name and the reason', async t => {
  for (const [name, text, reason] of [
    [
      'assets.config.mjs',
      'export default 42',
      /must be the options of koaAssets\(\), .* got 42\n$/
    ],
    ['assets.config.mjs', 'throw new Error("no luck")', /no luck\n$/],
    ['assets.config.mjs', 'import "./absent.mjs"', /Cannot find module .*absent\.mjs/],
    ['assets.config.json', '{', /JSON/]
  ] as const) {
    const { status, stdout, stderr } = await run(makeConfigured(t, { [`/${name}`]: text }), 'list')
    t.is(status, 1)
    t.is(stdout, '')
    t.true(stderr.startsWith(`koa-fresh-assets: cannot load ${name}: `), stderr)
    t.regex(stderr, reason)
  }
})

test.serial('a package that the file imports adds its assets', async t => {
  const root = makeConfigured(t, {
    '/package.json': '{ "type": "module" }',
    '/assets.config.js': 'import "a-package"\nexport default {}',
    '/node_modules/a-package/package.json': '{ "type": "module", "exports": "./index.js" }',
    '/node_modules/a-package/index.js': `import { assetSources } from 'koa-fresh-assets'
      assetSources.append(import.meta.dirname + '/assets')`,
    '/node_modules/a-package/assets/javascripts/theirs.js': ''
  })
  symlinkSync(process.cwd(), join(root, 'node_modules/koa-fresh-assets'))
  t.deepEqual(await listed(root), ['/assets/a.txt', '/assets/theirs.js'])
})

test.serial("where Node cannot import TypeScript, the project's tsx does", async t => {
  const root = makeConfigured(t, {
    '/package.json': '{ "type": "module" }',
    '/assets.config.ts': `import { prefix } from './prefix.ts'\nexport default { prefix } satisfies object`,
    '/prefix.ts': 'export const prefix: string = "/static"'
  })
  install(root, 'tsx')
  const outcome = await runBuilt(root, 'list')
  t.is(outcome.stderr, '')
  t.regex(outcome.stdout, /^asset .*\n\/static\/a\.txt /)
})

test.serial('where nothing reads TypeScript, the error names what to install', async t => {
  const root = makeConfigured(t, { '/assets.config.ts': 'export default {}' })
  const { status, stdout, stderr } = await runBuilt(root, 'list')
  if ((process.features as { typescript?: unknown }).typescript) {
    t.is(status, 0)
    return
  }
  t.is(status, 1)
  t.is(stdout, '')
  t.is(
    stderr,
    `koa-fresh-assets: cannot load assets.config.ts: Node ${process.versions.node} cannot import ` +
      'TypeScript: run npm install --save-dev tsx, or rename it to assets.config.js\n'
  )
})

test.serial(
  'explain reads .env.<environment>, as the application is started with, and says so',
  async t => {
    const root = makeConfigured(t, {
      '/.env.development': 'NODE_ENV=development\nSERVE_STATIC_ASSETS=true',
      '/.env.production': 'SERVE_STATIC_ASSETS=true\nCDN=https://cdn.example',
      '/assets.config.mjs': 'export default { host: process.env.CDN }'
    })
    const explained = async (line: string, env?: NodeJS.ProcessEnv) => {
      const { stdout, stderr } = await run(root, `explain ${line}`, env)
      return { serving: /serving is (on|off)/.exec(stdout)?.[1], stderr }
    }
    const development = { serving: 'on', stderr: 'reading .env.development\n' }
    t.deepEqual(await explained('a.txt'), development)
    const production = { serving: 'on', stderr: 'reading .env.production\n' }
    t.deepEqual(await explained('a.txt --env production'), production)
    t.deepEqual(await explained('a.txt', { NODE_ENV: 'production' }), production)
    t.deepEqual(await explained('a.txt --env test'), { serving: 'off', stderr: '' })
    const set = { SERVE_STATIC_ASSETS: 'false' }
    t.deepEqual(await explained('a.txt', set), { ...development, serving: 'off' })
    t.is((await explained('a.txt --json')).stderr, '')
    const elsewhere = await run(join(root, 'apps'), 'explain a.txt --root ..')
    t.is(elsewhere.stderr, 'reading ../.env.development\n')
    t.regex(elsewhere.stdout, /serving is on/)
  }
)

test.serial('the other commands, which are for production, read .env.production', async t => {
  const root = makeConfigured(t, {
    '/.env.development': 'PREFIX=/dev',
    '/.env.production': 'PREFIX=/static',
    '/assets.config.mjs': 'export default { prefix: process.env.PREFIX }'
  })
  t.deepEqual(await listed(root), ['/static/a.txt'])
  t.deepEqual(await listed(root, 'list --json --env development'), ['/dev/a.txt'])
  const { stderr } = await run(root, 'precompile')
  t.true(stderr.startsWith('reading .env.production\n'), stderr)
  t.regex((await run(root, 'verify')).stdout, /1 asset, no problems/)
})
