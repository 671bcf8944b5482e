// A contestant in a process of its own, on the first core; wrk is on the second.
import { execFile, fork, type ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildSync } from 'esbuild'
import { freePort } from '../demo/deploy/stack.ts'

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
  /** MiB. */
  readonly rss: number
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
      const { cpu, rss } = message as { cpu: NodeJS.CpuUsage; rss: number }
      resolve({ cpu: cpu.user + cpu.system, rss: rss / 2 ** 20 })
    })
    child.send('usage')
  })
}

interface Load {
  readonly connections?: number
  readonly headers?: Readonly<Record<string, string>>
  /** A Lua script that chooses the requests. */
  readonly script?: string
}

export async function wrk(
  url: string,
  seconds: number,
  { connections = 32, headers = {}, script }: Load
): Promise<{ requests: number; seconds: number }> {
  const flags = Object.entries(headers).flatMap(([key, value]) => ['-H', `${key}: ${value}`])
  if (script !== undefined) flags.push('-s', script)
  const time = `-d${Math.max(1, Math.round(seconds))}s`
  const args = ['-c', '1', 'wrk', '-t1', `-c${connections}`, time, ...flags, url]
  const { stdout } = await run('taskset', args)
  const [, requests = '0', passed = '1', unit] =
    /(\d+) requests in ([\d.]+)(s|m|ms),/.exec(stdout) ?? []
  return { requests: Number(requests), seconds: Number(passed) * (unit === 'm' ? 60 : 1) }
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
