// What the soak has put on disk, and when it was there: against this every body is checked.
import { bodyOf, versionOf } from '../../support/versions.ts'

/** Times are milliseconds of this process's monotonic clock. */
export const now = (): number => performance.now()

/** Times at which something was the case. */
export class Spells {
  readonly #spells: { from: number; to: number }[] = []

  begin(): void {
    this.#spells.push({ from: now(), to: Infinity })
  }

  end(): void {
    for (const spell of this.#spells) if (spell.to === Infinity) spell.to = now()
  }

  overlap(from: number, to: number): boolean {
    return this.#spells.some(spell => spell.from <= to && spell.to >= from)
  }

  get isOn(): boolean {
    return this.#spells.some(spell => spell.to === Infinity)
  }
}

/** A version; that there is no file, or an empty one, or one that cannot be published. */
export type Content = number | 'absent' | 'empty' | 'broken'

interface State {
  readonly content: Content
  readonly since: number
  until: number
}

/** Behind a stylesheet that is compiled in development. */
const SOURCE_MAP = /\n\/\*# sourceMappingURL=\S+ \*\/\n$/

// Longer than any request takes.
const REMEMBERED_MS = 120_000

/** One file, in versions that tell what they are. */
export class Subject {
  readonly at: number
  readonly url: string
  /** Absolute. */
  readonly file: string
  /** When one response may be cut: the file was overwritten in place. */
  readonly overwritten = new Spells()
  latest = -1
  #states: State[] = []

  constructor(at: number, url: string, file: string) {
    this.at = at
    this.url = url
    this.file = file
  }

  /** Call it before the disk is changed, and `settle` after. */
  expect(content: Content): void {
    this.#states.push({ content, since: now(), until: Infinity })
    if (typeof content === 'number') this.latest = content
  }

  /** Only what was expected last is there from now on. */
  settle(): void {
    const last = this.#states.at(-1)
    for (const state of this.#states) {
      if (state !== last && state.until === Infinity) state.until = now()
    }
    this.#states = this.#states.filter(({ until }) => until > now() - REMEMBERED_MS)
  }

  /** What was on disk at some moment between two. */
  between(from: number, to: number): readonly Content[] {
    return this.#states
      .filter(({ since, until }) => since <= to && until >= from)
      .map(({ content }) => content)
  }

  bytesOf(content: Content): Buffer {
    return Buffer.from(typeof content === 'number' ? bodyOf(this.at, content) : '')
  }

  /** The version that a whole body is. */
  contentOf(body: Buffer): Content | undefined {
    // What an empty source compiles to is its source map alone.
    const text = body.toString('latin1').replace(SOURCE_MAP, '')
    return text === '' ? 'empty' : versionOf(this.at, text)
  }
}
