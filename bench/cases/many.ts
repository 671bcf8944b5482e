// What the number of assets costs, and how much memory a flood of names takes.
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compare, whole, type Case, type Options, type Row } from '../measure.ts'
import { startContestant, startServer, wrk } from '../servers.ts'

const OURS = 'koa-fresh-assets'
const COUNTS = [50, 5000, 50_000]
const FLOOD = { files: 90_000, names: 100_000, seconds: 10, times: 3 }

export const cases: readonly Case[] = [
  { title: 'the same fifty files among more', measure: inScratch(compareCounts) },
  {
    title: `${whole(FLOOD.names)} names at random, a tenth of them without a file`,
    measure: inScratch(floodWithNames)
  }
]

function inScratch(
  measure: (scratch: string, options: Options) => Promise<readonly Row[]>
): Case['measure'] {
  return async options => {
    const scratch = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-many-'))
    try {
      return await measure(scratch, options)
    } finally {
      rmSync(scratch, { recursive: true, force: true })
    }
  }
}

function compareCounts(scratch: string, options: Options): Promise<readonly Row[]> {
  const script = lua(scratch, 'math.random(0, 49)')
  const names = COUNTS.map(count => `among ${whole(count)}`)
  const projects = new Map(names.map((name, at) => [name, makeProject(scratch, COUNTS[at] ?? 0)]))
  return compare(names, options, name =>
    startContestant(OURS, projects.get(name) ?? '', ({ port }, isWarmUp) =>
      wrk(`http://127.0.0.1:${port}`, isWarmUp ? 2 : options.seconds, { script })
    )
  )
}

async function floodWithNames(scratch: string): Promise<readonly Row[]> {
  const script = lua(scratch, `math.random(0, ${FLOOD.names - 1})`)
  await using server = await startServer(OURS, makeProject(scratch, FLOOD.files))
  const rows: Row[] = []
  let done = 0
  for (let times = 0; times < FLOOD.times; times++) {
    done += await wrk(`http://127.0.0.1:${server.port}`, FLOOD.seconds, { script })
    const { rss } = await server.usage()
    rows.push({ contestant: OURS, result: `after ${whole(done)} requests`, rss })
  }
  return rows
}

function makeProject(scratch: string, count: number): string {
  const root = join(scratch, String(count))
  mkdirSync(join(root, 'public/assets'), { recursive: true })
  for (let number = 0; number < count; number++) {
    const file = join(root, `public/assets/a${number}.js`)
    writeFileSync(file, `export const number = ${number}\n`.padEnd(1024, '/'))
    utimesSync(file, 1_700_000_000, 1_700_000_000)
  }
  return root
}

function lua(scratch: string, number: string): string {
  const file = join(scratch, 'request.lua')
  const path = `string.format("/assets/a%d.js", ${number})`
  writeFileSync(file, `function request() return wrk.format("GET", ${path}) end\n`)
  return file
}
