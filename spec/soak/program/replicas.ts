// The processes that serve a site, and what they report.
import type { ChildProcess } from 'node:child_process'
import { end } from '../../support/processes.ts'
import { forkReplica, measure, portsOf, type Ports } from '../../support/replica.ts'
import type { Measured, Setup } from '../../support/replica-process.ts'
import { Spells } from './truth.ts'

export class Replica {
  /** When requests may fail: it is being replaced. */
  readonly down = new Spells()
  readonly errors: string[]
  readonly #setup: Setup
  #child: ChildProcess | undefined
  #ports: Ports | undefined
  #isWanted = false

  /** @param errors receives what its application reports */
  constructor(setup: Setup, errors: string[]) {
    this.#setup = setup
    this.errors = errors
  }

  /** Undefined while it is down. */
  get ports(): Ports | undefined {
    return this.down.isOn ? undefined : this.#ports
  }

  async start(): Promise<void> {
    const child = forkReplica(this.#setup, this.errors)
    this.#child = child
    this.#isWanted = true
    child.on('exit', (code, signal) => {
      if (child !== this.#child || !this.#isWanted) return
      this.errors.push(`a replica ended: ${code ?? signal}`)
    })
    this.#ports = await portsOf(child)
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#isWanted = false
    if (this.#child) await end(this.#child, signal)
  }

  async restart(signal: NodeJS.Signals): Promise<void> {
    this.down.begin()
    await this.stop(signal)
    await this.start()
    this.down.end()
  }

  async measure(): Promise<Measured> {
    if (!this.#child) throw new Error('it was never started')
    return measure(this.#child)
  }
}
