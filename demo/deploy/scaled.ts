/** `npm run demo scaled`: nginx in front of Varnish in front of three processes of the demo. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { program } from './program.ts'
import { freePort, isListening, type Server, started, startNginx, startVarnish } from './stack.ts'

const FROM = import.meta.dirname
const launched: Promise<Server>[] = []
// Ctrl-C goes to a whole group of processes, but stop() stops these in order.
const detached = true
let home: string | undefined
let isStopping = false

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop(0))

try {
  // This fails before anything is started.
  program('varnishd', 'varnish')
  program('nginx', 'nginx-light')
  await start()
} catch (error) {
  await stop(1, (error as Error).message)
}

async function start(): Promise<void> {
  const port = await portOfNginx()
  home = await mkdtemp(join(tmpdir(), 'demo-scaled-'))
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    SERVE_STATIC_ASSETS: 'true',
    NOTES_FILE: join(home, 'notes.json')
  }
  const replicas = [1, 2, 3].map(async number => {
    const port = await freePort()
    return launch(() => {
      const child = spawn(process.execPath, ['--import', 'tsx', join(FROM, '../server.ts')], {
        env: { ...env, PORT: String(port) },
        detached
      })
      return started(`replica ${number}`, child, port)
    })
  })
  const [one, two, three] = await Promise.all(replicas)
  if (!one || !two || !three) return
  const ports = [one.port, two.port, three.port] as const
  const proxiedPort = await freePort()
  const varnishAt = { home: join(home, 'varnish'), port: await freePort(), proxiedPort, detached }
  const varnish = await launch(() => startVarnish(FROM, varnishAt, ports))
  const app = [proxiedPort, proxiedPort, proxiedPort] as const
  const nginxAt = { home: join(home, 'nginx'), port, detached }
  const nginx = await launch(() => startNginx(FROM, nginxAt, { name: 'proxy', app }))
  const address = `http://127.0.0.1:${nginx.port}`
  console.log(`
nginx at ${address}, Varnish at port ${varnish.port}, three processes at ports ${ports.join(', ')}.

  ${address}/caching/notes   edit a note: its pages are rendered again, others come from Varnish
  curl -si ${address}/caching/notes/1 | grep -i cache-status

Press Ctrl-C to stop all of them.`)
}

async function portOfNginx(): Promise<number> {
  const { PORT } = process.env
  if (!PORT) return freePort()
  const port = Number(PORT)
  if (!/^\d+$/.test(PORT) || port < 1 || port > 65_535) {
    throw new Error(`PORT must be a whole number from 1 to 65535, got "${PORT}". Try PORT=8080.`)
  }
  if (await isListening(port)) throw new Error(`Port ${port} is in use. Try another one.`)
  return port
}

/** Launches a server; when one ends by itself, so do the others. */
async function launch(begin: () => Promise<Server>): Promise<Server> {
  if (isStopping) throw new Error('stopped while starting')
  const starting = begin()
  launched.push(starting)
  const server = await starting
  server.child.once('exit', (code, signal) => {
    const how = signal ? `was ended by ${signal}` : `ended with status ${code}`
    void stop(1, `${server.output()}\n${server.name} ${how}; stopping the others`)
  })
  return server
}

async function stop(status: number, message?: string): Promise<void> {
  if (isStopping) return
  isStopping = true
  if (message) console.error(message)
  const outcomes = await Promise.allSettled(launched)
  const running = outcomes.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []))
  await Promise.all(running.map(server => server.stop()))
  if (home) await rm(home, { recursive: true, force: true })
  process.exit(status)
}
