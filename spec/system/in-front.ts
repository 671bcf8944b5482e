// nginx and Varnish with the configurations of demo/deploy, in front of applications of a spec.
import { chmodSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { join, resolve } from 'node:path'
import type { Middleware } from 'koa'
import {
  freePort,
  PARAMETERS,
  type ReplicaPorts,
  startNginx,
  startVarnish
} from '../../demo/deploy/stack.ts'
import { command } from '../support/command.ts'
import { ask, makeProject, open, test, type Answer } from '../support/index.ts'
import type { ExecutionContext, Question } from '../support/index.ts'
import type { Spec } from './browser.ts'

const DEPLOY = resolve('demo/deploy')

/** What each replica has to answer behind Varnish. */
export const health: Middleware = (ctx, next) =>
  ctx.path === '/health' ? void (ctx.body = 'ok') : next()

export const isHit = ({ headers }: Answer) => headers['cache-status'] === 'varnish; hit'

/** Of the replicas, or of the one that takes the place of all three. */
export type Ports = ReplicaPorts | readonly [number]

const three = ([one, two = one, three = one]: Ports): ReplicaPorts => [one, two, three]

/** Varnish waits five seconds for the request of a connection, in which a busy spec may not have sent it. */
const PATIENCE = 'timeout_idle=3600'

export async function runVarnish(
  t: Spec,
  replicas: Ports,
  { parameters = PARAMETERS, ...more }: Partial<Parameters<typeof startVarnish>[1]> = {}
) {
  const own = { home: makeProject(t), port: await freePort() }
  const placement = { ...own, ...more, parameters: [...parameters, PATIENCE] }
  const { port, stop } = await startVarnish(DEPLOY, placement, three(replicas))
  t.teardown(stop)
  return { port, name: join(placement.home, 'varnish') }
}

export const varnishInFront = async (t: ExecutionContext, ...replicas: Ports): Promise<number> =>
  (await runVarnish(t, replicas)).port

/** Asks an application behind Varnish, under its own host or one below it. */
export type Varnish = ((path: string, question?: Question) => Promise<Answer>) & {
  readonly host: string
}

/** Puts applications behind one Varnish, as it takes half a second to start: each is one of a file's specs, and has a host. */
export function shareVarnish() {
  const apps: RequestListener[] = []
  const server = createServer((req, res) => {
    if (req.url === '/health') return res.end('ok')
    const [, at] = /(\d+)\.example$/.exec(req.headers.host ?? '') ?? []
    return apps[Number(at)]?.(req, res)
  })
  const ends: (() => unknown)[] = []
  test.after.always(async () => {
    for (const end of ends.toReversed()) await end()
  })
  const t: Spec = { teardown: end => void ends.push(end) }
  const start = async () => runVarnish(t, [await open(t, server)])
  let started: ReturnType<typeof start> | undefined
  return async (app: RequestListener) => {
    started ??= start()
    const { port, name } = await started
    const host = `${apps.push(app) - 1}.example`
    const counter = async (counted: string) => {
      const { stdout } = await command('varnishstat', ['-1', '-n', name, '-f', `MAIN.${counted}`])
      return Number(stdout.split(/\s+/)[1])
    }
    const asked = (path: string, { headers, ...more }: Question = {}) =>
      ask(port, path, { ...more, headers: { host, ...headers } })
    return Object.assign(asked, { host, counter })
  }
}

/** The port of nginx over the directories `public` and `dist` of a project. */
export function nginxInFront(t: ExecutionContext, root: string, ...replicas: Ports) {
  // Started by root, nginx reads files as another user.
  chmodSync(root, 0o755)
  const [publicDir, dist] = [join(root, 'public'), join(root, 'dist')]
  return runNginx(t, { name: 'files', public: publicDir, dist, app: three(replicas) })
}

export const proxyInFront = (t: ExecutionContext, ...replicas: Ports) =>
  runNginx(t, { name: 'proxy', app: three(replicas) })

/** @param from the directory of the configuration */
export async function runNginx(
  t: ExecutionContext,
  site: Parameters<typeof startNginx>[2],
  from = DEPLOY
): Promise<number> {
  const placement = { home: makeProject(t), port: await freePort() }
  chmodSync(placement.home, 0o755)
  const { port, stop } = await startNginx(from, placement, site)
  t.teardown(stop)
  return port
}
