// Whether a response is one of those that the disk allowed while it was asked for.
import type { Answer, Question } from './clients.ts'
import type { Content, Subject } from './truth.ts'

export interface Exchange {
  readonly subject: Subject
  readonly question: Question
  /** What the client has a validator of. */
  readonly known?: Content | undefined
  readonly from: number
  readonly to: number
  /** A look at the disk may be this old, in milliseconds. */
  readonly trusted: number
  /** A source of this site may be unpublished: its last good version is sent, or an error. */
  readonly isUnpublished: boolean
  /** Whether sources are published here: one that is gone or broken may leave its last good version. */
  readonly isSource: boolean
}

/** What is wrong with a response; undefined when nothing is. */
export function faultOf(exchange: Exchange, answer: Answer): string | undefined {
  const possible = possibleIn(exchange)
  const { status } = answer
  const isAllowed = ALLOWED[status]?.(exchange, answer, possible) ?? false
  if (isAllowed) return undefined
  const { subject, question, known } = exchange
  const got = `${status}, ${answer.body.length} bytes ${JSON.stringify(answer.body.toString('latin1', 0, status === 500 ? 300 : 60))}`
  return `${question.method} ${subject.url} ${JSON.stringify(question.headers)} known ${known}: ${got}; on disk ${possible.join(', ')}, latest ${subject.latest}`
}

type Rule = (exchange: Exchange, answer: Answer, possible: readonly Content[]) => boolean

/** A file that is overwritten with more bytes while it is streamed looks like a log that grows. */
function isGrown(
  exchange: Exchange,
  possible: readonly Content[],
  size: number,
  part: Buffer,
  at = 0
) {
  const { subject, from, to, trusted } = exchange
  const all = possible.map(each => subject.bytesOf(each))
  const isOverwritten = subject.overwritten.overlap(from - trusted, to)
  const isPiece = (bytes: Buffer) => bytes.subarray(at, at + part.length).equals(part)
  return isOverwritten && all.some(({ length }) => length === size) && all.some(isPiece)
}

const isWhole: Rule = (exchange, { headers, body }, possible) => {
  const { subject, question } = exchange
  if (question.method !== 'HEAD') {
    const isOne = possible.some(each => each === subject.contentOf(body))
    return isOne || isGrown(exchange, possible, body.length, body)
  }
  const length = Number(headers['content-length'])
  // The length of what a coding makes of it is not known here.
  const isCoded = headers['content-encoding'] !== undefined
  return isCoded || possible.some(each => subject.bytesOf(each).length === length)
}

const isPart: Rule = (exchange, { headers, body }, possible) => {
  const { subject } = exchange
  const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '') ?? []
  const [, start, end, size = 0] = range.map(Number)
  const isOne = possible.some(each => {
    const whole = subject.bytesOf(each)
    return whole.length === size && whole.subarray(start, Number(end) + 1).equals(body)
  })
  return isOne || isGrown(exchange, possible, size, body, start)
}

const ALLOWED: Readonly<Record<number, Rule>> = {
  200: isWhole,
  206: isPart,
  304: ({ known }, _, possible) => known !== undefined && possible.includes(known),
  404: (_, __, possible) => possible.includes('absent'),
  412: ({ known }, _, possible) => possible.some(each => each !== known),
  416: ({ subject, question }, _, possible) => {
    // An empty file has no last bytes either.
    const [, start = '0'] = /=(\d+)-/.exec(question.headers['range'] ?? '') ?? []
    return possible.some(each => subject.bytesOf(each).length <= Number(start))
  },
  500: ({ isUnpublished, isSource }, _, possible) =>
    isUnpublished || (isSource && possible.includes('broken'))
}

function possibleIn({ subject, from, to, trusted, ...rest }: Exchange): readonly Content[] {
  const possible = subject.between(from - trusted, to)
  const isLost = rest.isSource && possible.some(each => each === 'broken' || each === 'absent')
  if (!isLost && !rest.isUnpublished) return possible
  const versions = Array.from({ length: subject.latest + 1 }, (_, at) => at)
  return [...possible, 'empty', 'absent', ...versions]
}
