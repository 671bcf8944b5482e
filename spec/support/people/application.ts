// A random application of the model "people": routes as the documentation recommends them.
import { Readable } from 'node:stream'
import Koa, { type Context } from 'koa'
import { type HttpCacheOptions, koaHttpCache } from '../../../lib/koa-http-cache.ts'
import type { Clock } from './rfc9111.ts'

/** By what a page differs. The user is known by what the kind is named after; `stream` and `redirect` by the session. */
export type Kind = ByUser | 'public' | 'language' | 'nonce' | 'seen' | 'events' | 'missing'
type ByUser = 'session' | 'store' | 'authorization' | 'key' | 'cookie' | 'stream' | 'redirect'

export interface RoutePlan {
  readonly kind: Kind
  /** The route writes this Cache-Control, or leaves it to the default. */
  readonly writes: 'nothing' | 'private, no-cache' | 'private lifetime' | 'public' | 'group'
  readonly validator: 'none' | 'etag' | 'date'
  /** The route reads the session, negotiates or makes a nonce only after `ctx.fresh`, whose ETag does not name it. */
  readonly isLate: boolean
  /** One of three forms of streams, of policies, and of what a subscriber gets. */
  readonly form: 0 | 1 | 2
  /** The status that is thrown while what a route of the kind `missing` looks for does not exist. */
  readonly failure: 404 | 410 | 503
}

export interface SitePlan {
  readonly routes: readonly RoutePlan[]
  readonly cacheControl: NonNullable<HttpCacheOptions['cacheControl']>
  readonly expires: '1m' | undefined
  readonly autoEtag: boolean
  readonly version: '1' | undefined
  /** A session whose store is asked in each request reads its cookie in each. */
  readonly isStoreAlwaysRead: boolean
  /** Where that is: before koaHttpCache, or behind it. */
  readonly isReadInFront: boolean
  readonly hasErrorPage: boolean
  /** The log-out empties the browser's cache. */
  readonly clears: boolean
}

/** A page as JSON: what it shows, by which a model sees whose it is. */
export interface Page {
  readonly revision: number
  readonly user?: string | null
  readonly language?: string | undefined
  readonly serial?: number
}

export const OWN_LIFETIME = 300

/** What a route is about, with the time of each revision. */
export interface Resource {
  readonly times: number[]
  doesExist: boolean
}

export class Application {
  readonly koa = new Koa()
  readonly resources: readonly Resource[]
  readonly #plan: SitePlan
  readonly #clock: Clock
  readonly #sessions = new Map<string, string>()
  #serial = 0

  constructor(plan: SitePlan, clock: Clock) {
    this.#plan = plan
    this.#clock = clock
    this.resources = plan.routes.map(() => ({ times: [clock.now], doesExist: false }))
    const app = this.koa
    app.silent = true
    if (plan.hasErrorPage) app.use(errorPage)
    const cache = koaHttpCache(optionsOf(plan))
    const read: Koa.Middleware = (ctx, next) => {
      if (plan.isStoreAlwaysRead) this.#fromStore(ctx)
      return next()
    }
    for (const each of plan.isReadInFront ? [read, cache] : [cache, read]) app.use(each)
    app.use(ctx => this.#respond(ctx))
  }

  async #respond(ctx: Context): Promise<void> {
    const [, first = '', second = ''] = ctx.path.split('/')
    if (first === 'login') return this.#logIn(ctx, second)
    if (first === 'logout') return this.#logOut(ctx)
    const index = Number(second)
    const [route, resource] = [this.#plan.routes[index], this.resources[index]]
    if (route === undefined || resource === undefined) return
    if (first === 'edit') return this.#edit(ctx, route, resource)
    if (ctx.method === 'PUT') {
      if (ctx.get('If-Match')) await ctx.fresh(this.#stateOf(ctx, route, resource))
      this.#edit(ctx, route, resource)
    } else await this.#show(ctx, route, resource)
  }

  async #show(ctx: Context, route: RoutePlan, resource: Resource): Promise<void> {
    this.#write(ctx, route)
    if (!route.isLate) this.#depend(ctx, route)
    if (route.validator !== 'none') await ctx.fresh(this.#stateOf(ctx, route, resource))
    const revision = resource.times.length
    const body = (page: Omit<Page, 'revision'>) => JSON.stringify({ revision, ...page })
    if (route.isLate) this.#depend(ctx, route)
    const language = route.kind === 'language' ? languageOf(ctx) : undefined
    const numbered = () => (ctx.body = body({ serial: this.#serial }))
    const shows: Partial<Record<Kind, () => unknown>> = {
      missing: () => {
        if (!resource.doesExist) ctx.throw(route.failure)
        ctx.body = body({})
      },
      nonce: numbered,
      seen: numbered,
      events: () => {
        numbered()
        ctx.type = EVENTS[route.form]
      },
      stream: () => {
        const stream = late(() => body({ user: userOf(ctx, 'session') }))
        const { form } = route
        const web = () => Readable.toWeb(stream)
        ctx.body = form === 0 ? stream : form === 1 ? web() : new Response(web() as ReadableStream)
      },
      redirect: () => {
        ctx.redirect(`/home/${userOf(ctx, 'session')}`)
        ctx.status = 301
      }
    }
    const show = shows[route.kind]
    if (show === undefined) ctx.body = body({ user: this.#user(ctx, route.kind), language })
    else show()
  }

  /** Reads, or makes, what the page depends on. */
  #depend(ctx: Context, { kind, form }: RoutePlan): void {
    if (kind === 'language') languageOf(ctx)
    if (kind === 'session' || kind === 'store' || kind === 'redirect') this.#user(ctx, kind)
    if (kind === 'nonce' || kind === 'seen' || kind === 'events') this.#serial++
    if (kind === 'nonce') ctx.set(POLICIES[form], `script-src 'nonce-${this.#serial}'`)
    if (kind === 'seen') ctx.cookies.set('seen', String(this.#serial))
  }

  #write(ctx: Context, { kind, writes }: RoutePlan): void {
    if (writes === 'private, no-cache') ctx.cacheControl('private', 'no-cache')
    if (writes === 'private lifetime') ctx.cacheControl('private', { maxAge: OWN_LIFETIME })
    if (writes === 'public') ctx.cacheControl('public', { maxAge: OWN_LIFETIME })
    if (writes === 'group') {
      ctx.cacheControl('public', { maxAge: 0, sMaxage: '1d' })
      ctx.cacheGroups('pages')
    }
    // A route that writes Cache-Control also writes Vary.
    if (kind === 'language' && writes !== 'nothing') ctx.vary('Accept-Language')
  }

  /** The state of a page names all that the page depends on. */
  #stateOf(ctx: Context, { kind, validator, isLate }: RoutePlan, { times }: Resource) {
    const revision = times.length
    if (validator === 'date') return new Date(times.at(-1) ?? 0)
    // Where cookies are read in each request, it does not show that the route reads one late.
    if (isLate && !this.#plan.isStoreAlwaysRead) return { etag: [revision] }
    const language = kind === 'language' ? languageOf(ctx) : null
    return { etag: [revision, this.#user(ctx, kind), language] }
  }

  #user(ctx: Context, kind: Kind): string | null {
    return kind === 'store' ? this.#fromStore(ctx) : userOf(ctx, kind)
  }

  #fromStore(ctx: Context): string | null {
    return this.#sessions.get(ctx.cookies.get('sid') ?? '') ?? null
  }

  #edit(ctx: Context, { writes }: RoutePlan, resource: Resource): void {
    resource.doesExist = true
    resource.times.push(this.#clock.now)
    if (writes === 'group') ctx.invalidateCacheGroups('pages')
    ctx.status = 204
  }

  #logIn(ctx: Context, user: string): void {
    const sid = `${user}-${++this.#serial}`
    this.#sessions.set(sid, user)
    ctx.cookies.set('session', user).set('sid', sid)
    ctx.status = 204
  }

  #logOut(ctx: Context): void {
    this.#sessions.delete(ctx.cookies.get('sid') ?? '')
    ctx.cookies.set('session').set('sid')
    if (this.#plan.clears) ctx.set('Clear-Site-Data', '"cache"')
    ctx.status = 204
  }
}

function optionsOf({ routes, ...plan }: SitePlan): HttpCacheOptions {
  const { cacheControl, expires, autoEtag, version } = plan
  const named = Object.entries({ key: 'X-API-Key', cookie: 'Cookie' })
  const used = named.filter(([kind]) => routes.some(route => route.kind === kind))
  const credentials = used.map(([, field]) => field)
  return {
    ...{ cacheControl, expires, autoEtag },
    ...(version && { version: () => version }),
    ...(credentials.length > 0 && { credentials })
  }
}

/** The user that a request shows by the credential of this kind. */
function userOf(ctx: Context, kind: Kind): string | null {
  const session = () => ctx.cookies.get('session')
  const given: Partial<Record<Kind, () => string | undefined>> = {
    authorization: () => /^Bearer (.*)/.exec(ctx.get('Authorization'))?.[1],
    key: () => ctx.get('X-API-Key'),
    cookie: () => /\bsession=(\w+)/.exec(ctx.get('Cookie'))?.[1],
    ...{ session, stream: session, redirect: session }
  }
  return given[kind]?.() || null
}

function languageOf(ctx: Context): string {
  return String(ctx.acceptsLanguages('en', 'de'))
}

const REPORTED = 'Content-Security-Policy-Report-Only'
/** The fields of the forms of a policy. */
export const POLICIES = ['Content-Security-Policy', REPORTED, REPORTED] as const
const EVENTS = ['text/event-stream', 'multipart/x-mixed-replace; boundary=x', 'text/plain'] as const

/** A stream that asks for its text when it is read. */
function late(text: () => string): Readable {
  const ask = function* () {
    yield Buffer.from(text())
  }
  return Readable.from(ask(), { objectMode: false })
}

/** The error handler of docs/middleware-order.md. */
const errorPage: Koa.Middleware = async (ctx, next) => {
  try {
    await next()
  } catch (error) {
    ctx.status = (error as { status?: number }).status ?? 500
    ctx.body = 'failed'
  }
}
