// Measures what koaHttpCache costs, with wrk: the server on core 0, the client on core 1.
//   npm run build && node --import tsx bench/http-cache.ts [rounds] [seconds]
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

import Koa from 'koa'

import { koaHttpCache } from 'koa-fresh-assets'

const ME = fileURLToPath(import.meta.url)
const BODY = 'a small body of plain text'

// The application of each case, and the header that its client sends.
const CASES = {
  'koa alone': { app: plain, header: '' },
  'koaHttpCache, no method called': { app: unused, header: '' },
  'fresh, 200 with a small body': { app: fresh, header: '' },
  'fresh, 304': { app: fresh, header: 'If-None-Match: "x"' }
}

type Case = keyof typeof CASES

function plain(app: Koa): void {
  app.use(ctx => {
    ctx.body = BODY
  })
}

function unused(app: Koa): void {
  app.use(koaHttpCache())
  plain(app)
}

function fresh(app: Koa): void {
  app.use(koaHttpCache())
  app.use(async ctx => {
    await ctx.fresh('x')
    ctx.body = BODY
  })
}

async function serve(name: Case): Promise<void> {
  const app = new Koa()
  CASES[name].app(app)
  const handle = app.callback()
  const server = createServer((req, res) => void handle(req, res)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
  process.send?.((server.address() as AddressInfo).port)
}

/** Requests per second, and microseconds of CPU time that the server spent on each. */
interface Figures {
  readonly rate: number
  readonly cpu: number
}

async function measure(name: Case, seconds: number): Promise<Figures> {
  const server = spawn(
    'taskset',
    ['-c', '0', process.execPath, '--import', 'tsx', ME, 'serve', name],
    {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, NODE_ENV: 'production' }
    }
  )
  const [port] = (await once(server, 'message')) as [number]
  const { header } = CASES[name]
  const url = `http://127.0.0.1:${port}/`
  // Without the header first: a conditional request follows a full response.
  await wrk(url, '', 1)
  await wrk(url, header, 1)
  const before = await cpuOf(server)
  const { rate, requests } = await wrk(url, header, seconds)
  const cpu = ((await cpuOf(server)) - before) / requests
  server.kill()
  await once(server, 'exit')
  return { rate, cpu }
}

async function cpuOf(server: ChildProcess): Promise<number> {
  server.send('cpu')
  const [microseconds] = (await once(server, 'message')) as [number]
  return microseconds
}

async function wrk(
  url: string,
  header: string,
  seconds: number
): Promise<{ rate: number; requests: number }> {
  const options = ['-t', '1', '-c', '16', '-d', `${seconds}s`]
  if (header !== '') options.push('-H', header)
  const client = spawn('taskset', ['-c', '1', 'wrk', ...options, url])
  let report = ''
  client.stdout.on('data', chunk => (report += String(chunk)))
  await once(client, 'close')
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(report)?.[1]
  const requests = /(\d+) requests in/.exec(report)?.[1]
  if (rate === undefined || requests === undefined)
    throw new Error(`unexpected output of wrk: ${report}`)
  return { rate: Number(rate), requests: Number(requests) }
}

function median(figures: readonly number[]): number {
  return figures.toSorted((one, other) => one - other)[Math.floor(figures.length / 2)] ?? 0
}

async function compare(rounds: number, seconds: number): Promise<void> {
  const names = Object.keys(CASES) as Case[]
  const runs = new Map<Case, Figures[]>(names.map(name => [name, []]))
  // In turn, so a noisy minute affects every case alike.
  for (let round = 0; round < rounds; round++) {
    for (const name of names) runs.get(name)?.push(await measure(name, seconds))
  }
  const all = (name: Case, key: keyof Figures) => runs.get(name)?.map(one => one[key]) ?? []
  for (const name of names) {
    const requests = median(all(name, 'rate')).toFixed(0).padStart(7)
    const cpu = median(all(name, 'cpu')).toFixed(1)
    console.log(`${requests} requests/s, ${cpu} us of CPU each: ${name}`)
  }
  // One ratio per round, because the machine's speed varies from minute to minute.
  const ratio = (one: Case, other: Case, key: keyof Figures) => {
    const others = all(other, key)
    return median(all(one, key).map((figure, round) => figure / (others[round] ?? NaN)))
  }
  const both = (one: Case, other: Case) =>
    `${ratio(one, other, 'rate').toFixed(3)} by wrk, ${ratio(other, one, 'cpu').toFixed(3)} by CPU`
  const unused = both('koaHttpCache, no method called', 'koa alone')
  const halted = both('fresh, 304', 'fresh, 200 with a small body')
  console.log(`a route that calls no method, against koa alone: ${unused}`)
  console.log(`a halt, against a 200 with a small body: ${halted}`)
}

const [mode = '5', argument = '4'] = process.argv.slice(2)
await (mode === 'serve' ? serve(argument as Case) : compare(Number(mode), Number(argument)))
