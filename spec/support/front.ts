// A whole application on a loopback port, with room in front of koaAssets and behind it.
import { createServer } from 'node:http'
import type { ExecutionContext } from './test.ts'
import type Koa from 'koa'
import type { Middleware } from 'koa'
import compose from 'koa-compose'
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'
import { ask, signature } from './raw.ts'
import { makeSite, open, type Site, type SiteOptions } from './site.ts'
import { cases } from './soak.ts'

export interface Front extends Site {
  /** The URLs that came to the middleware behind koaAssets. */
  readonly passed: string[]
}

interface FrontOptions extends Omit<SiteOptions, 'routes'> {
  readonly root: string
  readonly inFront?: readonly Middleware[]
  /** Nothing behind koaAssets, not even what notes the URLs. */
  readonly alone?: boolean
}

/** Every environment in which files are served. */
export const ENVIRONMENTS = {
  development: { env: 'development' },
  production: { env: 'production', compile: false, fingerprint: false }
} as const satisfies Record<string, KoaAssetsOptions>

export async function makeFront(t: ExecutionContext, given: FrontOptions): Promise<Front> {
  const { front, inFront = [], alone = false, ...options } = given
  const passed: string[] = []
  const routes: Middleware = (ctx, next) => {
    passed.push(ctx.url)
    return next()
  }
  const first = [...(front ? [front] : []), ...inFront]
  const around = { ...(first.length > 0 && { front: compose(first) }), ...(!alone && { routes }) }
  return { ...(await makeSite(t, {}, { ...options, ...around })), passed }
}

/** The loopback port on which an application answers until the spec is over. */
export function listen(t: ExecutionContext, answer: ReturnType<Koa['callback']>): Promise<number> {
  const server = createServer((req, res) => void answer(req, res))
  return open(t, server)
}

/** The same project in every environment, each with something behind koaAssets and with nothing. */
interface Fronts {
  readonly name: string
  readonly front: Front
  readonly alone: Front
  /** The answer to a target that has no file either, and to which the same rules apply. */
  readonly missing: (method: string, target: string) => Promise<string>
}

export async function makeFronts(
  t: ExecutionContext,
  root: string,
  options: KoaAssetsOptions = {}
): Promise<Fronts[]> {
  return Promise.all(
    Object.entries(ENVIRONMENTS).map(async ([name, environment]) => {
      const front = await makeFront(t, { ...environment, ...options, root })
      const alone = await makeFront(t, { ...environment, ...options, root, alone: true })
      const answers = new Map<string, Promise<string>>()
      const missing = (method: string, target: string) => {
        const like = missingFileLike(target, Object.keys(options.mounts ?? {}))
        const known = answers.get(method + like) ?? ask(alone.port, method, like).then(signature)
        answers.set(method + like, known)
        return known
      }
      return { name, front, alone, missing }
    })
  )
}

/** What is in the way of one is in the way of all: `npm test` asks with the first. */
export const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS'].slice(0, cases(1, 4))

/**
 * Checks that a request is not for a file of ours: what is behind gets it with its URL as it was sent, and where nothing
 * is behind, the answer is that of any missing file.
 */
export async function checkMiss(t: ExecutionContext, fronts: readonly Fronts[], target: string) {
  for (const { name, front, alone, missing } of fronts) {
    for (const method of METHODS) {
      const what = `${method} ${target.slice(0, 100)} in ${name}`
      front.passed.length = 0
      await ask(front.port, method, target)
      t.deepEqual(front.passed, [target], `${what} goes on, its URL untouched`)
      const answer = await ask(alone.port, method, target)
      t.is(answer.status, 404, what)
      t.is(signature(answer), await missing(method, target), `${what}: like any missing file`)
      t.is(answer.headers.location, undefined, what)
      t.deepEqual(front.errors.concat(alone.errors), [], what)
    }
  }
}

/** Under the prefix and in a mount a 404 forbids its storing, at `/` for what has an extension. */
function missingFileLike(target: string, mounts: readonly string[]): string {
  const path = target.replace(/^https?:\/\/[^/]*/i, '').replace(/\?.*/s, '')
  const at = ['/assets', ...mounts].find(each => each !== '/' && path.startsWith(`${each}/`))
  if (at !== undefined) return `${at}/no-such-file`
  return mounts.includes('/') && /\.[^./]+$/.test(path) ? '/no-such-file.x' : '/no-such-file'
}
