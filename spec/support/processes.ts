// Processes of their own, which end with the spec that began them.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { ExecutionContext } from './test.ts'
import { LOADER, moduleFile } from './typescript.ts'

/** @param signal asks it to end, or kills it */
export async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
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
