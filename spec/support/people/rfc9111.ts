// A cache that does all that RFC 9111 lets it do: it stores what it may, and asks only when it must.
import type { Fetch, Request, Response } from './exchange.ts'

interface Stored {
  readonly request: Request
  response: Response
  /** The time at which it was received or validated, and its age then. */
  since: number
  age: number
}

export interface Clock {
  now: number
}

type Directives = ReadonlyMap<string, string>

export class HttpCache {
  #stored: readonly Stored[] = []
  readonly #isShared: boolean
  readonly #clock: Clock
  readonly #next: Fetch

  constructor(kind: 'private' | 'shared', clock: Clock, next: Fetch) {
    this.#isShared = kind === 'shared'
    this.#clock = clock
    this.#next = next
  }

  async fetch(request: Request): Promise<Response> {
    if (request.method !== 'GET') return this.#change(request)
    const selected = this.#stored.filter(stored => isSelected(stored, request))
    const usable = selected.find(stored => this.#isUsable(stored))
    if (usable !== undefined) return answer(request, this.#aged(usable))
    const response = await this.#next(withConditions(request, selected))
    if (response.status !== 304) {
      this.#store(request, response)
      return response
    }
    // Section 4.3.4. Other conditions were those of the client.
    const stored = selected.find(({ response: own }) => hasSameValidator(own, response))
    if (stored === undefined) return response
    const { response: old } = stored
    // Section 3.2.
    stored.response = { ...old, headers: { ...old.headers, ...response.headers } }
    stored.since = this.#clock.now
    stored.age = ageOf(response)
    return answer(request, this.#aged(stored))
  }

  // Section 4.4; RFC 9875 section 3; Clear Site Data, section 3.1.
  async #change(request: Request): Promise<Response> {
    const response = await this.#next(request)
    const { headers, status } = response
    if (!this.#isShared && headers['clear-site-data']?.includes('"cache"')) this.#stored = []
    if (status >= 400) return response
    const groups = membersOf(headers['cache-group-invalidation'])
    this.#stored = this.#stored.filter(({ request: { path }, response: own }) => {
      const isOfGroup = membersOf(own.headers['cache-groups']).some(group => groups.includes(group))
      return path !== request.path && !isOfGroup
    })
    return response
  }

  // Section 3.
  #store(request: Request, response: Response): void {
    const { status, headers } = response
    const directives = directivesOf(response)
    if (directives.has('no-store') || headers['vary']?.includes('*') || status === 206) return
    if (this.#isShared && directives.has('private')) return
    // Section 3.5.
    const isForAll = ['public', 'must-revalidate', 's-maxage'].some(name => directives.has(name))
    if (this.#isShared && request.headers['authorization'] !== undefined && !isForAll) return
    const hasValidator = (headers['etag'] ?? headers['last-modified']) !== undefined
    if (this.#lifetime(directives) === 0 && !(status === 200 && hasValidator)) return
    const others = this.#stored.filter(stored => !isSelected(stored, request))
    const stored = { request, response, since: this.#clock.now, age: ageOf(response) }
    this.#stored = [stored, ...others]
  }

  // Section 4.2.1.
  #lifetime(directives: Directives): number {
    const shared = this.#isShared ? directives.get('s-maxage') : undefined
    return Number(shared ?? directives.get('max-age') ?? 0) * 1000
  }

  // Section 4, and RFC 5861 section 3.
  #isUsable(stored: Stored): boolean {
    const directives = directivesOf(stored.response)
    if (directives.has('no-cache')) return false
    const stale = Number(directives.get('stale-while-revalidate') ?? 0) * 1000
    return this.#age(stored) < this.#lifetime(directives) + stale
  }

  #age({ age, since }: Stored): number {
    return age + this.#clock.now - since
  }

  #aged(stored: Stored): Response {
    const age = String(Math.floor(this.#age(stored) / 1000))
    return { ...stored.response, headers: { ...stored.response.headers, age } }
  }
}

function directivesOf({ headers }: Response): Directives {
  const members = (headers['cache-control'] ?? '').split(/\s*,\s*/).filter(Boolean)
  return new Map(
    members.map(member => member.split('=')).map(([name = '', value = '']) => [name, value])
  )
}

const ageOf = ({ headers }: Response) => Number(headers['age'] ?? 0) * 1000
const membersOf = (list = '') => list.split(/\s*,\s*/).filter(Boolean)

// Section 4.1.
function isSelected({ request, response }: Stored, { path, headers }: Request): boolean {
  const fields = membersOf(response.headers['vary']).map(name => name.toLowerCase())
  return request.path === path && fields.every(name => request.headers[name] === headers[name])
}

// Section 4.3.1.
function withConditions(request: Request, selected: readonly Stored[]): Request {
  const { headers } = request
  const own = selected.flatMap(({ response }) => response.headers['etag'] ?? [])
  const tags = [headers['if-none-match'], ...own].filter(tag => tag !== undefined)
  const isConditional = tags.length > 0 || headers['if-modified-since'] !== undefined
  const date = isConditional ? undefined : selected[0]?.response.headers['last-modified']
  const conditions = {
    ...(tags.length > 0 && { 'if-none-match': tags.join(', ') }),
    ...(date !== undefined && { 'if-modified-since': date })
  }
  return { ...request, headers: { ...headers, ...conditions } }
}

const opaque = (tag = '') => tag.replace(/^W\//, '')

function hasSameValidator({ headers }: Response, { headers: others }: Response): boolean {
  if (others['etag'] !== undefined) return opaque(headers['etag']) === opaque(others['etag'])
  return headers['last-modified'] === others['last-modified']
}

// Section 4.3.2.
function answer({ headers }: Request, response: Response): Response {
  const { etag, 'last-modified': date } = response.headers
  const tags = headers['if-none-match']
  const isCurrent =
    tags === undefined
      ? date !== undefined && headers['if-modified-since'] === date
      : etag !== undefined && membersOf(tags).some(tag => opaque(tag) === opaque(etag))
  return isCurrent ? { ...response, status: 304, body: '' } : response
}
