// Processes of their own, which end with the spec that began them.
import { fork, spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'
import type { ExecutionContext } from './test.ts'
import { LOADER, moduleFile } from './typescript.ts'

/** @param signal asks it to end, or kills it */
export async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}

/** A program of Node that ends with the spec. */
export function startProgram(
  t: Pick<ExecutionContext, 'teardown'>,
  words: readonly string[],
  options: SpawnOptions = {}
): ChildProcess {
  const child = spawn(process.execPath, words, options)
  t.teardown(() => end(child, 'SIGTERM'))
  return child
}

/** Runs a script of this folder, or of another below spec; what it sends first is handed back. */
export async function startProcess(
  t: ExecutionContext,
  script: string,
  ...given: readonly unknown[]
): Promise<{ child: ChildProcess; first: unknown }> {
  const words = given.map(value => JSON.stringify(value))
  const child = fork(moduleFile(join('spec/support', script)), words, { execArgv: [...LOADER] })
  t.teardown(() => end(child))
  const [first] = (await once(child, 'message')) as [unknown]
  return { child, first }
}

/** The port of a site in a process that a shell starts, and may limit: `ulimit -n 128; exec "$@"`. */
export async function startInShell(
  t: ExecutionContext,
  shell: string,
  options: KoaAssetsOptions
): Promise<number> {
  const child = fork(moduleFile('spec/support/site-process.ts'), [JSON.stringify(options)], {
    execPath: '/bin/sh',
    execArgv: ['-c', shell, 'sh', process.execPath, ...LOADER],
    env: { ...process.env, NODE_V8_COVERAGE: undefined }
  })
  t.teardown(() => end(child))
  const [port] = (await once(child, 'message')) as [number]
  return port
}
