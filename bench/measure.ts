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
  /** Microseconds of processor time for one request. */
  readonly cpu: number
  /** MiB. */
  readonly rss?: number | undefined
}

/** A contestant that has been started. */
export interface Running extends AsyncDisposable {
  /** Long enough for the JIT compiler. */
  readonly warmUp: () => Promise<unknown>
  readonly measure: () => Promise<Sample>
}

/**
 * Measures the first contestant, which is ours, beside each of the others: both at the same time and on the same core,
 * in new processes for each round. So whatever else the machine does costs both alike. The median of the rounds counts.
 */
export async function compare(
  names: readonly string[],
  { rounds }: Options,
  start: (name: string) => Promise<Running>
): Promise<Row[]> {
  const [first = '', ...others] = names
  const ours: Sample[] = []
  const rows: Row[] = []
  for (const name of others) {
    const theirs: Sample[] = []
    const ratios: number[] = []
    for (let round = 0; round < rounds; round++) {
      const [one, two] = await measureBoth(first, name, start)
      ours.push(one)
      theirs.push(two)
      ratios.push(two.cpu / one.cpu)
    }
    rows.push(rowOf(name, theirs, median(ratios)))
  }
  return [rowOf(first, ours, 1), ...rows]
}

async function measureBoth(
  first: string,
  second: string,
  start: (name: string) => Promise<Running>
): Promise<readonly [Sample, Sample]> {
  await using one = await start(first)
  await using two = await start(second)
  await Promise.all([one.warmUp(), two.warmUp()])
  const samples = await Promise.all([one.measure(), two.measure()])
  return samples
}

function rowOf(contestant: string, samples: readonly Sample[], ratio: number): Row {
  const cpu = median(samples.map(each => each.cpu))
  const rss = samples[0]?.rss === undefined ? undefined : median(samples.map(each => each.rss ?? 0))
  const result = `${whole(1e6 / cpu)} requests/s`
  return { contestant, result, ratio, cpu: `${cpu.toFixed(1)} µs`, rss }
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? NaN
}

export function whole(number: number): string {
  return Math.round(number).toLocaleString('en')
}
