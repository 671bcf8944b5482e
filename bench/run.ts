// Compares servers: the server on one core, wrk on the other, every contestant in turn, several rounds.
//   npm run bench -- [--rounds 3] [--seconds 2] [--case 304] [--only sirv]
// With BENCH_BEFORE=<folder of another checkout that has been built>, that one takes part in every case.
// A run of all cases writes results.md.
import { execFile, fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { cpus, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { buildSync } from 'esbuild'
import { requestEachOnce } from './each-once.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    case: { type: 'string', default: '' },
    only: { type: 'string', default: '' }
  }
})
const run = promisify(execFile)
const OURS = 'koa-fresh-assets'

interface Case {
  readonly title: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the ETag of a first response as If-None-Match. */
  readonly conditional?: boolean
  readonly connections?: number
  /** Requests each of `MANY.paths` once instead of `path`: how often before, and how often measured. */
  readonly passes?: { readonly before: number; readonly measured: number }
  readonly status: number
  readonly contestants: readonly string[]
}

const PEERS = ['koa-static', 'koa-static-cache', 'sirv', '@fastify/static', 'express serve-static']
const TO_KOA = `${OURS}, given to Koa`
const CONSTANT = ['bare node:http', 'Koa, ctx.body = buffer']

/** In a project of their own: some peers read all files at start. */
const MANY = {
  paths: Array.from({ length: 3000 }, (_, at) => `/assets/${at % 30}/file-${at}.js`),
  size: 2048
}

const CASES: readonly Case[] = [
  {
    title: '4 KiB, 200',
    path: '/assets/app.js',
    status: 200,
    contestants: [
      ...[OURS, TO_KOA, `${OURS}, a mount`, ...CONSTANT, ...PEERS, 'nginx'],
      `${OURS}, send only`
    ]
  },
  {
    title: '4 KiB, 304',
    path: '/assets/app.js',
    conditional: true,
    status: 304,
    // koa-static never responds with 304 by itself.
    contestants: [
      ...[OURS, TO_KOA],
      ...[...PEERS.filter(name => name !== 'koa-static'), 'sirv, in Koa', 'nginx']
    ]
  },
  {
    title: '200 KiB',
    path: '/assets/big.bin',
    status: 200,
    contestants: [OURS, TO_KOA, 'bare node:http, 200 KiB', ...PEERS, 'nginx']
  },
  {
    title: '64 MiB stream',
    path: '/assets/huge.bin',
    status: 200,
    connections: 4,
    contestants: [
      ...[OURS, TO_KOA, 'koa-static', 'sirv', '@fastify/static', 'express serve-static'],
      'nginx'
    ]
  },
  {
    title: 'gzip negotiated',
    path: '/assets/text.js',
    headers: { 'Accept-Encoding': 'gzip' },
    status: 200,
    contestants: [OURS, 'koa-static-cache', 'sirv', '@fastify/static', 'nginx']
  },
  {
    title: 'development, present',
    path: '/assets/app.js',
    status: 200,
    contestants: [`${OURS}, development`, 'koa-static']
  },
  {
    title: `cold: ${MANY.paths.length} files of 2 KiB, once each`,
    path: '/assets/app.js',
    passes: { before: 0, measured: 1 },
    connections: 8,
    status: 200,
    contestants: [OURS, 'koa-static', 'koa-static-cache, dynamic', 'sirv', 'sirv, in Koa', 'nginx']
  },
  {
    title: 'memory off, 4 KiB',
    path: '/assets/app.js',
    status: 200,
    contestants: [`${OURS}, memory off`, 'koa-static', 'sirv']
  },
  {
    title: `memory off, ${MANY.paths.length} files of 2 KiB in turn`,
    path: '/assets/app.js',
    passes: { before: 4, measured: 4 },
    connections: 8,
    status: 200,
    contestants: [`${OURS}, memory off`, 'koa-static', 'sirv']
  },
  { title: '404', path: '/assets/none.js', status: 404, contestants: [OURS, ...PEERS, 'nginx'] },
  { title: 'a page behind it', path: '/page', status: 200, contestants: [OURS, 'Koa, a page'] }
]

interface Sample {
  readonly perSecond: number
  /** Microseconds of CPU time per request. */
  readonly cpu: number
  /** MiB. */
  readonly rss: number
}

// Bundled to JavaScript, because a TypeScript loader slows down what it loads.
const SERVER = join(import.meta.dirname, '../dist/bench-server.js')
buildSync({
  entryPoints: [join(import.meta.dirname, 'server.ts')],
  outfile: SERVER,
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'node'
})
const text = 'export const answer = 42 // the same line over and over\n'.repeat(4000)
const few = makeProject({
  'app.js': Buffer.from(text.slice(0, 4096)),
  'text.js': Buffer.from(text),
  'text.js.gz': gzipSync(text),
  'big.bin': randomBytes(200 * 1024),
  'huge.bin': Buffer.alloc(64 * 2 ** 20, 'x')
})
const many = makeProject({
  'app.js': Buffer.from(text.slice(0, 4096)),
  ...Object.fromEntries(
    MANY.paths.map((path, at) => [
      path.replace('/assets/', ''),
      Buffer.from(`// ${at}\n${text}`.slice(0, MANY.size))
    ])
  )
})
const rows: string[] = []
try {
  for (const one of CASES.filter(({ title }) => title.includes(values.case))) await measure(one)
} finally {
  for (const root of [few, many]) rmSync(root, { recursive: true, force: true })
  rmSync(SERVER)
}
if (!values.case && !values.only) writeFileSync(join(import.meta.dirname, 'results.md'), report())

/** Measures the contestants in turn, so other load on the machine affects them alike. */
async function measure(one: Case): Promise<void> {
  const [ours = OURS] = one.contestants
  const before = process.env.BENCH_BEFORE ? [ours.replace(OURS, `${OURS}, before`)] : []
  const names = [...before, ...one.contestants].filter(
    name => name === ours || name.includes(values.only)
  )
  names.sort((one, other) => Number(other === ours) - Number(one === ours))
  const samples = new Map<string, Sample[]>(names.map(name => [name, []]))
  for (let round = 0; round < Number(values.rounds); round++) {
    // Back and forth: the first of a round is a few percent slower.
    const order = round % 2 === 0 ? names : names.toReversed()
    for (const name of order) samples.get(name)?.push(await sample(one, name))
  }
  const table = tableOf(one, samples)
  console.log(table.join('\n'))
  rows.push(...table)
}

async function sample(one: Case, name: string): Promise<Sample> {
  const port = await freePort()
  const server = await startServer(name, one.passes ? many : few, port)
  try {
    const url = `http://127.0.0.1:${port}${one.path}`
    const headers = await headersFor(one, name, url)
    // Warm-up, long enough for the JIT compiler.
    await load(one, 'before', url, headers)
    const before = await usage(server)
    const { requests, seconds } = await load(one, 'measured', url, headers)
    const after = await usage(server)
    return {
      perSecond: requests / seconds,
      cpu: (after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system) / requests,
      rss: after.rss / 2 ** 20
    }
  } finally {
    server.kill('SIGTERM')
  }
}

async function headersFor(one: Case, name: string, url: string): Promise<Record<string, string>> {
  const headers: Record<string, string> = { 'Accept-Encoding': 'identity', ...one.headers }
  const first = await request(url, headers)
  if (one.conditional) headers['If-None-Match'] = first.headers.etag ?? ''
  const { statusCode } = await request(url, headers)
  if (statusCode === one.status) return headers
  throw new Error(`${name} responds to ${one.title} with ${statusCode}`)
}

/** Not with fetch, which adds `Cache-Control: no-cache` to a conditional request. */
function request(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = get(url, { headers, agent: false }, response => {
      response.resume()
      response.on('end', () => resolve(response))
    })
    sent.on('error', reject)
  })
}

interface Done {
  readonly requests: number
  readonly seconds: number
}

type Phase = keyof NonNullable<Case['passes']>

function load(
  { passes, connections }: Case,
  phase: Phase,
  url: string,
  headers: Record<string, string>
): Promise<Done> {
  if (passes) return loadMany(url, passes[phase], connections)
  const seconds = phase === 'before' ? 3 : Number(values.seconds)
  return loadOne(url, headers, seconds, connections)
}

async function loadOne(
  url: string,
  headers: Record<string, string>,
  seconds: number,
  connections = 32
): Promise<Done> {
  const flags = Object.entries(headers).flatMap(([key, value]) => ['-H', `${key}: ${value}`])
  const wrk = [
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${Math.max(1, Math.round(seconds))}s`,
    ...flags,
    url
  ]
  const { stdout } = await run('taskset', ['-c', '1', ...wrk])
  const [, requests = '0', time = '1', unit] =
    /(\d+) requests in ([\d.]+)(s|m|ms),/.exec(stdout) ?? []
  return { requests: Number(requests), seconds: Number(time) * (unit === 'm' ? 60 : 1) }
}

async function loadMany(url: string, passes: number, connections = 8): Promise<Done> {
  const port = Number(new URL(url).port)
  let seconds = 0
  for (let pass = 0; pass < passes; pass++) {
    seconds += await requestEachOnce(port, MANY.paths, { connections, size: MANY.size })
  }
  return { requests: MANY.paths.length * passes, seconds }
}

async function startServer(name: string, root: string, port: number): Promise<ChildProcess> {
  const child = fork(SERVER, [name, root, String(port)], {
    execArgv: [],
    stdio: 'inherit',
    env: { ...process.env, NODE_ENV: 'production' }
  })
  await run('taskset', ['-a', '-pc', '0', String(child.pid)])
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('exit', code => reject(new Error(`${name} ended with ${code}`)))
  })
  return child
}

interface Usage {
  readonly cpu: NodeJS.CpuUsage
  readonly rss: number
}

function usage(server: ChildProcess): Promise<Usage> {
  return new Promise(resolve => {
    server.once('message', message => resolve(message as Usage))
    server.send('usage')
  })
}

function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN
}

function tableOf({ title }: Case, samples: ReadonlyMap<string, Sample[]>): string[] {
  const [ours = []] = samples.values()
  const lines = Array.from(samples, ([name, all]) => {
    const perSecond = median(all.map(one => one.perSecond))
    // One ratio per round, because the machine's speed varies from minute to minute.
    const ratio = median(all.map((one, round) => (ours[round]?.perSecond ?? NaN) / one.perSecond))
    // nginx runs in a process of its own, whose cost is not measured.
    const [cpu, rss] = ['cpu', 'rss'].map(key =>
      name === 'nginx' ? '' : median(all.map(one => one[key as 'cpu' | 'rss'])).toFixed(0)
    )
    return `| ${name} | ${perSecond.toFixed(0)} | ${ratio.toFixed(2)} | ${cpu} | ${rss} |`
  })
  const head =
    '| server | requests/s | koa-fresh-assets is … times as fast | CPU µs/request | RSS MiB |'
  return ['', `## ${title}`, '', head, '|---|--:|--:|--:|--:|', ...lines]
}

function report(): string {
  const [cpu] = cpus()
  const how = `${values.rounds} rounds of ${values.seconds} s in turn. Figures and ratios are medians over the rounds; the server runs on one core, wrk on another`
  return `# Serving compared\n\nNode ${process.version}, ${cpu?.model.trim()}; ${how}.\n${rows.join('\n')}\n`
}

/** Files with old mtimes, so none looks as if it were being edited. */
function makeProject(files: Readonly<Record<string, Buffer>>): string {
  const project = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-bench-'))
  for (const folder of ['public/assets', 'apps/web/assets']) {
    for (const [name, bytes] of Object.entries(files)) {
      const file = join(project, folder, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, bytes)
      utimesSync(file, 1_700_000_000, 1_700_000_000)
    }
  }
  return project
}
