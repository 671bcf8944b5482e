// nginx and Varnish with the configurations of demo/deploy, in front of applications of a spec.
import { chmodSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ExecutionContext } from '../support/test.ts'
import type { Middleware } from 'koa'
import {
  freePort,
  type ReplicaPorts,
  type Server,
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
type Ports = ReplicaPorts | readonly [number]

const three = ([one, two = one, three = one]: Ports): ReplicaPorts => [one, two, three]

/** The port of Varnish. Each replica has to answer /health. */
export async function varnishInFront(t: ExecutionContext, ...replicas: Ports): Promise<number> {
  const placement = { home: makeProject(t), port: await freePort() }
  return portOf(t, startVarnish(DEPLOY, placement, three(replicas)))
}

/** The port of nginx, as a proxy or over the directories `public` and `dist` of a project. */
export async function nginxInFront(
  t: ExecutionContext,
  root: string | undefined,
  ...replicas: Ports
): Promise<number> {
  const app = three(replicas)
  const home = makeProject(t)
  // Started by root, nginx reads files as another user.
  for (const directory of [root ?? home, home]) chmodSync(directory, 0o755)
  const site = root
    ? ({ name: 'files', public: join(root, 'public'), dist: join(root, 'dist'), app } as const)
    : ({ name: 'proxy', app } as const)
  return portOf(t, startNginx(DEPLOY, { home, port: await freePort() }, site))
}

async function portOf(t: ExecutionContext, starting: Promise<Server>): Promise<number> {
  const { port, stop } = await starting
  t.teardown(stop)
  return port
}
