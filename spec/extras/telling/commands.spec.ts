import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { withFingerprint } from '../../../lib/runtime/urls/spelling.ts'
import { digestOf } from '../../../lib/runtime/files/digest.ts'
import { makeShop, run } from '../../publishing/cli/run.ts'
import { AS_WRITTEN, serial as test, writeFiles } from '../../support/index.ts'

const fingerprinted = (name: string, text: string) =>
  withFingerprint(`/assets/${name}`, digestOf(Buffer.from(text)))

test('the output and the exit status of explain tell whether a request gets a file', async t => {
  const root = makeShop(t, { 'stylesheets/app.css': 'a{}' })
  const env = { SERVE_STATIC_ASSETS: 'true' }
  const { status, stdout, stderr } = await run(root, 'explain /assets/app.css', env)
  const defaults = 'these are the default options, whatever the application passes to koaAssets'
  const told = `there is no assets.config.js or .ts in ${root}: ${defaults}\n`
  t.deepEqual([status, stderr], [0, told])
  t.true(stdout.startsWith(`settings  development; serving is on\n          root: ${root}\n`))
  t.true(stdout.endsWith(' does not exist\nresponse  200, after publishing its source\n'), stdout)
  const missing = await run(root, 'explain nothing.css --json --env production', env)
  t.is(missing.status, 1)
  t.like(JSON.parse(missing.stdout), {
    path: '/assets/nothing.css',
    steps: [{ finding: 'production; serving is on' }]
  })
})

test('a configuration file that sets another root is not called missing', async t => {
  const root = makeShop(t, {
    '/assets.config.json': '{ "root": "app" }',
    '/app/assets/app.css': 'a{}'
  })
  for (const command of ['explain app.css', 'list']) {
    const { status, stderr } = await run(root, command, { SERVE_STATIC_ASSETS: 'true' })
    t.deepEqual([status, stderr], [0, ''], command)
  }
})

test('list prints every asset; of a broken manifest, it and explain say what to do', async t => {
  const root = makeShop(t, {
    'stylesheets/app.css': 'a{}',
    'b.txt': 'b',
    '/assets.config.mjs': `export default ${JSON.stringify(AS_WRITTEN)}`
  })
  t.deepEqual(await run(root, 'list'), {
    status: 0,
    stderr: '',
    stdout: `asset            source                               size  target
/assets/app.css  apps/web/assets/stylesheets/app.css     -  -
/assets/b.txt    apps/web/assets/b.txt                   -  -

None of them is precompiled: run npx koa-fresh-assets precompile
`
  })
  await run(root, 'precompile --quiet')
  rmSync(join(root, 'apps/web/assets/b.txt'))
  const { stdout } = await run(root, 'list --json')
  writeFiles(root, { 'apps/web/assets/c.txt': 'c' })
  t.notRegex((await run(root, 'list')).stdout, /None/)
  const source = 'apps/web/assets/stylesheets/app.css'
  t.deepEqual(JSON.parse(stdout), [
    { path: '/assets/app.css', source, target: fingerprinted('app.css', 'a{}'), size: 3 },
    { path: '/assets/b.txt', source: 'b.txt', target: fingerprinted('b.txt', 'b'), size: 1 }
  ])
  writeFiles(root, { 'public/assets.json': '{' })
  for (const line of ['list', 'explain b.txt --env production']) {
    const { status, stdout, stderr } = await run(root, line)
    t.regex(`${status}${stdout}${stderr}`, /^1[^]*docs\/errors\.md#manifest-broken\n$/, line)
  }
  t.is((await run(makeShop(t, {}), 'list')).stdout, 'No assets found.\n')
})

test('explain and list read the .env file of the environment that they describe', async t => {
  const root = makeShop(t, {
    'a.txt': 'a',
    '/.env.development': 'NODE_ENV=development\nSERVE_STATIC_ASSETS=true\nPREFIX=/dev',
    '/.env.production': 'SERVE_STATIC_ASSETS=true\nPREFIX=/static',
    '/assets.config.mjs': 'export default () => ({ prefix: process.env.PREFIX })'
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
  t.is((await run(root, 'list')).stderr, 'reading .env.production\n')
  t.regex((await run(root, 'list')).stdout, /^\/static\/a\.txt /m)
  t.regex((await run(root, 'list --env development')).stdout, /^\/dev\/a\.txt /m)
})
