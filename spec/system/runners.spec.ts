// The packed package, installed from npm's registry beside test runners and compilers of other projects.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { serial as test, writeFiles } from '../support/index.ts'

/** The oldest, which takes ten seconds for each, and the newest, whose rules of node16 are among those of nodenext. */
const TYPESCRIPTS = { '5.6': ['node16'], '7.0': ['nodenext', 'bundler'] }
const PACKAGES = [
  ...['koa', '@types/koa', '@types/node@20', 'sass', 'vite', 'vitest'],
  ...['29', '30'].map(version => `jest-${version}@npm:jest@${version}`),
  ...Object.keys(TYPESCRIPTS).map(version => `typescript-${version}@npm:typescript@~${version}.0`)
]

/** What a test of an application does: a page, its stylesheet, a 304, the halt, both halves. */
const CHECK = `async function check({ mkdtemp, mkdir, writeFile }, Koa, { koaAssets, koaHttpCache, Halt }) {
  const root = await mkdtemp('site-')
  await mkdir(root + '/assets')
  await writeFile(root + '/assets/app.css.scss', 'a { b { color: red } }')
  const app = new Koa()
  app.use(koaAssets({ root, serve: true, env: 'development' }))
  app.use(koaHttpCache())
  let isHalt
  app.use(async ctx => {
    try { await ctx.fresh('one') } catch (error) { isHalt = error instanceof Halt; throw error }
    ctx.body = ctx.assets.path('app.css')
  })
  const server = await new Promise(resolve => { const it = app.listen(0, '127.0.0.1', () => resolve(it)) })
  const get = (path, headers) => fetch('http://127.0.0.1:' + server.address().port + path, { headers })
  const path = await (await get('/')).text()
  const css = await (await get(path)).text()
  const { status } = await get('/', { 'If-None-Match': '"one"' })
  server.close()
  server.closeAllConnections()
  return [path, /^a b \\{/.test(css), status, isHalt].join(', ')
}`
const EXPECTED = '/assets/app.css, true, 304, true'

const FILES = {
  'package.json': '{ "private": true }',
  'check.cjs': `${CHECK}
    module.exports = () => check(require('node:fs/promises'), require('koa'), require('koa-fresh-assets'))`,
  'check.mjs': `import * as files from 'node:fs/promises'
    import Koa from 'koa'
    import * as ours from 'koa-fresh-assets'
    ${CHECK}
    export default () => check(files, Koa, ours)`,
  'jest/commonjs.test.cjs': `test('works', async () => {
      expect(await require('../check.cjs')()).toBe('${EXPECTED}')
    }, 600_000)`,
  'jest/both.test.mjs': `import { createRequire } from 'node:module'
    import * as imported from 'koa-fresh-assets'
    import check from '../check.mjs'
    const required = createRequire(import.meta.url)('koa-fresh-assets')
    test('works', async () => {
      expect(await check()).toBe('${EXPECTED}')
      expect(required.koaAssets).toBe(imported.koaAssets)
    }, 600_000)`,
  'vitest/app.test.mjs': `import { expect, test } from 'vitest'
    import check from '../check.mjs'
    test('works', async () => expect(await check()).toBe('${EXPECTED}'), 600_000)`,
  'node/app.test.mjs': `import { strictEqual } from 'node:assert'
    import test from 'node:test'
    import check from '../check.mjs'
    test('works', async () => strictEqual(await check(), '${EXPECTED}'))`,
  'node/app.test.cjs': `const { strictEqual } = require('node:assert')
    const check = require('../check.cjs')
    require('node:test')('works', async () => {
      strictEqual(await check(), '${EXPECTED}')
      strictEqual((await import('koa-fresh-assets')).Halt, require('koa-fresh-assets').Halt)
    })`
}

const TYPED = `import Koa from 'koa'
  import { koaAssets, koaHttpCache, Halt, type KoaAssetsOptions } from 'koa-fresh-assets'
  import { assetSources } from 'koa-fresh-assets/assets'
  import { Halt as Same } from 'koa-fresh-assets/http-cache'
  const options: KoaAssetsOptions = { root: process.cwd(), serve: true }
  export const app = new Koa()
  app.use(koaAssets(options))
  app.use(koaHttpCache({ version: ctx => ctx.assets.version }))
  app.use(async ctx => {
    ctx.cacheControl('public', { maxAge: '10m' })
    await ctx.fresh('one')
    ctx.body = ctx.assets.stylesheet('app')
  })
  // @ts-expect-error -- no such option
  koaAssets({ serv: true })
  export const halt: Same = new Halt(304)
  export const all: readonly string[] = assetSources.list()`

// Vite's types are as much to read as all others together.
const WITH_VITE = `${TYPED}
  import { freshAssets } from 'koa-fresh-assets/vite'
  export const name: string = freshAssets({ mount: '/admin', input: 'main.ts' }).name`

const run = promisify(execFile)
const root = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-'))
const { NODE_ENV: _, NODE_OPTIONS: __, NODE_TEST_CONTEXT: ___, ...env } = process.env
const node = (...words: readonly string[]) => run(process.execPath, words, { cwd: root, env })

test.before(async () => {
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', root])
  const tarball = readdirSync(root).map(name => resolve(root, name))
  writeFiles(root, FILES)
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts']
  await run('npm', ['install', ...flags, ...tarball, ...PACKAGES], { cwd: root })
})
test.after.always(() => rmSync(root, { recursive: true, force: true }))

for (const version of ['29', '30']) {
  const jest = join('node_modules', `jest-${version}`, 'bin/jest.js')
  const config = JSON.stringify({ testRegex: 'jest/.*\\.test\\.[cm]js$' })

  test(`Jest ${version} in CommonJS requires the package, without any setting`, async t => {
    await t.notThrowsAsync(node(jest, '--config', config, 'commonjs'))
  })

  test(`Jest ${version} with ES modules can both import and require the package`, async t => {
    await t.notThrowsAsync(node('--experimental-vm-modules', jest, '--config', config, 'both'))
  })
}

test('Vitest imports the package', async t => {
  await t.notThrowsAsync(node('node_modules/vitest/vitest.mjs', 'run', '--dir', 'vitest'))
})

test('Jest and Vitest read .env.test by the commands of docs/testing.md', async t => {
  const page = readFileSync('docs/testing.md', 'utf8')
  const commands = page.match(/^node --env-file=\.env\.test node_modules\/.*$/gm) ?? []
  t.is(commands.length, 2)
  t.is(env['SERVE_STATIC_ASSETS'], undefined)
  const check = "test('is read', () => expect(process.env.SERVE_STATIC_ASSETS).toBe('true'))"
  const imports = "const { expect, test } = await import('vitest')\n"
  for (const command of commands) {
    const folder = command.includes('jest') ? 'env-jest' : 'env-vitest'
    const isJest = folder === 'env-jest'
    writeFiles(root, {
      [`${folder}/package.json`]: `{ "private": true, "type": "${isJest ? 'commonjs' : 'module'}" }`,
      [`${folder}/.env.test`]: 'SERVE_STATIC_ASSETS=true',
      [`${folder}/app.test.js`]: isJest ? check : imports + check
    })
    const words = command.replace('node_modules/jest/', 'node_modules/jest-30/').split(' ').slice(1)
    const inFolder = words.map(word => word.replace(/^node_modules/, join(root, 'node_modules')))
    const cwd = join(root, folder)
    await t.notThrowsAsync(run(process.execPath, inFolder, { cwd, env }), command)
  }
})

test('node:test gets one copy of the package, whether imported or required', async t => {
  for (const file of ['node/app.test.mjs', 'node/app.test.cjs']) {
    await t.notThrowsAsync(node('--test', file))
  }
})

for (const [version, modes] of Object.entries(TYPESCRIPTS)) {
  test(`TypeScript ${version} finds the types with moduleResolution ${modes.join(' and ')}`, async t => {
    for (const mode of modes) {
      const withVite = mode === 'nodenext'
      // With "bundler" only what is imported can be resolved.
      const files = [`${mode}/esm.mts`, ...(mode === 'bundler' ? [] : [`${mode}/commonjs.cts`])]
      const compilerOptions = {
        ...{ module: mode === 'bundler' ? 'esnext' : mode, moduleResolution: mode },
        ...{ target: 'es2022', lib: ['es2023', 'dom'], types: ['node'] },
        ...{ strict: true, noEmit: true, esModuleInterop: true },
        ...{ skipLibCheck: false, skipDefaultLibCheck: true }
      }
      writeFiles(root, {
        ...Object.fromEntries(files.map(file => [file, withVite ? WITH_VITE : TYPED])),
        [`${mode}/tsconfig.json`]: JSON.stringify({ compilerOptions, include: ['.'] })
      })
      const compiler = `node_modules/typescript-${version}/bin/tsc`
      await t.notThrowsAsync(node(compiler, '-p', mode), mode)
    }
  })
}
