// What an application pays before its first request: the time of one import once Koa is there, and the heap when
// it has started. Each in a process of its own.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { precompile } from '../../dist/index.js'
import { median, type Case, type Options, type Row } from '../measure.ts'

interface Start {
  /** Milliseconds. */
  readonly wall: number
  /** Milliseconds of the process. */
  readonly cpu: number
  /** MiB. */
  readonly heap: number
  /** MiB. */
  readonly rss: number
}

const BENCH = join(import.meta.dirname, '..')
const ROOT = join(BENCH, '..')
const OURS = '(module, root) => module.koaAssets({ root, env: "production", serve: true })'

/** The module, and what makes a middleware of it. */
const CONTESTANTS: Readonly<Record<string, readonly [module: string, use: string]>> = {
  'koa-fresh-assets': [built(ROOT, 'index'), OURS],
  'koa-fresh-assets, its half of assets': [built(ROOT, 'koa-assets'), OURS],
  ...(process.env.BENCH_BEFORE && {
    'koa-fresh-assets, before': [built(process.env.BENCH_BEFORE, 'index'), OURS]
  }),
  'koa-static': ['koa-static', '(module, root) => module.default(`${root}/public`)'],
  sirv: ['sirv', '(module, root) => (module.default(`${root}/public`), undefined)'],
  '@fastify/static': ['@fastify/static', '() => undefined']
}

function built(root: string, name: string): string {
  return pathToFileURL(join(root, 'dist', `${name}.js`)).href
}

/** What each stands on is loaded before. */
const BASE: Readonly<Record<string, string>> = { '@fastify/static': 'fastify' }

const program = (base: string, [module, use]: readonly [string, string], root: string) => `
  const { default: Koa } = await import('koa')
  await import('${base}')
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  const module = await import('${module}')
  const wall = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpuBefore)
  const app = new Koa()
  const middleware = (${use})(module, ${JSON.stringify(root)})
  if (middleware) app.use(middleware)
  const server = app.listen(0, '127.0.0.1', () => setTimeout(() => {
    gc()
    gc()
    const { heapUsed, rss } = process.memoryUsage()
    const cpu = (user + system) / 1000
    console.log(JSON.stringify({ wall, cpu, heap: heapUsed / 2 ** 20, rss: rss / 2 ** 20 }))
    server.close()
  }, 100))
`

export const cases: readonly Case[] = [{ title: 'import and start', measure: compareStarts }]

async function compareStarts({ rounds, against }: Options): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-bench-'))
  try {
    for (const file of ['apps/web/assets/app.css', 'apps/web/assets/app.js']) {
      mkdirSync(dirname(join(root, file)), { recursive: true })
      writeFileSync(join(root, file), '')
    }
    await precompile({ root })
    const names = Object.keys(CONTESTANTS).filter(
      name => name.startsWith('koa-') || name.includes(against)
    )
    const starts = new Map<string, Start[]>(names.map(name => [name, []]))
    for (let round = 0; round < rounds * 3; round++) {
      const order = round % 2 === 0 ? names : names.toReversed()
      for (const name of order) starts.get(name)?.push(startOf(name, root))
    }
    return rowsOf(starts)
  } finally {
    rmSync(root, { recursive: true })
  }
}

function startOf(name: string, root: string): Start {
  const code = program(BASE[name] ?? 'koa', CONTESTANTS[name] ?? ['', ''], root)
  const args = ['--expose-gc', '--input-type=module', '--eval', code]
  const env = { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '' }
  return JSON.parse(
    execFileSync(process.execPath, args, {
      cwd: BENCH,
      encoding: 'utf8',
      env
    })
  ) as Start
}

function rowsOf(starts: ReadonlyMap<string, readonly Start[]>): Row[] {
  const [ours = []] = starts.values()
  return Array.from(starts, ([contestant, all]) => {
    const middle = (key: keyof Start) => median(all.map(each => each[key]))
    return {
      contestant,
      result: `${middle('wall').toFixed(1)} ms, heap ${middle('heap').toFixed(2)} MiB`,
      ratio: median(all.map(({ wall }, round) => wall / (ours[round]?.wall ?? NaN))),
      cpu: `${middle('cpu').toFixed(1)} ms`,
      rss: middle('rss')
    }
  })
}
