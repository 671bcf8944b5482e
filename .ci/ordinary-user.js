// npm run lane user [-- all]: npm test as an ordinary user, in a copy of the tree, which root gives to `nobody`.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const NOBODY = '65534'
/** What it needs not, or writes itself. */
const LEFT = ['node_modules', 'coverage', 'dist', '.spec', '.types', '.windows']

/** In a copy of the tree, so that nothing is rebuilt which others read. */
function testInCopy() {
  const isRoot = process.getuid?.() === 0
  const top = mkdtempSync(join(tmpdir(), 'nobody-'))
  chmodSync(top, 0o755)
  const [tree, home] = ['tree', 'home'].map(name => join(top, name))
  try {
    for (const folder of [tree, home]) mkdirSync(folder)
    const excluded = LEFT.flatMap(name => ['--exclude', `./${name}`, '--exclude', `*/${name}`])
    const copy = `tar cf - ${excluded.join(' ')} . | tar xf - -C '${tree}'`
    execFileSync('sh', ['-euc', copy])
    if (isRoot) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, top])
    // By links to the files, which stay root's: nobody writes to them.
    execFileSync('cp', ['-al', resolve('node_modules'), tree])
    if (isRoot) execFileSync('chown', [NOBODY, join(tree, 'node_modules')])
    const become = `setpriv --reuid ${NOBODY} --regid ${NOBODY} --clear-groups`.split(' ')
    const test = ['npm', 'test', '--', ...process.argv.slice(2)]
    const [command, ...words] = isRoot ? [...become, ...test] : test
    const env = { ...process.env, HOME: home, npm_config_cache: join(home, '.npm') }
    return spawnSync(command, words, { cwd: tree, stdio: 'inherit', env }).status === 0
  } finally {
    rmSync(top, { recursive: true, force: true })
  }
}

process.exitCode = testInCopy() ? 0 : 1
