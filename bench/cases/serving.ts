// Files over HTTP: the servers on one core, wrk on the other.
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { compare, type Case, type Options, type Row, type Running } from '../measure.ts'
import { request, startContestant, wrk, type Server } from '../servers.ts'
import { requestEachOnce } from './each-once.ts'

type Paths = readonly string[]

interface Request {
  readonly title: string
  readonly isMain?: boolean
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the ETag of a first response as If-None-Match. */
  readonly conditional?: boolean
  readonly connections?: number
  /** Of a body that takes long to send, in bytes. */
  readonly size?: number
  /** Instead of `path`: each of these once, first those before the measurement. */
  readonly passes?: Readonly<Record<'before' | 'measured', readonly Paths[]>>
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
const CONSTANT = ['bare node:http', 'Koa, a buffer in a response of Node', 'Koa, ctx.body = buffer']

/** In a project of their own: some peers read all files at start. */
const MANY = { paths: pathsOf('file', 3000), others: pathsOf('other', 6000), size: 2048 }

function pathsOf(name: string, count: number): Paths {
  return Array.from({ length: count }, (_, at) => `/assets/${at % 30}/${name}-${at}.js`)
}

const HUGE = 64 * 2 ** 20
const IN_TURN = Array<Paths>(4).fill(MANY.paths)
const COLD = [
  ...[OURS, 'koa-static', 'koa-static-cache, dynamic', 'sirv', 'sirv, in Koa'],
  ...['Koa, the calls to the disk', 'nginx']
]

/** Two processes that do the same: how far their ratio is from one is what all others may be wrong by. */
export const CONTROL = 'bare node:http beside itself'

const REQUESTS: readonly Request[] = [
  {
    title: CONTROL,
    path: '/assets/app.js',
    status: 200,
    contestants: ['bare node:http', 'bare node:http, again']
  },
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
    size: HUGE,
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
  const hasBefore = process.env.BENCH_BEFORE && ours.startsWith(OURS)
  const before = hasBefore ? [ours.replace(OURS, `${OURS}, before`)] : []
  const against = [...before, ...others].filter(
    name => one.title === CONTROL || name.includes(options.against)
  )
  const root = makeProject(one.passes ? manyFiles() : fewFiles())
  try {
    return await compare([ours, ...against], options, name => start(one, name, root, options))
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function start(one: Request, name: string, root: string, options: Options): Promise<Running> {
  let headers: Record<string, string> | undefined
  const send = async ({ port }: Server, isWarmUp: boolean) => {
    const url = `http://127.0.0.1:${port}${one.path}`
    headers ??= await headersFor(one, name, url)
    return load(one, isWarmUp, port, headers, isWarmUp ? 3 : options.seconds)
  }
  return startContestant(name, root, send, one.passes !== undefined)
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

/** @returns the number of requests */
async function load(
  { path, passes, size, connections = passes ? 8 : 32 }: Request,
  isWarmUp: boolean,
  port: number,
  headers: Record<string, string>,
  seconds: number
): Promise<number> {
  if (!passes)
    return wrk(`http://127.0.0.1:${port}${path}`, seconds, { connections, headers, size })
  const chosen = isWarmUp ? passes.before : passes.measured
  for (const paths of chosen) {
    await requestEachOnce(port, paths, { connections, size: MANY.size })
  }
  return chosen.flat().length
}

type Files = Readonly<Record<string, Buffer>>

const text = "answers.push('one line of a script, over and over and over...')\n".repeat(4000)

function fewFiles(): Files {
  return {
    'app.js': Buffer.from(text.slice(0, 4096)),
    'text.js': Buffer.from(text),
    'text.js.gz': gzipSync(text),
    'big.bin': randomBytes(200 * 1024),
    'huge.bin': Buffer.alloc(HUGE, 'x')
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
