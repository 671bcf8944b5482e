// A Koa application on a port of its own, asked as a client on the wire would.
import type { IncomingHttpHeaders } from 'node:http'
import type { ExecutionContext } from './test.ts'
import Koa3 from 'koa'
import Koa2 from 'koa2'
import { type HttpCacheOptions, koaHttpCache } from '../../lib/koa-http-cache.ts'
import { ask } from './ask.ts'
import { listen } from './front.ts'
import { warningsAbout } from './warnings.ts'

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
  const port = await listen(t, app.callback())
  const send: Site['ask'] = async (method, headers = {}, path = '/') => {
    const { text, ...answer } = await ask(port, path, { method, headers })
    return { ...answer, body: text }
  }
  return { port, errors, ask: send, get: (headers, path) => send('GET', headers, path) }
}

/** Asked twice, a page is reported once where there is a message, else not at all; `expected` is a field of it. */
export async function reports(
  t: ExecutionContext,
  site: Site,
  path: string,
  [field, expected]: readonly [string, string | undefined],
  message?: RegExp
): Promise<void> {
  for (let round = 0; round < 2; round++)
    t.is((await site.get({}, path)).headers[field], expected, path)
  const [said, ...others] = warningsAbout(`GET ${path} `)
  t.deepEqual(others, [])
  if (message) t.regex(said ?? '', message)
  else t.is(said, undefined)
}

/** A site of one route behind koaHttpCache. */
export const openRoute = (
  t: ExecutionContext,
  route: Koa3.Middleware,
  options?: HttpCacheOptions
) => open(t, new Koa3().use(koaHttpCache(options)).use(route))
