// Precompiling in processes of their own. The program is bundled once: it starts ten times as fast.
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { build } from 'esbuild'
import { PEERS } from '../../lib/publishing/compilers/built-in.ts'
import { moduleFile } from './typescript.ts'

const PROGRAM = moduleFile('spec/support/precompile-child.ts')

let program: Promise<string> | undefined

/** The path of a program that precompiles the project that it is given. */
export const bundle = (): Promise<string> => (program ??= bundleOnce())

async function bundleOnce(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  // For whoever the child becomes.
  chmodSync(directory, 0o755)
  const outfile = join(directory, 'precompile.cjs')
  await build({
    entryPoints: [PROGRAM],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: [...PEERS],
    // CommonJS has names of its own for these.
    define: { 'import.meta.dirname': '__dirname', 'import.meta.url': '__url' },
    banner: { js: "const __url = require('node:url').pathToFileURL(__filename).href" },
    logLevel: 'error'
  })
  return outfile
}

interface Ended {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly said: string
}

/**
 * Precompiles to the end; `shell` is what a shell runs before it: `ulimit -f 100`.
 * @param moment at which it sends itself a signal: `['write', '3', 'SIGKILL']`
 */
export async function runInChild(
  program: string,
  root: string,
  shell = ':',
  moment: readonly string[] = []
): Promise<Ended> {
  const script = `${shell}; exec "$0" "$@"`
  const words = ['-c', script, process.execPath, program, root, ...moment]
  const child = spawn('/bin/sh', words, { stdio: ['ignore', 'ignore', 'pipe'] })
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  const [said, [status, signal]] = await Promise.all([text(child.stderr), closed])
  return { status, signal, said }
}
