// Precompiling in processes of their own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { bundled } from './bundled.ts'

const PROGRAM = 'spec/support/precompile-child.ts'

/** The path of a program that precompiles the project that it is given. */
export const bundle = (): Promise<string> => bundled(PROGRAM)

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
