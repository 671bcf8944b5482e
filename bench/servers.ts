// A contestant in a process of its own, on the first core; wrk is on the second.
import { execFile, fork, type ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildSync } from 'esbuild'
import { freePort } from '../demo/deploy/stack.ts'
import type { Running } from './measure.ts'

const run = promisify(execFile)

// Bundled to JavaScript, because a TypeScript loader slows down what it loads. Here it finds the packages of the bench.
const SERVER = join(import.meta.dirname, 'node_modules/.server.js')

export function buildServer(): void {
  buildSync({
    entryPoints: [join(import.meta.dirname, 'server.ts')],
    outfile: SERVER,
    bundle: true,
    packages: 'external',
    external: [join(import.meta.dirname, '../dist/*')],
    format: 'esm',
    platform: 'node'
  })
}

export function removeServer(): void {
  rmSync(SERVER, { force: true })
}

export interface Usage {
  /** Microseconds. */
  readonly cpu: number
  /** MiB; nothing of a server in another process, as nginx. */
  readonly rss: number | undefined
}

export interface Server extends AsyncDisposable {
  readonly port: number
  readonly usage: () => Promise<Usage>
}

export async function startServer(name: string, root: string): Promise<Server> {
  const port = await freePort()
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
  return {
    port,
    usage: () => usageOf(child),
    async [Symbol.asyncDispose]() {
      const ended = new Promise(resolve => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    }
  }
}

function usageOf(child: ChildProcess): Promise<Usage> {
  return new Promise(resolve => {
    child.once('message', message => {
      resolve(message as Usage)
    })
    child.send('usage')
  })
}

interface Load {
  readonly connections?: number
  readonly headers?: Readonly<Record<string, string>>
  /** A Lua script that chooses the requests. */
  readonly script?: string
  /** Of each body, in bytes. */
  readonly size?: number | undefined
}

/** A contestant of `compare`, and how it is loaded: `load` resolves to the number of requests. */
export async function startContestant(
  name: string,
  root: string,
  load: (server: Server, isWarmUp: boolean) => Promise<number>,
  isCold = false
): Promise<Running> {
  const server = await startServer(name, root)
  return {
    isCold,
    warmUp: () => load(server, true),
    async measure() {
      const before = await server.usage()
      const requests = await load(server, false)
      const { cpu, rss } = await server.usage()
      return { cpu: (cpu - before.cpu) / requests, rss }
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]()
  }
}

/** @returns the number of requests, or with `size`, of all bytes as bodies of that size: few long ones end in time */
export async function wrk(
  url: string,
  seconds: number,
  { connections = 32, headers = {}, script, size }: Load
): Promise<number> {
  const flags = Object.entries(headers).flatMap(([key, value]) => ['-H', `${key}: ${value}`])
  if (script !== undefined) flags.push('-s', script)
  const time = `-d${Math.max(1, Math.round(seconds))}s`
  const args = ['-c', '1', 'wrk', '-t1', `-c${connections}`, time, ...flags, url]
  const { stdout } = await run('taskset', args)
  const [, requests, read, unit = ''] =
    /(\d+) requests in [^,]+, ([\d.]+)([KMGT]?)B read/.exec(stdout) ?? []
  if (requests === undefined) throw new Error(`wrk printed: ${stdout}`)
  if (size === undefined) return Number(requests)
  return (Number(read) * 1024 ** ' KMGT'.indexOf(unit || ' ')) / size
}

/** Not with fetch, which adds `Cache-Control: no-cache` to a conditional request. */
export function request(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = get(url, { headers, agent: false }, response => {
      response.resume()
      response.on('end', () => resolve(response))
    })
    sent.on('error', reject)
  })
}
