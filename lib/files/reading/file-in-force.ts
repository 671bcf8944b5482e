// A file that is read at start, and again before a page once it has changed.
import { oneAtATime } from '../../concurrency.ts'
import { stampAtStart } from '../at-start.ts'
import { showsChangesAfter } from '../clock.ts'
import { errorCode, readSnapshot, sameStamp, statOf, type Stamp } from '../disk.ts'

interface Reading {
  /** Completes the warning "…: <reason>" for a state of the file that cannot be used. */
  readonly failure: string
  readonly warn: (message: string) => void
  /**
   * Takes over the new bytes. Resolves to false when it could not yet: the next check reads them again, as
   * after every failure but that of code `manifest-broken`.
   */
  readonly take: (bytes: Buffer) => Promise<boolean>
}

export class FileInForce {
  readonly path: string
  readonly #reading: Reading
  /** Undefined while the file may differ from what was read. */
  #stamp: Stamp | undefined
  #lookedAt = -Infinity
  #looking: Promise<void> | undefined

  /** Create it before the file is read at start: a change in between is then noticed. */
  constructor(path: string, reading: Reading) {
    this.path = path
    this.#reading = reading
    this.#stamp = conclusive(stampAtStart(path), Date.now())
  }

  /** Makes the next check read the file again, changed or not. */
  distrust(): void {
    this.#stamp = undefined
  }

  /**
   * Looks for a change, with one stat if there is none, unless the last look is younger than `seconds`.
   * Undefined when there is nothing to wait for.
   */
  refresh(seconds: number): Promise<void> | undefined {
    const isYoung = performance.now() - this.#lookedAt < seconds * 1000
    return isYoung ? this.#looking : this.#look()
  }

  readonly #look = oneAtATime(() => {
    const { failure, warn } = this.#reading
    this.#lookedAt = performance.now()
    this.#looking = this.#readIfChanged()
      .catch((error: Error) => warn(`${failure}: ${error.message}`))
      .finally(() => (this.#looking = undefined))
    return this.#looking
  })

  async #readIfChanged(): Promise<void> {
    const stats = await statOf(this.path)
    if (!stats || (this.#stamp && sameStamp(this.#stamp, stats))) return
    const readAt = Date.now()
    const snapshot = await readSnapshot(this.path)
    if (!snapshot) return
    try {
      const isTaken = await this.#reading.take(snapshot.bytes)
      this.#stamp = isTaken ? conclusive(snapshot.stamp, readAt) : undefined
    } catch (error) {
      // Only what is wrong with the bytes themselves stays wrong until they change.
      const isBroken = errorCode(error) === 'manifest-broken'
      this.#stamp = isBroken ? conclusive(snapshot.stamp, readAt) : undefined
      throw error
    }
  }
}

/** Undefined for a file that changed so recently that its stamp may not show another change. */
function conclusive(stamp: Stamp | undefined, readAt: number): Stamp | undefined {
  return stamp && showsChangesAfter(stamp, readAt) ? stamp : undefined
}
