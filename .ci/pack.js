// npm run pack:check: what is published, packed once, as it is read by Node and TypeScript.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const directory = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-pack-'))
try {
  // Built already: without scripts, which would build it again.
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', directory]
  const [{ filename }] = JSON.parse(execFileSync('npm', words, { encoding: 'utf8' }))
  const tarball = join(directory, filename)
  const statuses = [
    ['publint', '--strict', tarball],
    ['attw', tarball]
  ].map(([name, ...words]) => spawnSync(name, words, { stdio: 'inherit' }).status)
  process.exitCode = statuses.every(status => status === 0) ? 0 : 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
