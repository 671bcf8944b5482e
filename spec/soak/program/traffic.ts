// Requests of every kind, one after the other; what comes back is held against the disk.
import type { Dice } from './dice.ts'
import {
  askHttp1,
  askHttp2,
  askPipelined,
  askSlowly,
  leave,
  stall,
  type Answer,
  type Question
} from './clients.ts'
import { digestIn, digestOf } from '../../support/fingerprinted.ts'
import type { Ports } from '../../support/replica.ts'
import { until } from '../../support/until.ts'
import type { Replica } from './replicas.ts'
import type { Report } from './report.ts'
import type { Place, Site } from './site.ts'
import { now, type Content, type Subject } from './truth.ts'
import { faultOf } from './verdict.ts'

// A process that is killed takes its connections with it a moment earlier or later than is known here.
const DOWN_SLACK_MS = 200
const PLACES: readonly Place[] = [
  'sources',
  'sources',
  'sources',
  'mount',
  'folder',
  'data',
  'public',
  'notes'
]

/** Koa 3.3 leaves a HEAD request over HTTP/2 without a response when a middleware throws. */
const MAY_THROW = new Set<Place>(['data', 'sources'])

/** @throws when there is no answer in the end; not by the clock, since a busy machine answers late */
async function within<T>(answer: Promise<T>): Promise<T> {
  const state = { isOver: false }
  const end = () => void (state.isOver = true)
  answer.then(end, end)
  return Promise.race([answer, until(() => state.isOver, 'an answer').then(() => answer)])
}

interface Request {
  readonly place: Place
  readonly subject: Subject
  readonly kind: string
  readonly question: Question
  readonly known: Content | undefined
}

/** What a visitor has kept of a file. */
interface Kept {
  readonly content: Content
  readonly etag: string
  /** Whether the validator is that of a compressed representation. */
  readonly isCoded: boolean
}

type Ask = (ports: Ports, questions: readonly Question[]) => Promise<Answer[]>

const CLIENTS: Readonly<Record<string, Ask>> = {
  'HTTP/1': async (ports, [question]) => [await askHttp1(ports, question as Question)],
  'HTTP/2': async (ports, questions) => Promise.all(questions.map(each => askHttp2(ports, each))),
  pipelined: askPipelined,
  slow: async (ports, [question]) => [await askSlowly(ports, question as Question)]
}

export class Visitor {
  readonly #sites: readonly Site[]
  readonly #dice: Dice
  readonly #report: Report
  /** By subject. */
  readonly #kept = new Map<Subject, Kept>()

  constructor(sites: readonly Site[], dice: Dice, report: Report) {
    this.#sites = sites
    this.#dice = dice
    this.#report = report
  }

  async visit(signal: AbortSignal, clients: readonly string[]): Promise<void> {
    while (!signal.aborted) {
      const site = this.#dice.oneOf(this.#sites)
      const replica = this.#dice.oneOf(site.replicas)
      const { ports } = replica
      const client = this.#dice.oneOf(clients)
      if (!ports) await new Promise(resolve => setImmediate(resolve))
      else if (client === 'leaving') await this.#leave(site, ports)
      else if (client === 'page') await this.#seePage(site, replica, ports)
      else await this.#ask(site, replica, ports, client)
    }
  }

  async #leave(site: Site, ports: Ports): Promise<void> {
    const { question } = this.#request(site)
    const how = this.#dice.below(12)
    const left = how === 0 ? stall(ports, question, 1500) : leave(ports, question, how)
    // Its replica may be gone before it is.
    await within(left).catch(() => undefined)
    this.#report.count(
      'clients that left',
      how === 0
        ? 'read nothing'
        : how % 4 === 2
          ? 'half a request'
          : how % 4 === 3
            ? 'HTTP/2'
            : 'in the middle'
    )
  }

  async #ask(site: Site, replica: Replica, ports: Ports, client: string): Promise<void> {
    const isOne = client === 'HTTP/1' || client === 'slow'
    const requests = Array.from({ length: isOne ? 1 : 5 }, () => {
      const request = this.#request(site)
      const { question, place } = request
      const isMute = client === 'HTTP/2' && question.method === 'HEAD' && MAY_THROW.has(place)
      return isMute ? { ...request, question: { ...question, method: 'GET' } } : request
    })
    const from = now()
    const ask = CLIENTS[client] as Ask
    try {
      const answers = await within(
        ask(
          ports,
          requests.map(({ question }) => question)
        )
      )
      const to = now()
      for (const [at, answer] of answers.entries()) {
        this.#check(site, requests[at] as Request, answer, { from, to, client })
      }
    } catch (error) {
      const isOverwritten = requests.some(({ subject }) =>
        subject.overwritten.overlap(from - site.setup.trusted, now())
      )
      const isDown = replica.down.overlap(from - DOWN_SLACK_MS, now())
      const reason = isDown
        ? 'its replica went down'
        : isOverwritten
          ? 'overwritten meanwhile'
          : undefined
      this.#report.count('connections cut', reason ?? 'without a reason')
      if (reason === undefined) {
        const urls = requests.map(({ question }) => question.path).join(' ')
        this.#report.violation('cut', `${client} ${site.setup.name} ${urls}: ${String(error)}`)
      }
    }
  }

  #check(
    site: Site,
    request: Request,
    answer: Answer,
    { from, to, client }: { from: number; to: number; client: string }
  ): void {
    const { place, subject, question, known } = request
    this.#report.count(`requests over ${client}`, `${request.kind} ${answer.status}`)
    this.#report.count('bodies', answer.body.length > 0 ? 'checked' : 'empty')
    const isSource = place === 'sources' && !site.setup.isPrecompiled
    const fault = faultOf(
      {
        subject,
        question,
        known,
        from,
        to,
        isSource,
        trusted: site.setup.trusted,
        isUnpublished: place === 'sources' && site.full.overlap(from, to)
      },
      answer
    )
    if (fault) this.#report.violation('wrong', `${client} ${site.setup.name} ${fault}`)
    const { etag, 'content-encoding': coding } = answer.headers
    const isCoded = coding !== undefined
    const content =
      answer.status === 200 && question.method === 'GET'
        ? subject.contentOf(answer.body)
        : undefined
    if (etag !== undefined && content !== undefined)
      this.#kept.set(subject, { content, etag, isCoded })
  }

  #request(site: Site): Request {
    const place = this.#dice.oneOf(PLACES)
    const subject = this.#dice.oneOf(site.subjects[place])
    const kept = this.#kept.get(subject)
    const ask = (
      kind: string,
      headers: Question['headers'] = {},
      method = 'GET',
      known?: Content
    ) => ({
      place,
      subject,
      kind: `${place} ${kind}`,
      question: { method, path: subject.url, headers },
      known
    })
    // The length of a source map is not known here.
    const isMapped =
      place === 'sources' && site.setup.name === 'development' && subject.at % 4 === 0
    switch (isMapped ? 4 + this.#dice.below(4) : this.#dice.below(8)) {
      case 0:
        return ask('HEAD', {}, 'HEAD')
      case 1:
        return place === 'notes' ? ask('GET') : ask('range', { range: this.#range() })
      case 2:
        return place === 'notes' || !kept
          ? ask('GET')
          : ask('If-Range', { range: this.#range(), 'if-range': kept.etag })
      case 3:
        return kept && !kept.isCoded && place !== 'notes'
          ? ask('If-Match', { 'if-match': kept.etag }, 'GET', kept.content)
          : ask('GET')
      case 4:
      case 5:
        return kept
          ? ask(
              'If-None-Match',
              { 'if-none-match': kept.etag, ...this.#codings() },
              'GET',
              kept.content
            )
          : ask('GET')
      default:
        return ask('GET', this.#codings())
    }
  }

  #range(): string {
    const start = this.#dice.below(4000)
    return this.#dice.oneOf([
      `bytes=${start}-`,
      `bytes=${start}-${start + 500}`,
      `bytes=-${start + 1}`
    ])
  }

  #codings(): Record<string, string> {
    const codings = this.#dice.oneOf([undefined, 'gzip', 'br, gzip;q=0.5'])
    return codings === undefined ? {} : { 'accept-encoding': codings }
  }

  /** A page, and every asset that it refers to: none may be missing, or have other bytes than its digest. */
  async #seePage(site: Site, replica: Replica, ports: Ports): Promise<void> {
    const from = now()
    const get = (path: string) => within(askHttp1(ports, { method: 'GET', path, headers: {} }))
    try {
      const page = await get('/index')
      this.#report.count('pages', `${site.setup.name} ${page.status}`)
      if (page.status !== 200) return this.#pageFailed(site, from, page)
      const { urls } = JSON.parse(page.body.toString()) as { urls: string[] }
      for (const [at, url] of urls.entries()) {
        const { status, body } = await get(url)
        const digest = digestIn(url)
        const isWhole = site.stable[at]?.contentOf(body) !== undefined
        const isRight = status === 200 && isWhole && (digest ?? digestOf(body)) === digestOf(body)
        this.#report.count('pages', `assets of a page in ${site.setup.name} ${status}`)
        const isExcused = digest === undefined && site.full.overlap(from, now())
        if (!isRight && !isExcused)
          this.#report.violation(
            'page',
            `${site.setup.name} ${url}: ${status}, ${body.length} bytes`
          )
      }
    } catch (error) {
      const isDown = replica.down.overlap(from - DOWN_SLACK_MS, now())
      this.#report.count('connections cut', isDown ? 'its replica went down' : 'without a reason')
      if (!isDown) this.#report.violation('cut', `${site.setup.name} /index: ${String(error)}`)
    }
  }

  /** A replica that has just begun, and cannot write, has no last good version. */
  #pageFailed(site: Site, from: number, { status, body }: Answer): void {
    if (site.full.overlap(from, now())) return
    this.#report.violation('page', `${site.setup.name} /index: ${status} ${body.toString()}`)
  }
}
