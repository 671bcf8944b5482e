// The end of a precompile: replaces plain names and the manifest together.
import type { Replacement } from '../../../files/writing/replacement.ts'
import type { Settings } from '../../settings/settings.ts'
import { inParallel } from '../../../concurrency.ts'
import { rethrowAsPublishError } from '../../../files/writing/publish-error.ts'

const CONCURRENCY = 16

interface Group {
  /** The URL path that an error names. */
  readonly path: string
  readonly replacements: Replacement[]
}

export class Publication {
  readonly #settings: Settings
  readonly #groups: Group[] = []
  readonly #last: Group[] = []

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** A list of replacements to commit in order. Lists are committed concurrently. */
  open(path: string): Replacement[] {
    const group = { path, replacements: [] }
    this.#groups.push(group)
    return group.replacements
  }

  /** To commit after everything else. */
  addLast(path: string, replacement: Replacement): void {
    this.#last.push({ path, replacements: [replacement] })
  }

  /** Only renames and removals, which a signal does not interrupt. */
  commit(): Promise<void> {
    return withSignalsDeferred(async () => {
      for (const groups of [this.#groups, this.#last]) {
        await inParallel(groups, CONCURRENCY, group => this.#commit(group))
      }
    })
  }

  async #commit({ path, replacements }: Group): Promise<void> {
    const failed = rethrowAsPublishError(this.#settings, path)
    for (const replacement of replacements) await replacement.commit().catch(failed)
  }

  async discard(): Promise<void> {
    const all = [...this.#groups, ...this.#last].flatMap(({ replacements }) => replacements)
    await inParallel(all, CONCURRENCY, replacement => replacement.discard())
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

let running = 0
let unhandled: readonly NodeJS.Signals[] = []
let received: NodeJS.Signals | undefined

function defer(signal: NodeJS.Signals): void {
  received = signal
}

/** Afterwards, a signal that has no other listener is sent again and takes effect. */
async function withSignalsDeferred(work: () => Promise<void>): Promise<void> {
  if (running++ === 0) {
    unhandled = SIGNALS.filter(name => process.listenerCount(name) === 0)
    for (const name of SIGNALS) process.on(name, defer)
  }
  try {
    await work()
  } finally {
    if (--running === 0) {
      for (const name of SIGNALS) process.off(name, defer)
      if (received && unhandled.includes(received)) process.kill(process.pid, received)
      received = undefined
    }
  }
}
