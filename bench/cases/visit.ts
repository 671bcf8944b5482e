// A page of a shop with seven packages, as its visitors get it: all cases from the same visits.
import { median, type Case, type Options, type Row } from '../measure.ts'
import { contestants } from '../visit/contestants.ts'
import { build, removeBuilds, tagsOf, visitsOf, type Visits } from '../visit/visits.ts'

interface Measured {
  readonly name: string
  readonly cpu: number
  readonly tags: readonly [number, number]
  readonly rounds: readonly Visits[]
}

const TITLES: Readonly<Record<keyof Visits, string>> = {
  first: 'visit, the first',
  next: 'visit, the next page',
  second: 'visit, the second',
  deployed: 'visit, after a deploy',
  without: 'visit, after a deploy, without dictionaries'
}

export const cases: readonly Case[] = [
  ...Object.entries(TITLES).map(([key, title]) => ({
    title,
    measure: async (options: Options) => rowsOf(await measured(options), key as keyof Visits)
  })),
  {
    title: 'visit, the tags in a page',
    measure: async options => tagRows(await measured(options))
  },
  { title: 'visit, the build', measure: async options => buildRows(await measured(options)) }
]

let measuring: Promise<readonly Measured[]> | undefined

function measured(options: Options): Promise<readonly Measured[]> {
  return (measuring ??= measure(options))
}

async function measure({ rounds, against }: Options): Promise<readonly Measured[]> {
  const chosen = contestants.filter(({ name }, at) => at === 0 || name.includes(against))
  try {
    const builds = chosen.map(build)
    const visits = new Map(builds.map(each => [each, [] as Visits[]]))
    for (let round = 0; round < rounds; round++) {
      for (const each of builds) visits.get(each)?.push(await visitsOf(each))
    }
    return await Promise.all(
      builds.map(async each => ({
        name: each.contestant.name,
        cpu: each.cpu,
        tags: await tagsOf(each),
        rounds: visits.get(each) ?? []
      }))
    )
  } finally {
    removeBuilds()
  }
}

function rowsOf(all: readonly Measured[], key: keyof Visits): readonly Row[] {
  const [ours] = all
  return all.map(({ name, rounds }) => {
    const visits = rounds.map(round => round[key])
    const middle = (of: 'requests' | 'bytes' | 'load') => median(visits.map(visit => visit[of]))
    const ratios = visits.map(({ load }, round) => load / (ours?.rounds[round]?.[key].load ?? NaN))
    const requests = middle('requests')
    const size = `${requests} request${requests === 1 ? '' : 's'}, ${kilobytes(middle('bytes'))}`
    return {
      contestant: name,
      result: `${size}, ${(middle('load') / 1000).toFixed(2)} s`,
      ratio: median(ratios)
    }
  })
}

function tagRows(all: readonly Measured[]): readonly Row[] {
  return all.map(({ name, tags: [raw, compressed] }) => ({
    contestant: name,
    result: `${kilobytes(raw)}, br ${kilobytes(compressed)}`
  }))
}

function buildRows(all: readonly Measured[]): readonly Row[] {
  const [ours] = all
  return all.map(({ name, cpu }) => ({
    contestant: name,
    result: `${cpu.toFixed(1)} s of CPU`,
    ratio: cpu / (ours?.cpu ?? NaN)
  }))
}

function kilobytes(bytes: number): string {
  return bytes < 1000 ? `${bytes} B` : `${(bytes / 1000).toFixed(1)} kB`
}
