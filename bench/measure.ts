// What every case is made of, and how contestants are compared.

export interface Options {
  readonly rounds: number
  /** How long a round of one contestant takes, in seconds. */
  readonly seconds: number
  /** Only contestants whose names contain it, and ours. */
  readonly against: string
}

/** One line of the table. */
export interface Row {
  readonly contestant: string
  /** With its unit: `61,000 requests/s`. */
  readonly result: string
  /** How many times as fast ours is. */
  readonly ratio?: number | undefined
  /** With its unit: `16 µs`. */
  readonly cpu?: string | undefined
  /** MiB. */
  readonly rss?: number | undefined
}

export interface Case {
  readonly title: string
  /** Drawn in the chart. */
  readonly isMain?: boolean
  readonly measure: (options: Options) => Promise<readonly Row[]>
}

export interface Sample {
  /** Requests per second, or whatever is better when there is more of it. */
  readonly rate: number
  /** Per request, in microseconds. */
  readonly cpu?: number
  /** MiB. */
  readonly rss?: number
}

/**
 * Measures the contestants in turn, so other load on the machine affects them alike. The best round of each counts: what
 * else the machine does only makes it slower. The first contestant is ours.
 */
export async function compare(
  names: readonly string[],
  { rounds }: Options,
  sample: (name: string) => Promise<Sample>
): Promise<Row[]> {
  const samples = new Map<string, Sample[]>(names.map(name => [name, []]))
  for (let round = 0; round < rounds; round++) {
    // Back and forth: the first of a round is a few percent slower.
    const order = round % 2 === 0 ? names : names.toReversed()
    for (const name of order) samples.get(name)?.push(await sample(name))
  }
  const best = Array.from(samples, ([contestant, all]) => ({ contestant, ...bestOf(all) }))
  return best.map(({ contestant, rate, cpu, rss }) => ({
    contestant,
    result: `${whole(rate)} requests/s`,
    ratio: (best[0]?.rate ?? NaN) / rate,
    cpu: cpu === undefined ? undefined : `${whole(cpu)} µs`,
    rss
  }))
}

function bestOf(samples: readonly Sample[]): Sample {
  const rate = Math.max(...samples.map(each => each.rate))
  if (samples[0]?.cpu === undefined) return { rate }
  const cpu = Math.min(...samples.map(each => each.cpu ?? Infinity))
  return { rate, cpu, rss: median(samples.map(each => each.rss ?? 0)) }
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? NaN
}

export function whole(number: number): string {
  return Math.round(number).toLocaleString('en')
}
