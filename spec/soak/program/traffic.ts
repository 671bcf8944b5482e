// Requests of every kind, one after the other; what comes back is held against the disk.
import type { Dice } from './dice.ts'
import { askHttp1, askHttp2, askPipelined, askSlowly, leave, stall } from './clients.ts'
import type { Answer, Question } from './clients.ts'
import { digestIn, digestOf } from '../../support/fingerprinted.ts'
import type { Ports } from '../../support/replica.ts'
import { words } from '../../support/texts.ts'
import { until } from '../../support/until.ts'
import type { Replica } from './replicas.ts'
import type { Report } from './report.ts'
import type { Place, Site } from './site.ts'
import { now, type Content, type Subject } from './truth.ts'
import { faultOf } from './verdict.ts'

// A process that is killed takes its connections with it a moment earlier or later than is known here.
const DOWN_SLACK_MS = 200
const PLACES = words('sources sources sources mount folder data public notes') as readonly Place[]

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
    const ways = ['in the middle', 'in the middle', 'half a request', 'HTTP/2']
    this.#report.count('clients that left', how === 0 ? 'read nothing' : (ways[how % 4] ?? ''))
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
      const questions = requests.map(({ question }) => question)
      const answers = await within(ask(ports, questions))
      const to = now()
      for (const [at, answer] of answers.entries())
        this.#check(site, requests[at] as Request, answer, { from, to, client })
    } catch (error) {
      const isOverwritten = requests.some(({ subject }) =>
        subject.overwritten.overlap(from - site.trusted, now())
      )
      const urls = requests.map(({ question }) => question.path).join(' ')
      const reason = isOverwritten ? 'overwritten meanwhile' : undefined
      this.#isCut(replica, from, `${client} ${site.setup.name} ${urls}: ${String(error)}`, reason)
    }
  }

  #isCut(replica: Replica, from: number, what: string, known?: string): void {
    const isDown = replica.down.overlap(from - DOWN_SLACK_MS, now())
    const reason = isDown ? 'its replica went down' : known
    this.#report.count('connections cut', reason ?? 'without a reason')
    if (reason === undefined) this.#report.violation('cut', what)
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
    const isSource = place === 'sources' && !site.isPrecompiled
    const isUnpublished = place === 'sources' && site.full.overlap(from, to)
    const { trusted } = site
    const asked = { subject, question, known, from, to, isSource, trusted, isUnpublished }
    const fault = faultOf(asked, answer)
    if (fault) this.#report.violation('wrong', `${client} ${site.setup.name} ${fault}`)
    const { etag, 'content-encoding': coding } = answer.headers
    const isCoded = coding !== undefined
    const isBody = answer.status === 200 && question.method === 'GET'
    const content = isBody ? subject.contentOf(answer.body) : undefined
    if (etag !== undefined && content !== undefined)
      this.#kept.set(subject, { content, etag, isCoded })
  }

  #request(site: Site): Request {
    const place = this.#dice.oneOf(PLACES)
    const subject = this.#dice.oneOf(site.subjects[place])
    const kept = this.#kept.get(subject)
    const ask = (kind: string, headers: Question['headers'], method = 'GET', known?: Content) => {
      const question = { method, path: subject.url, headers }
      return { place, subject, kind: `${place} ${kind}`, question, known }
    }
    // The length of a source map is not known here.
    const isMapped =
      place === 'sources' && site.setup.name === 'development' && subject.at % 4 === 0
    switch (isMapped ? 4 + this.#dice.below(4) : this.#dice.below(8)) {
      case 0:
        return ask('HEAD', {}, 'HEAD')
      case 1:
        if (place !== 'notes') return ask('range', { range: this.#range() })
        break
      case 2:
        if (place !== 'notes' && kept)
          return ask('If-Range', { range: this.#range(), 'if-range': kept.etag })
        break
      case 3:
        if (place !== 'notes' && kept && !kept.isCoded)
          return ask('If-Match', { 'if-match': kept.etag }, 'GET', kept.content)
        break
      case 4:
      case 5: {
        if (!kept) break
        const conditions = { 'if-none-match': kept.etag, ...this.#codings() }
        return ask('If-None-Match', conditions, 'GET', kept.content)
      }
      default:
        return ask('GET', this.#codings())
    }
    return ask('GET', {})
  }

  #range(): string {
    const start = this.#dice.below(4000)
    const ends = [`${start}-`, `${start}-${start + 500}`, `-${start + 1}`]
    return `bytes=${this.#dice.oneOf(ends)}`
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
      if (page.status !== 200) {
        // A replica that has just begun, and cannot write, has no last good version.
        if (!site.full.overlap(from, now()))
          this.#report.violation(
            'page',
            `${site.setup.name} /index: ${page.status} ${page.body.toString()}`
          )
        return
      }
      const { urls } = JSON.parse(page.body.toString()) as { urls: string[] }
      for (const [at, url] of urls.entries()) {
        const { status, body } = await get(url)
        const digest = digestIn(url)
        const isWhole = site.stable[at]?.contentOf(body) !== undefined
        const isRight = status === 200 && isWhole && (digest ?? digestOf(body)) === digestOf(body)
        this.#report.count('pages', `assets of a page in ${site.setup.name} ${status}`)
        const isExcused = digest === undefined && site.full.overlap(from, now())
        const what = `${site.setup.name} ${url}: ${status}, ${body.length} bytes`
        if (!isRight && !isExcused) this.#report.violation('page', what)
      }
    } catch (error) {
      this.#isCut(replica, from, `${site.setup.name} /index: ${String(error)}`)
    }
  }
}
