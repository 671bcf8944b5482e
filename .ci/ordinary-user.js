// npm run lane user [-- all]: runs npm test as an ordinary user. Root makes a copy of the tree that `nobody` owns.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const NOBODY = '65534'
/** Folders that the copy does not need, or writes itself. */
const LEFT = ['node_modules', 'coverage', 'dist', '.spec', '.types', '.windows']

/** Runs npm test in a folder, with the given words. */
function test(cwd, command = [], env = {}) {
  const [name, ...words] = [...command, 'npm', 'test', '--', ...process.argv.slice(2)]
  const { status } = spawnSync(name, words, {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, ...env }
  })
  return status === 0
}

function testAsNobody() {
  const top = mkdtempSync(join(tmpdir(), 'nobody-'))
  chmodSync(top, 0o755)
  const [tree, home] = ['tree', 'home'].map(name => join(top, name))
  try {
    for (const folder of [tree, home]) mkdirSync(folder)
    const excluded = LEFT.flatMap(name => [`--exclude='./${name}'`, `--exclude='*/${name}'`])
    const copy = `tar cf - ${excluded.join(' ')} . | tar xf - -C '${tree}'`
    execFileSync('sh', ['-euc', copy])
    execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, top])
    // These are links to the files, which still belong to root: nothing writes to them.
    execFileSync('cp', ['-al', resolve('node_modules'), tree])
    execFileSync('chown', [NOBODY, join(tree, 'node_modules')])
    const become = ['setpriv', '--reuid', NOBODY, '--regid', NOBODY, '--clear-groups']
    return test(tree, become, { HOME: home, npm_config_cache: join(home, '.npm') })
  } finally {
    rmSync(top, { recursive: true, force: true })
  }
}

process.exitCode = (process.getuid?.() === 0 ? testAsNobody() : test('.')) ? 0 : 1
