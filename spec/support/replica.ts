// Servers with everything in them, each a process of its own.
import { fork, type ChildProcess } from 'node:child_process'
import type { ExecutionContext } from './test.ts'
import { ask, type Answer, type Question } from './ask.ts'
import type { Measured, Setup } from './replica-process.ts'
import { end } from './processes.ts'
import { LOADER, moduleFile } from './typescript.ts'

export interface Ports {
  readonly http1: number
  readonly http2: number
}

interface Message {
  readonly ports?: Ports
  readonly measured?: Measured
  readonly error?: string
}

/**
 * Starts one; it reports its ports first.
 * @param shell what a shell runs, with the command as its arguments: `ulimit -n 128; exec "$@"`
 * @param preload a script of this folder that is loaded first
 */
export function forkReplica(
  setup: Setup,
  errors: string[],
  { shell = 'exec "$@"', preload }: { readonly shell?: string; readonly preload?: string } = {}
): ChildProcess {
  const loaded = preload ? [`--import=${moduleFile(`spec/support/${preload}`)}`] : []
  const child = fork(moduleFile('spec/support/replica-process.ts'), [JSON.stringify(setup)], {
    execPath: '/bin/sh',
    execArgv: ['-c', shell, 'sh', process.execPath, ...LOADER, ...loaded],
    // For a process that becomes another user.
    env: { ...process.env, TSX_DISABLE_CACHE: '1', NODE_V8_COVERAGE: undefined }
  })
  child.on('message', ({ error }: Message) => error !== undefined && errors.push(error))
  return child
}

/** @throws when the process ends instead */
function messageOf(child: ChildProcess, kind: keyof Message): Promise<Message[keyof Message]> {
  return new Promise((resolve, reject) => {
    const take = (message: Message) => {
      if (message[kind] !== undefined) done(() => resolve(message[kind]))
    }
    const fail = () => done(() => reject(new Error('a replica ended')))
    const done = (then: () => void) => {
      child.off('message', take).off('exit', fail)
      then()
    }
    child.on('message', take).on('exit', fail)
  })
}

export async function portsOf(child: ChildProcess): Promise<Ports> {
  return (await messageOf(child, 'ports')) as Ports
}

export async function measure(child: ChildProcess): Promise<Measured> {
  child.send('measure')
  return (await messageOf(child, 'measured')) as Measured
}

export interface StartedReplica {
  readonly child: ChildProcess
  readonly ports: Ports
  /** What its application reported. */
  readonly errors: readonly string[]
  readonly ask: (path: string, question?: Question) => Promise<Answer>
  readonly measure: () => Promise<Measured>
}

/** One that ends with its spec. */
export async function startReplica(
  t: ExecutionContext,
  { options, isBehind = false, names = [] }: Partial<Setup> & Pick<Setup, 'options'>,
  how?: Parameters<typeof forkReplica>[2]
): Promise<StartedReplica> {
  const errors: string[] = []
  const child = forkReplica({ options, isBehind, names }, errors, how)
  t.teardown(() => end(child))
  const ports = await portsOf(child)
  const askIt: StartedReplica['ask'] = (path, question) => ask(ports.http1, path, question)
  return { child, ports, errors, ask: askIt, measure: () => measure(child) }
}
