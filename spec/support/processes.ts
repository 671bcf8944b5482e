// Processes of their own, which end with the spec that began them.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'

/** Runs a script of this folder; what it sends first is handed back. */
export async function startProcess(
  t: ExecutionContext,
  script: string,
  ...given: readonly unknown[]
): Promise<{ child: ChildProcess; first: unknown }> {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const child = fork(
    path,
    given.map(value => JSON.stringify(value)),
    { execArgv: ['--import=tsx'] }
  )
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const [first] = (await once(child, 'message')) as [unknown]
  return { child, first }
}

/** A site in a process of its own. */
export async function startSite(t: ExecutionContext, options: object) {
  const { child, first } = await startProcess(t, './site-process.ts', options)
  return { child, port: Number(first) }
}
