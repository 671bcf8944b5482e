// Measures what the number of assets costs, and how much memory a flood of names takes.
// `npm run build && node --import tsx bench/many.ts [--requests 1000000]`
import { fork, execFile, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' }
  }
})
const run = promisify(execFile)
const scratch = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-many-'))

try {
  await compareCounts()
  await floodWithNames()
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

/** Requests the same fifty names among fifty files and among many more. */
async function compareCounts(): Promise<void> {
  const counts = [50, 5000, 50_000]
  const servers = await Promise.all(
    counts.map(async (count, at) => ({ count, ...(await start(makeProject(count), 4700 + at)) }))
  )
  const script = lua('hot.lua', 'string.format("/assets/a%d.js", math.random(0, 49))')
  const results = new Map<number, { latency: number[]; cpu: number[] }>(
    counts.map(count => [count, { latency: [], cpu: [] }])
  )
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const { count, port, child } of servers) {
      const before = await usage(child)
      const { latency, requests } = await wrk(port, script, 2)
      const after = await usage(child)
      results.get(count)?.latency.push(latency)
      results.get(count)?.cpu.push((after.cpu - before.cpu) / requests)
    }
  }
  for (const { child } of servers) child.kill()
  console.log('| assets | median latency, µs | CPU µs/request |\n|--:|--:|--:|')
  for (const [count, { latency, cpu }] of results) {
    console.log(`| ${count} | ${median(latency).toFixed(0)} | ${median(cpu).toFixed(1)} |`)
  }
}

/** Requests a hundred thousand names at random; a tenth of them have no file. */
async function floodWithNames(): Promise<void> {
  const { port, child } = await start(makeProject(90_000), 4710)
  const script = lua('flood.lua', 'string.format("/assets/a%d.js", math.random(0, 99999))')
  console.log('\n| requests | resident memory, MiB |\n|--:|--:|')
  let done = 0
  console.log(`| 0 | ${(await usage(child)).rss.toFixed(0)} |`)
  while (done < Number(values.requests)) {
    done += (await wrk(port, script, 10)).requests
    console.log(`| ${done} | ${(await usage(child)).rss.toFixed(0)} |`)
  }
  child.kill()
}

function makeProject(count: number): string {
  const root = join(scratch, String(count))
  mkdirSync(join(root, 'public/assets'), { recursive: true })
  for (let number = 0; number < count; number++) {
    const file = join(root, `public/assets/a${number}.js`)
    writeFileSync(file, `export const number = ${number}\n`.padEnd(1024, '/'))
    utimesSync(file, 1_700_000_000, 1_700_000_000)
  }
  return root
}

async function start(root: string, port: number): Promise<{ child: ChildProcess; port: number }> {
  const args = ['koa-fresh-assets', root, String(port)]
  const child = fork(join(import.meta.dirname, 'server.ts'), args, {
    execArgv: ['--import=tsx'],
    env: { ...process.env, NODE_ENV: 'production' }
  })
  await new Promise(resolve => child.once('message', resolve))
  await run('taskset', ['-a', '-pc', '0', String(child.pid)])
  return { child, port }
}

function lua(name: string, path: string): string {
  const file = join(scratch, name)
  writeFileSync(file, `function request() return wrk.format("GET", ${path}) end\n`)
  return file
}

async function wrk(port: number, script: string, seconds: number) {
  const url = `http://127.0.0.1:${port}`
  const flags = ['-t1', '-c16', `-d${seconds}s`, '--latency', '-s', script, url]
  const { stdout } = await run('taskset', ['-c', '1', 'wrk', ...flags])
  const [, value = '0', unit] = /50%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? []
  const [, requests = '1'] = /(\d+) requests in/.exec(stdout) ?? []
  const scale = { us: 1, ms: 1000, s: 1_000_000 }[unit ?? 'us'] ?? 1
  return { latency: Number(value) * scale, requests: Number(requests) }
}

function usage(child: ChildProcess): Promise<{ cpu: number; rss: number }> {
  return new Promise(resolve => {
    child.once('message', message => {
      const { cpu, rss } = message as { cpu: NodeJS.CpuUsage; rss: number }
      resolve({ cpu: cpu.user + cpu.system, rss: rss / 2 ** 20 })
    })
    child.send('usage')
  })
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN
}
