// nginx and Varnish with the configurations of demo/deploy, in front of applications of a spec.
import { chmodSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ExecutionContext } from '../support/test.ts'
import type { Middleware } from 'koa'
import {
  freePort,
  PARAMETERS,
  type ReplicaPorts,
  startNginx,
  startVarnish
} from '../../demo/deploy/stack.ts'
import type { Answer } from '../support/ask.ts'
import { makeProject } from '../support/site.ts'

const DEPLOY = resolve('demo/deploy')

/** What each replica has to answer behind Varnish. */
export const health: Middleware = (ctx, next) =>
  ctx.path === '/health' ? void (ctx.body = 'ok') : next()

/** Whether Varnish had the response. */
export const isHit = ({ headers }: Answer) => headers['cache-status'] === 'varnish; hit'

/** Of the replicas, or of the one that takes the place of all three. */
export type Ports = ReplicaPorts | readonly [number]

const three = ([one, two = one, three = one]: Ports): ReplicaPorts => [one, two, three]

/** Varnish waits five seconds for the request of a connection, in which a busy spec may not have sent it. */
const PATIENCE = 'timeout_idle=3600'

/** Starts Varnish. Each replica has to answer /health. */
export async function runVarnish(
  t: ExecutionContext,
  replicas: Ports,
  { parameters = PARAMETERS, ...more }: Partial<Parameters<typeof startVarnish>[1]> = {}
) {
  const own = { home: makeProject(t), port: await freePort() }
  const placement = { ...own, ...more, parameters: [...parameters, PATIENCE] }
  const { port, stop } = await startVarnish(DEPLOY, placement, three(replicas))
  t.teardown(stop)
  return { port, name: join(placement.home, 'varnish') }
}

/** The port of Varnish. */
export const varnishInFront = async (t: ExecutionContext, ...replicas: Ports): Promise<number> =>
  (await runVarnish(t, replicas)).port

/** The port of nginx over the directories `public` and `dist` of a project. */
export function nginxInFront(t: ExecutionContext, root: string, ...replicas: Ports) {
  // Started by root, nginx reads files as another user.
  chmodSync(root, 0o755)
  const [publicDir, dist] = [join(root, 'public'), join(root, 'dist')]
  return runNginx(t, { name: 'files', public: publicDir, dist, app: three(replicas) })
}

/** The port of nginx as a proxy. */
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
