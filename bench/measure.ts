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
  /** Measured once for each process: afterwards it has read the files. */
  readonly isCold?: boolean
}

/** Many short measurements in turn, so each contestant meets the machine in its quiet moments. */
const TURNS = 5

/**
 * Measures contestants in turn, in new processes for each round. The least processor time of each counts: what else the
 * machine does only ever adds to it. The first contestant is ours.
 */
export async function compare(
  names: readonly string[],
  { rounds }: Options,
  start: (name: string) => Promise<Running>
): Promise<Row[]> {
  const samples = new Map<string, Sample[]>(names.map(name => [name, []]))
  for (let round = 0; round < rounds; round++) {
    const started: [name: string, Running][] = []
    try {
      for (const name of names) {
        const running = await start(name)
        started.push([name, running])
        await running.warmUp()
      }
      for (let turn = 0; turn < TURNS; turn++) {
        const inTurn = turn % 2 === 0 ? started : started.toReversed()
        for (const [name, running] of inTurn) {
          if (turn === 0 || !running.isCold) samples.get(name)?.push(await running.measure())
        }
      }
    } finally {
      await Promise.all(started.map(([, running]) => running[Symbol.asyncDispose]()))
    }
  }
  const costs = Array.from(samples, ([contestant, all]) => ({ contestant, ...leastOf(all) }))
  return costs.map(({ contestant, cpu, rss }) => ({
    contestant,
    result: `${whole(1e6 / cpu)} requests/s`,
    ratio: cpu / (costs[0]?.cpu ?? NaN),
    cpu: `${cpu.toFixed(1)} µs`,
    rss
  }))
}

function leastOf(samples: readonly Sample[]): Sample {
  const cpu = Math.min(...samples.map(each => each.cpu))
  return {
    cpu,
    rss: samples[0]?.rss === undefined ? undefined : median(samples.map(each => each.rss ?? 0))
  }
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? NaN
}

export function whole(number: number): string {
  return Math.round(number).toLocaleString('en')
}
