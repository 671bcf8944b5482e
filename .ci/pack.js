// npm run pack:check: what is published, as Node reads it; as TypeScript does, spec/system/packed.spec.ts.
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
  const { status } = spawnSync('publint', ['--strict', tarball], { stdio: 'inherit' })
  process.exitCode = status ?? 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
