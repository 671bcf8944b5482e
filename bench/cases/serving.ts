// Files over HTTP: the server on one core, wrk on the other.
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { compare, type Case, type Options, type Row, type Sample } from '../measure.ts'
import { request, startServer, wrk } from '../servers.ts'
import { requestEachOnce } from './each-once.ts'

type Phase = 'before' | 'measured'
type Paths = readonly string[]

interface Request {
  readonly title: string
  readonly isMain?: boolean
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the ETag of a first response as If-None-Match. */
  readonly conditional?: boolean
  readonly connections?: number
  /** Instead of `path`: each of these once, first those before the measurement. */
  readonly passes?: Readonly<Record<Phase, readonly Paths[]>>
  readonly status: number
  /** The first one is ours. */
  readonly contestants: readonly string[]
}

const OURS = 'koa-fresh-assets'
const PEERS = [
  ...['koa-static', 'koa-static-cache', 'sirv', 'srvx, static', '@fastify/static'],
  'express serve-static',
  "Vite's preview"
]
/** It serves scripts and stylesheets alone. */
const REMIX = "Remix's assets"
const TO_KOA = `${OURS}, given to Koa`
const CONSTANT = ['bare node:http', 'Koa, ctx.body = buffer']

/** In a project of their own: some peers read all files at start. */
const MANY = { paths: pathsOf('file', 3000), others: pathsOf('other', 6000), size: 2048 }

function pathsOf(name: string, count: number): Paths {
  return Array.from({ length: count }, (_, at) => `/assets/${at % 30}/${name}-${at}.js`)
}

const IN_TURN = Array<Paths>(4).fill(MANY.paths)
const COLD = [
  ...[OURS, 'koa-static', 'koa-static-cache, dynamic', 'sirv', 'sirv, in Koa'],
  ...['Koa, the calls to the disk', 'nginx']
]

const REQUESTS: readonly Request[] = [
  {
    title: '4 KiB, 200',
    isMain: true,
    path: '/assets/app.js',
    status: 200,
    contestants: [
      ...[
        OURS,
        TO_KOA,
        `${OURS}, observed`,
        `${OURS}, a mount`,
        ...CONSTANT,
        ...PEERS,
        REMIX,
        'nginx'
      ],
      `${OURS}, send only`
    ]
  },
  {
    title: '4 KiB, 304',
    isMain: true,
    path: '/assets/app.js',
    conditional: true,
    status: 304,
    // koa-static never responds with 304 by itself.
    contestants: [
      ...[OURS, TO_KOA, `${OURS}, observed`],
      ...PEERS.filter(name => name !== 'koa-static'),
      ...[REMIX, 'sirv, in Koa', 'Koa, an empty 304', 'nginx']
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
    isMain: true,
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
    passes: { before: [], measured: [MANY.paths] },
    connections: 8,
    status: 200,
    contestants: COLD
  },
  {
    title: `cold, after ${MANY.others.length} other files`,
    path: '/assets/app.js',
    passes: { before: [MANY.others], measured: [MANY.paths] },
    connections: 8,
    status: 200,
    contestants: COLD
  },
  {
    title: 'memory off, 4 KiB',
    path: '/assets/app.js',
    status: 200,
    contestants: [`${OURS}, memory off`, 'koa-static', 'sirv', 'Koa, the calls to the disk']
  },
  {
    title: `memory off, ${MANY.paths.length} files of 2 KiB in turn`,
    path: '/assets/app.js',
    passes: { before: IN_TURN, measured: IN_TURN },
    connections: 8,
    status: 200,
    contestants: [`${OURS}, memory off`, 'koa-static', 'sirv', 'Koa, the calls to the disk']
  },
  {
    title: '404',
    path: '/assets/none.js',
    status: 404,
    contestants: [OURS, ...PEERS, REMIX, 'nginx']
  },
  { title: 'a page behind it', path: '/page', status: 200, contestants: [OURS, 'Koa, a page'] },
  {
    title: 'a page behind both',
    path: '/page',
    status: 200,
    contestants: [`${OURS} and koaHttpCache`, 'Koa, a page']
  },
  {
    title: 'a page with the tag of a stylesheet',
    path: '/styled',
    status: 200,
    contestants: [OURS, 'Koa, a page']
  }
]

export const cases: readonly Case[] = REQUESTS.map(one => ({
  title: one.title,
  isMain: one.isMain ?? false,
  measure: options => measure(one, options)
}))

async function measure(one: Request, options: Options): Promise<readonly Row[]> {
  const [ours = OURS, ...others] = one.contestants
  const before = process.env.BENCH_BEFORE ? [ours.replace(OURS, `${OURS}, before`)] : []
  const against = [...before, ...others].filter(name => name.includes(options.against))
  const root = makeProject(one.passes ? manyFiles() : fewFiles())
  try {
    return await compare([ours, ...against], options, name => sample(one, name, root, options))
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

async function sample(one: Request, name: string, root: string, options: Options): Promise<Sample> {
  await using server = await startServer(name, root)
  const url = `http://127.0.0.1:${server.port}${one.path}`
  const headers = await headersFor(one, name, url)
  // Warm-up, long enough for the JIT compiler.
  await load(one, 'before', url, headers, 2)
  const before = await server.usage()
  const { requests, seconds } = await load(one, 'measured', url, headers, options.seconds)
  const { cpu, rss } = await server.usage()
  const rate = requests / seconds
  // nginx runs in a process of its own, whose cost is not measured.
  return name === 'nginx' ? { rate } : { rate, cpu: (cpu - before.cpu) / requests, rss }
}

async function headersFor(
  one: Request,
  name: string,
  url: string
): Promise<Record<string, string>> {
  const headers: Record<string, string> = { 'Accept-Encoding': 'identity', ...one.headers }
  const first = await request(url, headers)
  if (one.conditional) headers['If-None-Match'] = first.headers.etag ?? ''
  const { statusCode } = await request(url, headers)
  if (statusCode === one.status) return headers
  throw new Error(`${name} responds to ${one.title} with ${statusCode}`)
}

async function load(
  { passes, connections = passes ? 8 : 32 }: Request,
  phase: Phase,
  url: string,
  headers: Record<string, string>,
  seconds: number
): Promise<{ requests: number; seconds: number }> {
  if (!passes) return wrk(url, seconds, { connections, headers })
  const port = Number(new URL(url).port)
  let [requests, spent] = [0, 0]
  for (const paths of passes[phase]) {
    spent += await requestEachOnce(port, paths, { connections, size: MANY.size })
    requests += paths.length
  }
  return { requests, seconds: spent }
}

type Files = Readonly<Record<string, Buffer>>

const text = "answers.push('one line of a script, over and over and over...')\n".repeat(4000)

function fewFiles(): Files {
  return {
    'app.js': Buffer.from(text.slice(0, 4096)),
    'text.js': Buffer.from(text),
    'text.js.gz': gzipSync(text),
    'big.bin': randomBytes(200 * 1024),
    'huge.bin': Buffer.alloc(64 * 2 ** 20, 'x')
  }
}

function manyFiles(): Files {
  const files = [...MANY.paths, ...MANY.others].map((path, at) => [
    path.replace('/assets/', ''),
    Buffer.from(`// ${at}\n${text}`.slice(0, MANY.size))
  ])
  return { 'app.js': Buffer.from(text.slice(0, 4096)), ...(Object.fromEntries(files) as Files) }
}

/** Files with old mtimes, so none looks as if it were being edited. */
function makeProject(files: Files): string {
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
