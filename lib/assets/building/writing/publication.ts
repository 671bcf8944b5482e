// The end of a precompile: plain names and the manifest change together, and nothing before them.
import type { Replacement } from '../../../files/writing/replacement.ts'
import type { Settings } from '../../settings/settings.ts'
import { inParallel } from '../../../concurrency.ts'
import { rethrowAsPublishError } from '../../../files/writing/publish-error.ts'

const CONCURRENCY = 16

interface Group {
  /** The URL path that an error is about. */
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

  /** For what has to happen in this order; groups are in none. */
  open(path: string): Replacement[] {
    const group = { path, replacements: [] }
    this.#groups.push(group)
    return group.replacements
  }

  /** What comes after all the rest. */
  addLast(path: string, replacement: Replacement): void {
    this.#last.push({ path, replacements: [replacement] })
  }

  /** Nothing but renames, so that it is short; a signal that comes meanwhile does not cut it in two. */
  commit(): Promise<void> {
    return undisturbed(async () => {
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

let working = 0
let unheard: readonly NodeJS.Signals[] = []
let came: NodeJS.Signals | undefined

function hold(signal: NodeJS.Signals): void {
  came = signal
}

/** A signal that nobody else listens for comes to its own once the work is done. */
async function undisturbed(work: () => Promise<void>): Promise<void> {
  if (working++ === 0) {
    unheard = SIGNALS.filter(name => process.listenerCount(name) === 0)
    for (const name of SIGNALS) process.on(name, hold)
  }
  try {
    await work()
  } finally {
    if (--working === 0) {
      for (const name of SIGNALS) process.off(name, hold)
      if (came && unheard.includes(came)) process.kill(process.pid, came)
      came = undefined
    }
  }
}
