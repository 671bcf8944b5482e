// A machine without Rolldown.

import test from 'ava'
import { installWithout } from '../../cli/run.ts'
import { readManifest } from '../../support/fingerprinted.ts'
import { writeFiles } from '../../support/site.ts'
import { ALL, makeShop } from './shop.ts'

test('JOI-02 without Rolldown modules stay files, and precompile says so; asked for, it is an error', async t => {
  const { bundle: _, ...options } = ALL
  const { root } = await makeShop(t, { ...options, bundle: false })
  const runWithout = installWithout(root, 'rolldown')
  const precompile = (given: object) => {
    writeFiles(root, { 'assets.config.mjs': `export default ${JSON.stringify(given)}` })
    return runWithout('precompile')
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
