// Visitors of a site that is being deployed: each opens a page and fetches everything that the page names, at once
// or when another release has replaced the page's own. What they should not have seen is counted.
import { hash } from 'node:crypto'
import { Agent } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { ExecutionContext } from './test.ts'
import { splitFingerprint } from '../../lib/runtime/urls/spelling.ts'
import { ask, type Answer } from './ask.ts'
import { attribute } from './bundler-project.ts'
import { available, decode } from './deltas.ts'
import { digestIn, digestOf } from './fingerprinted.ts'
import type { Rollout } from './rollout.ts'
import { until } from './until.ts'

interface Link {
  readonly url: string
  readonly integrity: string | undefined
}

interface Page {
  /** Of the replica that rendered it. */
  readonly code: number
  readonly links: readonly Link[]
}

const CODINGS = ['identity', 'gzip', 'br, gzip']
const MAX_FAULTS = 20
/** Somebody looks at a page: without that the visitors take a whole processor while a replica starts. */
const LOOKING_MS = 100

export class Visitors {
  /** Visits that are over. */
  visits = 0
  requests = 0
  /** No response, or a status other than 200. */
  failed = 0
  /** Responses that ended in the middle: their replica was killed. The visitor asks again. */
  cut = 0
  /** Bytes of another digest, integrity or release than they should have. */
  wrong = 0
  /** Pages of which some asset failed or was wrong, or which name assets of two releases. */
  bare = 0
  readonly faults: string[] = []
  /** Which replicas answered what, with the number of answers. */
  readonly seen = new Map<string, number>()
  /** The oldest release whose pages are still open. */
  oldest = 1
  readonly #port: number
  /** One page for each release of assets. */
  readonly #kept = new Map<number, Page>()
  /** The last version of each name that may be a dictionary (RFC 9842). */
  readonly #dictionaries = new Map<string, string>()
  readonly #visiting = new Set<Promise<void>>()
  readonly #agent = new Agent({ keepAlive: true })

  constructor(port: number) {
    this.#port = port
  }

  /** Several at a time, until the work is done. */
  async during(work: () => Promise<void>, count = 6): Promise<void> {
    const state = { isOver: false }
    const visitor = async (number: number) => {
      for (let visit = number; !state.isOver; visit++) {
        const visiting = this.#visit(visit)
        this.#visiting.add(visiting)
        await visiting
        this.#visiting.delete(visiting)
        this.visits++
        await setTimeout(LOOKING_MS)
      }
    }
    const visitors = Array.from({ length: count }, (_, number) => visitor(number))
    await work().finally(() => (state.isOver = true))
    await Promise.all(visitors)
    this.#agent.destroy()
  }

  /** Until there were so many more visits. */
  async more(visits: number): Promise<void> {
    const goal = this.visits + visits
    await until(() => this.visits >= goal, `${visits} more visits`, 12_000)
  }

  /** Until the front uses a replica. */
  async meet(port: number): Promise<void> {
    const used = async () => (await ask(this.#port, '/health')).headers['x-replica']
    await until(
      async () => (await used()) === String(port),
      `the replica at port ${port} behind the front`
    )
  }

  /** While they visit, the replicas are replaced one after the other; some visits between two steps. */
  async deploy(rollout: Rollout, release: number, visits: number): Promise<void> {
    for (const [at, port] of rollout.ports.entries()) {
      await rollout.replace(at, release)
      await this.meet(port)
      await this.more(visits)
    }
  }

  /** Pages of releases before this one are closed, once those that are being loaded are complete. */
  async close(before: number): Promise<void> {
    this.oldest = before
    await Promise.all(this.#visiting)
  }

  /** Checks that nobody saw anything wrong; a response that was cut came whole when it was asked for again. */
  checkVisits(t: ExecutionContext): void {
    const { faults, failed, wrong, bare } = this
    t.deepEqual({ faults, failed, wrong, bare }, { faults: [], failed: 0, wrong: 0, bare: 0 })
  }

  #visit(visit: number): Promise<void> {
    if (visit % 4 === 3) return this.#plain(visit % 8 === 3 ? 'app.js' : 'hero.png')
    const open = [...this.#kept].filter(([assets]) => assets >= this.oldest)
    const [, page] = (visit % 2 === 1 && open[(visit >> 2) % open.length]) || []
    // A cache in front has what was asked for before, but not with this query.
    return page ? this.#load(page, `?visit=${visit}`) : this.#open()
  }

  async #open(): Promise<void> {
    const answer = await this.#get('/')
    if (answer?.status !== 200) return
    const code = Number(/data-release="(\d+)"/.exec(answer.text)?.[1])
    const tags = answer.text.matchAll(/(?:src|href)="([^"]+)"[^>]*/g)
    const links = Array.from(tags, ([tag, url = '']) => ({
      url,
      integrity: attribute('integrity', tag)
    }))
    await this.#load({ code, links })
  }

  /** Everything that the page names, and what its stylesheets and modules name. */
  async #load(page: Page, query = ''): Promise<void> {
    const releases = new Set<number>()
    const queue = [...page.links]
    let isWhole = true
    for (const link of queue) {
      const answer = await this.#asset(link, query)
      isWhole &&= answer !== undefined
      if (!answer) continue
      const { text, headers } = answer
      const release = Number(/release[ (-](\d+)/.exec(text.slice(0, 5000))?.[1])
      if (release) {
        releases.add(release)
        const replica = String(headers['x-release'] ?? 'none')
        this.#see(`assets of release ${release} from a replica of release ${replica}`)
      }
      if (!/\.(?:css|js)$/.test(link.url)) continue
      // What is joined has the names of its parts in comments.
      const code = text.replaceAll(/\/\*.*?\*\//gs, '')
      const named = Array.from(code.matchAll(/\/assets\/[^"'`)\s]+/g), ([path]) => path)
      const others = new Set(named.filter(url => queue.every(each => each.url !== url)))
      queue.push(...Array.from(others, url => ({ url, integrity: undefined })))
    }
    const [assets = 0] = releases
    this.#see(`pages of release ${page.code} with assets of release ${assets}`)
    if (isWhole && releases.size === 1) this.#kept.set(assets, page)
    else this.bare++
    if (isWhole && releases.size !== 1)
      this.#note('wrong', `a page of ${[...releases].join(' and ')}`)
  }

  /** Undefined unless the bytes are those that its URL and its page promise. */
  async #asset({ url, integrity }: Link, query: string): Promise<Answer | undefined> {
    const answer = await this.#get(url + query)
    if (answer?.status !== 200) return undefined
    const { bytes } = answer
    const isRight =
      digestOf(bytes) === digestIn(url) &&
      [undefined, `sha384-${hash('sha384', bytes, 'base64')}`].includes(integrity)
    if (!isRight) this.#note('wrong', `${url} has other bytes`)
    return isRight ? answer : undefined
  }

  /** A name without a fingerprint has the bytes of some release, complete. */
  async #plain(name: string): Promise<void> {
    const answer = await this.#get(`/assets/${name}`)
    if (answer?.status !== 200) return
    const [piece = ''] = /^release[ (]\d+(?:\);| )/.exec(answer.text) ?? []
    const isWhole = answer.text.replaceAll(piece, '') === ''
    if (!isWhole || answer.text.length < 1000) this.#note('wrong', `${name}: ${piece}`)
  }

  async #get(url: string): Promise<Answer | undefined> {
    const { name = url } = splitFingerprint(url.replace(/\?.*/, '')) ?? {}
    const old = this.#dictionaries.get(name)
    const isOffered = old !== undefined && this.requests % 2 === 0
    const coding = CODINGS[this.requests++ % CODINGS.length]
    const headers = isOffered
      ? { 'accept-encoding': 'gzip, br, dcz', 'available-dictionary': available(old) }
      : { 'accept-encoding': coding }
    try {
      const answer = decoded(await ask(this.#port, url, { headers, agent: this.#agent }), old)
      if (answer.status !== 200) this.#note('failed', `${url}: ${answer.status}`)
      else if (answer.headers['use-as-dictionary']) this.#dictionaries.set(name, answer.text)
      if (answer.headers['content-encoding'] === 'dcz') this.#see('deltas')
      return answer
    } catch (error) {
      // What `http.request` reports once a response has begun.
      if (error instanceof Error && error.message === 'aborted') {
        this.cut++
        return this.#get(url)
      }
      this.#note('failed', `${url}: ${String(error)}`)
      return undefined
    }
  }

  #see(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1)
  }

  #note(kind: 'failed' | 'wrong', what: string): void {
    this[kind]++
    if (this.faults.length < MAX_FAULTS) this.faults.push(what)
  }
}

const DECODERS: Readonly<Record<string, (bytes: Buffer, old?: string) => Buffer>> = {
  br: bytes => brotliDecompressSync(bytes),
  gzip: bytes => gunzipSync(bytes),
  dcz: (bytes, old = '') => Buffer.from(decode(bytes, old) ?? '')
}

function decoded(answer: Answer, old: string | undefined): Answer {
  const decoder = DECODERS[answer.headers['content-encoding'] ?? '']
  if (!decoder) return answer
  const bytes = decoder(answer.bytes, old)
  return { ...answer, bytes, text: bytes.toString() }
}
