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

/** Measures the contestants in turn, so other load on the machine affects them alike. The first one is ours. */
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
  const [ours = []] = samples.values()
  return Array.from(samples, ([contestant, all]) => ({
    contestant,
    result: `${whole(median(all.map(({ rate }) => rate)))} requests/s`,
    // One ratio per round, because the machine's speed varies from minute to minute.
    ratio: median(all.map(({ rate }, round) => (ours[round]?.rate ?? NaN) / rate)),
    cpu:
      all[0]?.cpu === undefined ? undefined : `${whole(median(all.map(each => each.cpu ?? 0)))} µs`,
    rss: all[0]?.rss === undefined ? undefined : median(all.map(each => each.rss ?? 0))
  }))
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? NaN
}

export function whole(number: number): string {
  return Math.round(number).toLocaleString('en')
}
