// What happened, counted; and what should not have happened.
import type { Measured } from '../../support/replica-process.ts'

export interface Sample extends Measured {
  readonly site: string
}

const MIB = 2 ** 20
/** Of one kind. */
const MAX_SHOWN = 8

/** How much more than in the second quarter may be held in the last one. */
const BOUNDS = {
  descriptors: { label: 'descriptors', factor: 1.1, slack: 10, unit: 1 },
  rss: { label: 'RSS, MiB', factor: 1.2, slack: 48 * MIB, unit: MIB },
  held: { label: 'held after garbage collection, MiB', factor: 1.2, slack: 16 * MIB, unit: MIB }
} as const

export class Report {
  readonly #counts = new Map<string, Map<string, number>>()
  readonly #violations: string[] = []
  readonly #samples: Sample[] = []

  count(table: string, what: string): void {
    const counts = this.#counts.get(table) ?? new Map<string, number>()
    this.#counts.set(table, counts.set(what, (counts.get(what) ?? 0) + 1))
  }

  violation(kind: string, what: string): void {
    this.count('violations', kind)
    if ((this.#counts.get('violations')?.get(kind) ?? 0) <= MAX_SHOWN)
      this.#violations.push(`${kind}: ${what}`)
  }

  sample(sample: Sample): void {
    this.#samples.push(sample)
  }

  get isClean(): boolean {
    return !this.#counts.has('violations')
  }

  /** Compares the last quarter with the second: the first is that of warming up. */
  judgeSamples(isLong: boolean): void {
    for (const row of this.#growth()) {
      this.count('growth', row.text)
      if (isLong && row.isTooMuch) this.violation('growth', row.text)
    }
  }

  *#growth() {
    for (const site of new Set(this.#samples.map(each => each.site))) {
      const samples = this.#samples.filter(each => each.site === site)
      const quarter = (which: number) =>
        samples.slice((samples.length * which) / 4, (samples.length * (which + 1)) / 4)
      for (const key of ['descriptors', 'rss', 'held'] as const) {
        const { label, factor, slack, unit } = BOUNDS[key]
        const [before, after] = [1, 3].map(each => median(quarter(each).map(one => one[key])))
        if (before === undefined || after === undefined) continue
        const [from, to] = [before, after].map(value => Math.round(value / unit))
        const isTooMuch = after > before * factor + slack
        yield { text: `${site}: ${label} ${from} -> ${to}`, isTooMuch }
      }
    }
  }

  toString(): string {
    const tables = Array.from(this.#counts, ([table, counts]) => {
      const rows = [...counts].toSorted(([a], [b]) => a.localeCompare(b))
      const lines = rows.map(([what, count]) => `  ${String(count).padStart(8)}  ${what}`)
      return [table, ...lines].join('\n')
    })
    return [...tables, ...this.#violations].join('\n')
  }
}

function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
