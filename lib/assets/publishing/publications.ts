// What was published lately, and how long it took.
import { published, type DiagnosticMessages } from '../../diagnostics.ts'

type Publication = DiagnosticMessages['published']

const MAX_REMEMBERED = 1000

export class Publications {
  /** By URL path, the latest last. */
  readonly #latest = new Map<string, { readonly publication: Publication; readonly at: number }>()

  add(publication: Publication): void {
    if (published.hasSubscribers) published.publish(publication)
    const { path } = publication
    this.#latest.delete(path)
    this.#latest.set(path, { publication, at: performance.now() })
    for (const oldest of this.#latest.keys()) {
      if (this.#latest.size <= MAX_REMEMBERED) break
      this.#latest.delete(oldest)
    }
  }

  /** @param start by `performance.now()` */
  since(path: string, start: number): Publication | undefined {
    const known = this.#latest.get(path)
    return known && known.at >= start ? known.publication : undefined
  }
}
