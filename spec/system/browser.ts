// A browser is started once in a process, since that takes longer than most of what specs do with it: each spec has a
// context in it, with cookies and caches of its own.
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from '../support/test.ts'
import { program } from '../../demo/deploy/program.ts'

/** A page in any browser. */
export interface DrivenPage {
  /** Errors of scripts and of the console; in Chromium of the network as well. */
  readonly complaints: readonly string[]
  /** The value of an expression, awaited. */
  evaluate<T>(expression: string): Promise<T>
}

export interface Browser<P> {
  /** A page once it has loaded. */
  open(url: string): Promise<P>
}

export type Spec = Pick<ExecutionContext, 'teardown'>

export interface Started {
  readonly child: ChildProcess
  /** Keeps this process until the spec is over, which first does what it is given. */
  readonly useIn: (t: Spec, leave: () => Promise<unknown>) => void
}

/** Starts a browser with an empty profile, which ends when this process has nothing else to do. */
export function start(
  name: 'chromium' | 'firefox-esr',
  wordsOf: (profile: string) => readonly string[],
  stdio: StdioOptions
): Started {
  const profile = mkdtempSync(join(tmpdir(), `koa-fresh-assets-${name}-`))
  const child = spawn(program(name, name), wordsOf(profile), { stdio })
  const closed = once(child, 'close')
  const pipes = child.stdio.filter(pipe => pipe instanceof Socket)
  const all = [child, ...pipes]
  let users = 0
  process.once('beforeExit', () => {
    for (const each of all) each.ref()
    child.kill()
    const patience = setTimeout(() => child.kill('SIGKILL'), 10_000)
    void closed.then(() => {
      clearTimeout(patience)
      return rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    })
  })
  return {
    child,
    useIn(t, leave) {
      if (users++ === 0) for (const each of all) each.ref()
      t.teardown(async () => {
        await leave()
        if (--users === 0) for (const each of all) each.unref()
      })
    }
  }
}
