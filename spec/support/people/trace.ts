// The model "people": what people who log in and out of browsers may be shown. The rule is written from what a page is
// about, not from the fields of its response.
import * as fc from 'fast-check'
import { Application, OWN_LIFETIME, POLICIES } from './application.ts'
import type { Kind, Page, Resource, RoutePlan, SitePlan } from './application.ts'
import { type Fetch, fetchFrom, type Response } from './exchange.ts'
import { words } from '../texts.ts'
import { type Clock, HttpCache } from './rfc9111.ts'

const USERS = ['ann', 'ben']
const BROWSERS = [0, 1]
const LANGUAGES = ['en', 'de']
const kinds = (names: string) => words(names) as readonly Kind[]

type Step =
  | { does: 'visits' | 'edits' | 'edits elsewhere'; browser: number; route: number }
  | { does: 'logs in'; browser: number; user: string }
  | { does: 'logs out'; browser: number }
  | { does: 'reads'; browser: number; language: string }
  | { does: 'waits'; seconds: number }

export interface Trace {
  readonly site: SitePlan
  readonly steps: readonly Step[]
}

/** Kinds whose pages are the same for everybody, so that a route may say so. */
const FOR_ALL = kinds('public language missing')
/** Kinds whose pages a date cannot tell apart. */
const UNDATED = kinds('session store authorization key cookie language stream redirect')
/** Kinds whose user a header names, which nobody sees being read. */
const BY_HEADER = kinds('authorization key cookie')
/** Kinds whose pages are the user's. */
const BY_USER = kinds('session store authorization key cookie stream')
const KINDS = [...UNDATED, ...kinds('public nonce seen events missing')]

function mayWrite(kind: Kind, writes: RoutePlan['writes']): boolean {
  const isPublic = writes === 'public' || writes === 'group'
  return isPublic ? FOR_ALL.includes(kind) : kind !== 'events' || writes !== 'private lifetime'
}

const aRoute: fc.Arbitrary<RoutePlan> = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    writes: fc.oneof(
      { weight: 3, arbitrary: fc.constant('nothing' as const) },
      fc.constantFrom('private, no-cache', 'private lifetime', 'public', 'group')
    ),
    validator: fc.constantFrom('none', 'etag', 'date'),
    isLate: fc.boolean(),
    form: fc.constantFrom(0, 1, 2),
    failure: fc.constantFrom(404, 410, 503)
  })
  .map(({ kind, writes, validator, isLate, ...others }) => ({
    ...others,
    kind,
    writes: mayWrite(kind, writes) ? writes : 'nothing',
    isLate: isLate && writes === 'nothing' && !BY_HEADER.includes(kind),
    validator:
      kind === 'events' || (validator === 'date' && UNDATED.includes(kind)) ? 'none' : validator
  }))

const aSite: fc.Arbitrary<SitePlan> = fc.record({
  routes: fc.array(aRoute, { minLength: 3, maxLength: 10 }),
  cacheControl: fc.constantFrom<SitePlan['cacheControl'][]>(
    ['public', { maxAge: '1m' }],
    'public, max-age=60',
    ['public', { maxAge: '1m', sMaxage: '10m' }],
    ['public', { maxAge: '1m', staleWhileRevalidate: '10m' }],
    ['private', { maxAge: '1m' }],
    'no-cache'
  ),
  expires: fc.constantFrom(undefined, '1m'),
  autoEtag: fc.boolean(),
  version: fc.constantFrom(undefined, '1'),
  isStoreAlwaysRead: fc.nat(9).map(number => number === 0),
  isReadInFront: fc.boolean(),
  hasErrorPage: fc.boolean(),
  clears: fc.boolean()
})

const browser = fc.constantFrom(...BROWSERS)
const route = fc.nat(9)
const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ does: fc.constant('visits'), browser, route }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('edits'), browser, route }) },
  fc.record({ does: fc.constant('edits elsewhere'), browser, route }),
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant('logs in'), browser, user: fc.constantFrom(...USERS) })
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('logs out'), browser }) },
  fc.record({ does: fc.constant('reads'), browser, language: fc.constantFrom(...LANGUAGES) }),
  fc.record({ does: fc.constant('waits'), seconds: fc.constantFrom(10, 45, 90, 700) })
)

export const aTrace: fc.Arbitrary<Trace> = fc.record({
  site: aSite,
  steps: fc.array(aStep, { minLength: 10, maxLength: 40, size: 'max' })
})

interface Browser {
  readonly id: number
  readonly cache: HttpCache
  readonly cookies: Map<string, string>
  user: string | null
  language: string
  /** Users since the browser's cache was empty, with the time at which each came. */
  users: (readonly [user: string | null, since: number])[]
  /** What was last seen of each route, and the revision that was made here. */
  readonly pages: Map<number, Seen>
  readonly edits: Map<number, number>
}

interface Seen {
  readonly page: Page
  readonly etag: string | undefined
  readonly language: string
  readonly user: string | null
}

/**
 * Runs a trace; returns the number of responses.
 * @throws Error for the first response that breaks the rule
 */
export async function run({ site, steps }: Trace): Promise<number> {
  const clock: Clock = { now: Date.UTC(2024, 4, 1) }
  const app = new Application(site, clock)
  const people = new People(site, app, clock)
  for (const [at, step] of steps.entries()) {
    clock.now += 1000
    try {
      await people.take(step)
    } catch (error) {
      throw new Error(`step ${at}: ${(error as Error).message}`, { cause: error })
    }
  }
  return people.responses
}

class People {
  responses = 0
  readonly #site: SitePlan
  readonly #app: Application
  readonly #clock: Clock
  readonly #browsers: readonly Browser[]
  readonly #serials = new Map<string, number>()

  constructor(site: SitePlan, app: Application, clock: Clock) {
    const shared = new HttpCache('shared', clock, fetchFrom(app.koa))
    this.#site = site
    this.#app = app
    this.#clock = clock
    this.#browsers = BROWSERS.map(id => {
      const cookies = new Map<string, string>()
      const network: Fetch = async request => {
        this.responses++
        const response = await shared.fetch(request)
        keepCookies(cookies, response)
        return response
      }
      const cache = new HttpCache('private', clock, network)
      const seen = { users: [[null, 0] as const], pages: new Map(), edits: new Map() }
      return { id, cache, cookies, user: null, language: 'en', ...seen }
    })
  }

  async take(step: Step): Promise<void> {
    if (step.does === 'waits') {
      this.#clock.now += step.seconds * 1000
      return
    }
    const at = this.#browsers[step.browser]
    if (at === undefined) return
    if (step.does === 'reads') at.language = step.language
    else if (step.does === 'logs in') await this.#change(at, `/login/${step.user}`, step.user)
    else if (step.does === 'logs out') await this.#change(at, '/logout', null)
    else {
      const index = step.route % this.#site.routes.length
      const [plan, resource] = [this.#site.routes[index], this.#app.resources[index]]
      if (plan === undefined || resource === undefined) return
      if (step.does === 'visits') await this.#visit(at, index, plan, resource)
      else if (step.does === 'edits') await this.#edit(at, index, plan, resource)
      else await this.#ask(at, 'POST', `/edit/${index}`, plan.kind)
    }
  }

  async #change(at: Browser, path: string, user: string | null): Promise<void> {
    await this.#ask(at, 'POST', path, 'session')
    at.user = user
    if (user === null && this.#site.clears) at.users = []
    at.users.push([user, this.#clock.now])
  }

  async #visit(at: Browser, index: number, plan: RoutePlan, resource: Resource): Promise<void> {
    const isEvent = plan.kind === 'events' && plan.form === 2
    const resumes = isEvent ? { 'last-event-id': '1' } : {}
    const response = await this.#ask(at, 'GET', `/page/${index}`, plan.kind, resumes)
    const { status, headers, body } = response
    if (plan.kind === 'missing' && !resource.doesExist) {
      expect(status === plan.failure, `what does not exist is a ${status}`)
      return
    }
    if (plan.kind === 'redirect') {
      expect(status === 301, `a redirect is a ${status}`)
      this.#seesUser(at, plan, headers['location']?.replace(/^\/home\//, '') ?? '')
      return
    }
    expect(status === 200, `a page is a ${status}`)
    const page = JSON.parse(body) as Page
    if (BY_USER.includes(plan.kind)) this.#seesUser(at, plan, String(page.user))
    if (plan.kind === 'language')
      expect(page.language === at.language, `${at.language} gets ${page.language}`)
    if (page.serial !== undefined) this.#seesSerial(at, plan, page.serial, response)
    this.#seesRevision(at, index, plan, resource, page.revision)
    at.pages.set(index, { page, etag: headers['etag'], language: at.language, user: at.user })
  }

  /** A page shows the user of now. A route that writes a lifetime allows those of that time. */
  #seesUser(at: Browser, { writes }: RoutePlan, seen: string): void {
    const own = writes === 'private lifetime' ? OWN_LIFETIME : 0
    const from = this.#clock.now - own * 1000
    const allowed = at.users.filter((_, index) => (at.users[index + 1]?.[1] ?? Infinity) > from)
    const names = allowed.map(([user]) => String(user))
    expect(names.includes(seen), `${names.join(' or ')} is shown the page of ${seen}`)
  }

  /** A nonce, a visitor's number and an event are one browser's, and an event comes once. */
  #seesSerial({ id }: Browser, { kind, form }: RoutePlan, serial: number, response: Response) {
    const key = `${kind} ${serial}`
    const owner = this.#serials.get(key)
    const isNew = owner === undefined
    expect(isNew || (owner === id && kind !== 'events'), `${key} is seen again`)
    this.#serials.set(key, id)
    if (kind !== 'nonce') return
    const policy = response.headers[POLICIES[form].toLowerCase()]
    expect(policy === `script-src 'nonce-${serial}'`, `the nonce ${serial} is not in ${policy}`)
  }

  /** A revision is of a time for which the page may be kept, and not older than what was edited here. */
  #seesRevision(at: Browser, index: number, plan: RoutePlan, { times }: Resource, seen: number) {
    const limit = this.#lifetime(at, plan) * 1000
    const edited = at.edits.get(index) ?? 0
    expect(seen >= edited, `revision ${edited} was made here, and ${seen} is shown`)
    const until = times[seen] ?? Infinity
    expect(until >= this.#clock.now - limit, `revision ${seen} is too old`)
  }

  /** For how long a page may be kept, in seconds: as the route says, else as the site does, but no personal page. */
  #lifetime(at: Browser, { kind, writes }: RoutePlan): number {
    if (writes === 'private, no-cache' || writes === 'group') return 0
    if (writes !== 'nothing') return OWN_LIFETIME
    const isPersonal = BY_HEADER.includes(kind) ? at.user !== null : !FOR_ALL.includes(kind)
    const asked = JSON.stringify(this.#site.cacheControl)
    if (isPersonal || this.#site.isStoreAlwaysRead || asked.includes('no-cache')) return 0
    return asked.includes('10m') ? 660 : 60
  }

  async #edit(at: Browser, index: number, plan: RoutePlan, { times }: Resource): Promise<void> {
    const revision = times.length
    const known = at.pages.get(index)
    const isConditional = plan.validator === 'etag' && known?.etag !== undefined
    const condition = isConditional ? { 'if-match': known.etag ?? '' } : {}
    const { status } = await this.#ask(at, 'PUT', `/page/${index}`, plan.kind, condition)
    const isSame =
      known?.page.revision === revision &&
      (!BY_USER.includes(plan.kind) || String(known.page.user) === String(at.user)) &&
      (plan.kind !== 'language' || known.page.language === at.language)
    const expected = isConditional && !isSame ? 412 : 204
    expect(status === expected, `an edit is a ${status}, not a ${expected}`)
    if (status === 204) at.edits.set(index, revision + 1)
  }

  #ask(at: Browser, method: string, path: string, kind: Kind, others = {}): Promise<Response> {
    const cookie = Array.from(at.cookies, pair => pair.join('=')).join('; ')
    const headers = {
      'accept-language': at.language,
      ...(cookie && { cookie }),
      ...(at.user !== null && kind === 'authorization' && { authorization: `Bearer ${at.user}` }),
      ...(at.user !== null && kind === 'key' && { 'x-api-key': at.user }),
      ...others
    }
    return at.cache.fetch({ method, path, headers })
  }
}

function keepCookies(cookies: Map<string, string>, { headers }: Response): void {
  const all = (headers['set-cookie'] ?? '').matchAll(/(?:^|, )(\w+)=([^;,]*);/g)
  for (const [, name = '', value = ''] of all) {
    if (value === '') cookies.delete(name)
    else cookies.set(name, value)
  }
}

function expect(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem)
}
