// What joined modules are called, in views and on the command line.
import { join } from 'node:path'
import type { Middleware } from 'koa'
import { run } from '../../../publishing/cli/run.ts'
import { makeProject, makeSite, placed, readManifest, test } from '../../../support/index.ts'
import { ALL, makeShop, SHOP } from './shop.ts'

const COUNT = "<%- assets.javascript('count', { type: 'module' }) %>"
const BIG = `<script type="module">import { used } from 'big'; used()</script>`

test('a module that a view loads keeps its file and all its exports', async t => {
  for (const [views, files] of [
    [undefined, { '/views/page.ejs': COUNT, '/apps/web/views/page.ejs': BIG }],
    ['pages/**', { '/pages/page.html': COUNT + BIG }]
  ] as const) {
    const { root, scripts, text } = await makeShop(t, { ...ALL, views }, files)
    t.true(scripts().includes('count.js'), views)
    t.false(scripts().includes('joined/count.js'), views)
    t.true(scripts().includes('npm/big.js'), views)
    const big = scripts().filter(name => name.includes('big'))
    t.true(big.map(text).join('').includes('not called'), views)
    t.true(readManifest(root).assets['/assets/app.js']?.imports?.includes('/assets/count.js'))
  }
})

const ADVICE = `it is part of /assets/app.js; a name in a view that the option views finds has a file of its own after precompile`

// Serial: the commands have the directory of the process.
test.serial('commands, and the error of a page, say in which file a joined module is', async t => {
  const config = `export default ${JSON.stringify(ALL)}`
  const page = { '/server/page.ts': "assets.javascript('widgets/picture')" }
  const root = makeProject(t, placed({ ...SHOP, ...page, '/assets.config.mjs': config }))
  const made = await run(root, 'precompile')
  t.regex(made.stdout, /^Joined +10 modules of [\d.]+ kB in 7 files of [\d.]+ k?B$/m)
  const env = { NODE_ENV: 'production' }
  const { stdout } = await run(root, 'list', env)
  t.regex(stdout, /^\/assets\/app\.js +\S+app\.js and 1 more /m)
  t.regex(stdout, /^\/assets\/widgets\/picture\.js .* in \/assets\/app\.js$/m)
  t.regex(stdout, /^\/assets\/joined\/big\.js +joined\/big\.js and 2 more /m)
  const explained = await run(root, 'explain app.js', env)
  t.regex(explained.stdout, /made of \/assets\/app\.js, \/assets\/widgets\/picture\.js/)
  for (const line of ['verify', 'upload-plan', 'explain npm/big.js --env development'])
    t.is((await run(root, line, env)).status, 0, line)
  const { status, stderr } = await run(root, 'verify --views server/**', env)
  t.is(status, 1)
  t.true(stderr.includes(`server/page.ts:1 'widgets/picture.js' has no file: ${ADVICE}`), stderr)
  const routes: Middleware = ctx => void (ctx.body = ctx.assets.javascript('widgets/picture'))
  const site = await makeSite(t, {}, { root, env: 'production', ...ALL, routes })
  t.is((await site.ask('/')).status, 500)
  const manifest = join(root, 'public/assets.json')
  t.is(site.errors[0]?.message, `/assets/widgets/picture.js is not in ${manifest}: ${ADVICE}`)
})
