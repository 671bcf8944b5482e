// node .ci/install.js <folder>: installs the packages that only this lane needs, if its lock has changed.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder] = process.argv.slice(2)
const lock = join(folder, 'package-lock.json')
const installed = join(folder, 'node_modules/.installed.json')

const isInstalled = existsSync(installed) && readFileSync(installed).equals(readFileSync(lock))
if (!isInstalled) {
  console.log(`npm ci in ${folder}, once`)
  // This needs a shell, as npm is a script on Windows.
  const { status } = spawnSync('npm ci --no-audit --no-fund', {
    cwd: folder,
    shell: true,
    stdio: 'inherit'
  })
  if (status === 0) copyFileSync(lock, installed)
  process.exitCode = status ?? 1
}
