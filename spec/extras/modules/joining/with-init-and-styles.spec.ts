// What init writes and prints about joining.
import { run } from '../../../publishing/cli/run.ts'
import { makeProject, test, writeFiles } from '../../../support/index.ts'

// Serial: the command has the directory of the process.
test.serial(
  'init names the packages that a new project still has to install for production',
  async t => {
    const root = makeProject(t, { 'package.json': '{ "type": "module" }' })
    const { stdout } = await run(root, 'init')
    t.true(stdout.endsWith('\n\nFor production: npm install --save-dev rolldown esbuild\n'), stdout)
    writeFiles(root, { 'node_modules/esbuild/package.json': '{}' })
    t.true((await run(root, 'init')).stdout.endsWith('--save-dev rolldown\n'))
  }
)
