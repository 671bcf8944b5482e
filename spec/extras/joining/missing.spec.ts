// A machine without Rolldown.
import { cpSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { startNode } from '../../cli/run.ts'
import { readManifest } from '../../support/fingerprinted.ts'
import { writeFiles } from '../../support/site.ts'
import { ALL, makeShop } from './shop.ts'

test('JOI-02 without Rolldown modules stay files, and precompile says so; asked for, it is an error', async t => {
  const { bundle: _, ...options } = ALL
  const { root } = await makeShop(t, { ...options, bundle: false })
  for (const name of ['dist', 'package.json'])
    cpSync(name, join(root, 'node_modules/koa-fresh-assets', name), { recursive: true })
  for (const name of readdirSync('node_modules')) {
    if (name === 'rolldown' || name === '.cache') continue
    symlinkSync(join(process.cwd(), 'node_modules', name), join(root, 'node_modules', name))
  }
  const precompile = (given: object) => {
    writeFiles(root, { 'assets.config.mjs': `export default ${JSON.stringify(given)}` })
    const cli = join(root, 'node_modules/koa-fresh-assets/dist/cli.js')
    return startNode(root, [cli, 'precompile'], {}).outcome
  }
  const wanted = 'rolldown, which is not installed: npm install --save-dev rolldown'
  const { status, stdout } = await precompile(options)
  t.is(status, 0)
  t.true(stdout.includes(`\nJoined      nothing: joining modules needs ${wanted}\n`), stdout)
  t.true('/assets/npm/big/low.js' in readManifest(root).assets)
  const asked = await precompile(ALL)
  t.is(asked.status, 1)
  t.true(asked.stderr.includes(`joining modules needs ${wanted}`), asked.stderr)
})
