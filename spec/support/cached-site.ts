// A Koa application on a port of its own, asked as a client on the wire would.
import { once } from 'node:events'
import { type IncomingHttpHeaders, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

import type { ExecutionContext } from 'ava'
import Koa3 from 'koa'
import Koa2 from 'koa2'

import { type HttpCacheOptions, koaHttpCache } from '../../lib/koa-http-cache.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Headers = Readonly<Record<string, string>>

export interface Site {
  readonly port: number
  readonly errors: Error[]
  get(headers?: Headers, path?: string): Promise<Answer>
  ask(method: string, headers?: Headers, path?: string): Promise<Answer>
}

/** Every version of Koa that the middleware promises to work with. */
export const KOAS = [
  ['Koa 3', Koa3],
  ['Koa 2', Koa2]
] as const

export async function open(t: ExecutionContext, app: Koa3): Promise<Site> {
  const errors: Error[] = []
  app.on('error', (error: Error) => errors.push(error))
  const handle = app.callback()
  const server = createServer((req, res) => void handle(req, res)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const ask = (method: string, headers: Headers = {}, path = '/') =>
    askServer({ port, method, headers, path })
  return { port, errors, ask, get: (headers, path) => ask('GET', headers, path) }
}

/** A site of one route behind koaHttpCache. */
export async function openRoute(
  t: ExecutionContext,
  route: Koa3.Middleware,
  options?: HttpCacheOptions
): Promise<Site> {
  return open(t, new Koa3().use(koaHttpCache(options)).use(route))
}

async function askServer(target: {
  port: number
  method: string
  path: string
  headers: Headers
}): Promise<Answer> {
  const asked = request({ host: '127.0.0.1', agent: false, ...target }).end()
  const [answer] = (await once(asked, 'response')) as [import('node:http').IncomingMessage]
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body: await text(answer)
  }
}
