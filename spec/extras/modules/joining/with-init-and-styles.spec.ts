// What init writes and prints about joining.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from '../../../support/test.ts'
import { run } from '../../../publishing/cli/run.ts'
import { makeProject, writeFiles } from '../../../support/site.ts'

test('a new project joins its modules, and init names the packages that it still has to install for that', async t => {
  const root = makeProject(t, { 'package.json': '{ "type": "module" }' })
  const { stdout } = await run(root, 'init')
  t.true(stdout.endsWith('\n\nFor production: npm install --save-dev rolldown esbuild\n'), stdout)
  writeFiles(root, { 'node_modules/esbuild/package.json': '{}' })
  t.true((await run(root, 'init')).stdout.endsWith('--save-dev rolldown\n'))
  t.regex(readFileSync(join(root, 'assets.config.js'), 'utf8'), /dirname,\n {2}bundle: true\n\}\n$/)
})
