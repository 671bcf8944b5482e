// The optional peers: found in the project first, and as soon as they are installed.
import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import test from 'ava'
import { withPeer } from '../../../lib/assets/compilers/built-in.ts'
import { esbuildCompilers } from '../../../lib/assets/compilers/esbuild.ts'
import { lessCompilers } from '../../../lib/assets/compilers/less.ts'
import { loadPeer } from '../../../lib/assets/compilers/peers.ts'
import { sassCompilers } from '../../../lib/assets/compilers/sass.ts'
import { makeProject, makeSite, writeFiles } from '../../support/site.ts'

const { resolve } = createRequire(import.meta.url)

for (const [extension, peer, code] of [
  ['css.scss', 'sass', 'a { b: c }'],
  ['css.less', 'less', 'a { b: c }'],
  ['js.ts', 'esbuild', 'go(1 as number)']
] as const) {
  test(`CMP-08 ${peer}, installed in the project while it runs, is found by the next request`, async t => {
    const rows = [...sassCompilers, ...lessCompilers, ...esbuildCompilers]
    const compilers = rows.map(row =>
      withPeer({ ...row, peers: row.peers.map(name => `${name}-late`) })
    )
    const site = await makeSite(t, { [`x/app.${extension}`]: code }, { compilers, env: 'test' })
    const url = `/assets/app.${extension.split('.')[0]}`
    const folder = `/node_modules/${peer}-late`
    const statusOf = async () => (await site.ask(url)).status
    t.is(await statusOf(), 500)
    mkdirSync(site.at(folder), { recursive: true })
    t.is(await statusOf(), 500, 'its installation has begun')
    site.write(`${folder}/package.json`, JSON.stringify({ name: `${peer}-late`, main: 'm.cjs' }))
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

test("a package's stylesheet is imported by its path in node_modules, from Sass and from Less", async t => {
  const site = await makeSite(
    t,
    {
      'x/sass.css.scss': "@use 'kit/scss/kit' as *;\na { b: $from-kit }",
      'x/less.css.less': '@import "kit/less/kit";\na { b: @from-kit }',
      '/node_modules/kit/package.json': '{ "name": "kit" }',
      '/node_modules/kit/scss/_kit.scss': '$from-kit: kit;',
      '/node_modules/kit/less/kit.less': '@from-kit: kit;'
    },
    { env: 'test' }
  )
  for (const name of ['sass', 'less']) {
    t.regex((await site.ask(`/assets/${name}.css`)).text, /b: kit/)
  }
  site.write('kit/scss/_kit.scss', '$from-kit: ours;')
  t.regex((await site.ask('/assets/sass.css')).text, /b: ours/, 'node_modules comes last')
})
