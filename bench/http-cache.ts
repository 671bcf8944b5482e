// What koaHttpCache costs, measured with wrk: the server on core 0, the client on core 1.
//   NODE_ENV=production node --import tsx bench/http-cache.ts [rounds] [seconds]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

import Koa from 'koa'

import { koaHttpCache } from 'koa-fresh-assets'

const ME = fileURLToPath(import.meta.url)
const BODY = 'a small body of plain text'

// Each case is a server's application and the header that its client sends.
const CASES = {
  'koa alone': { app: plain, header: '' },
  'koaHttpCache, none of its words': { app: unused, header: '' },
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
  process.send?.((server.address() as AddressInfo).port)
}

async function measure(name: Case, seconds: number): Promise<number> {
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
  await wrk(url, header, 1)
  const rate = await wrk(url, header, seconds)
  server.kill()
  await once(server, 'exit')
  return rate
}

async function wrk(url: string, header: string, seconds: number): Promise<number> {
  const client = spawn('taskset', [
    ...['-c', '1', 'wrk', '-t', '1', '-c', '16', '-d', `${seconds}s`],
    ...(header === '' ? [] : ['-H', header]),
    url
  ])
  let report = ''
  client.stdout.on('data', chunk => (report += String(chunk)))
  await once(client, 'close')
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(report)?.[1]
  if (rate === undefined) throw new Error(`wrk said nothing of its rate: ${report}`)
  return Number(rate)
}

function median(rates: readonly number[]): number {
  return rates.toSorted((one, other) => one - other)[Math.floor(rates.length / 2)] ?? 0
}

async function compare(rounds: number, seconds: number): Promise<void> {
  const names = Object.keys(CASES) as Case[]
  const rates = new Map<Case, number[]>(names.map(name => [name, []]))
  // In turn, so that a noisy minute touches every case alike.
  for (let round = 0; round < rounds; round++) {
    for (const name of names) rates.get(name)?.push(await measure(name, seconds))
  }
  const rate = (name: Case) => median(rates.get(name) ?? [])
  for (const name of names) {
    console.log(`${rate(name).toFixed(0).padStart(7)} requests/s  ${name}`)
  }
  const cost = 1 - rate('koaHttpCache, none of its words') / rate('koa alone')
  const halted = rate('fresh, 304') / rate('fresh, 200 with a small body')
  console.log(`overhead where no word is used: ${(cost * 100).toFixed(1)} %`)
  console.log(`halted against 200 with a small body: ${halted.toFixed(2)} times the requests`)
}

const [mode = '5', argument = '4'] = process.argv.slice(2)
await (mode === 'serve' ? serve(argument as Case) : compare(Number(mode), Number(argument)))
