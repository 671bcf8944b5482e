/** Starts nginx and Varnish with the configurations in this directory, on any ports. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { program } from './program.ts'

/** A port for each replica that the configurations name. */
export type ReplicaPorts = readonly [number, number, number]

export interface Server {
  readonly name: string
  readonly port: number
  readonly child: ChildProcess
  /** The end of its output. */
  readonly output: () => string
  /** Ends it, and waits until it has ended. */
  readonly stop: () => Promise<void>
}

interface Placement {
  /** A separate directory, for files that it writes. */
  readonly home: string
  readonly port: number
  /** True to run it in a separate group of processes. Default: false. */
  readonly detached?: boolean
}

interface VarnishPlacement extends Placement {
  /** The port for a proxy in front of Varnish, whose X-Forwarded-* is trusted. */
  readonly proxiedPort?: number
  /** The VCL file. Default: 'groups-in-flight.vcl', which needs Debian's varnish-modules. */
  readonly vcl?: 'default.vcl' | 'groups-in-flight.vcl'
  /** The parameters of varnishd. Default: `PARAMETERS`. */
  readonly parameters?: readonly string[]
}

/** The parameters that the files recommend. */
export const PARAMETERS = ['http_gzip_support=off', 'backend_remote_error_holddown=0']

const REPLICA_PORTS = ['3001', '3002', '3003']
const BROTLI = '/usr/lib/nginx/modules/ngx_http_brotli_static_module.so'
// Varnish compiles its configuration first, which takes a third of the time without optimization.
const COMPILER = 'exec gcc -w -pthread -fpic -shared -o %o %s'
// Ten minutes, only for a program that hangs, as one that fails ends: the compiler is slow on a busy machine. Attempts
// are counted, not time, as none are made while this process is stopped.
const [ASK_EVERY_MS, MAX_ASKED] = [20, 30_000]

/** Starts Varnish in front of three replicas. */
export async function startVarnish(
  from: string,
  {
    home,
    port,
    proxiedPort,
    detached = false,
    vcl = 'groups-in-flight.vcl',
    parameters = PARAMETERS
  }: VarnishPlacement,
  replicas: ReplicaPorts
): Promise<Server> {
  await cp(join(from, 'varnish'), home, { recursive: true })
  const text = await readFile(join(home, 'replicas.vcl'), 'utf8')
  await writeFile(join(home, 'replicas.vcl'), withPorts(text, replicas))
  const words = [
    ...['-F', '-j', 'none', '-n', join(home, 'varnish'), '-s', 'malloc,64m'],
    ...['-a', `127.0.0.1:${port}`],
    ...(proxiedPort === undefined ? [] : ['-a', `proxied=127.0.0.1:${proxiedPort}`]),
    ...['-f', join(home, vcl)],
    ...[`cc_command=${COMPILER}`, ...parameters].flatMap(parameter => ['-p', parameter])
  ]
  const child = spawn(program('varnishd', 'varnish'), words, { detached })
  return started('varnishd', child, port)
}

/** Starts nginx with a site: `files`, with `public` and a mount, or `proxy`, in front of replicas or of Varnish. */
export async function startNginx(
  from: string,
  { home, port, detached = false }: Placement,
  site: {
    readonly name: 'files' | 'proxy'
    readonly public?: string
    readonly dist?: string
    readonly app: ReplicaPorts
  }
): Promise<Server> {
  await mkdir(home, { recursive: true })
  const text = await readFile(join(from, `nginx/${site.name}.conf`), 'utf8')
  const placed = withPorts(text, site.app)
    .replace('127.0.0.1:8080', `127.0.0.1:${port}`)
    .replace('/srv/app/public', site.public ?? '/srv/app/public')
    .replace('/srv/app/dist', site.dist ?? '/srv/app/dist')
  await writeFile(join(home, 'site.conf'), placed)
  const hasBrotli = existsSync(BROTLI)
  if (hasBrotli) await copyFile(join(from, 'nginx/brotli.conf'), join(home, 'brotli.conf'))
  await writeFile(join(home, 'nginx.conf'), nginxConfiguration(home, hasBrotli))
  const words = ['-p', home, '-c', join(home, 'nginx.conf')]
  const child = spawn(program('nginx', 'nginx-light'), words, { detached })
  return started('nginx', child, port)
}

/** Returns the usual nginx.conf of a distribution, for a process that keeps all its files in one directory. */
function nginxConfiguration(home: string, hasBrotli: boolean): string {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `${hasBrotli ? `load_module ${BROTLI};` : ''}
    daemon off; pid ${home}/pid; error_log stderr;
    events {}
    http {
      include /etc/nginx/mime.types;
      access_log off;
      ${folders.map(name => `${name}_temp_path ${home}/${name};`).join(' ')}
      include site.conf;
    }`
}

function withPorts(text: string, ports: ReplicaPorts): string {
  return text.replace(/\b300[123]\b/g, port => String(ports[REPLICA_PORTS.indexOf(port)]))
}

/**
 * Waits until a program listens.
 * @throws Error with its output, if it ends instead
 */
export async function started(name: string, child: ChildProcess, port: number): Promise<Server> {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (piece: Buffer) => {
      said = (said + String(piece)).slice(-4000)
    })
  }
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  const stop = async () => {
    child.kill()
    await ended
  }
  for (let asked = 1; !(await isListening(port)); asked++) {
    if (child.exitCode !== null || child.signalCode !== null) {
      await ended
      throw new Error(`${name} did not start:\n${said}`)
    }
    if (asked === MAX_ASKED) {
      await stop()
      throw new Error(`${name} did not listen on port ${port}, asked ${asked} times:\n${said}`)
    }
    await sleep(ASK_EVERY_MS)
  }
  return { name, port, child, output: () => said, stop }
}

/** Tells whether something on this machine accepts connections at the port. */
export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const connected = await once(socket, 'connect').then(
    () => true,
    () => false
  )
  socket.destroy()
  return connected
}

/**
 * Returns a port on which nothing listens. It is below those that a system assigns by itself, so no
 * socket that is opened meanwhile gets the same one. Browsers refuse no port above 11,000.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(11_000, 32_768)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
