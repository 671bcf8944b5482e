// An answer onto the wire. Node checks and joins the fields of every answer anew, nearly a third of the
// JavaScript that runs for a small file, and hands head and body to the kernel as pieces. What it made of
// the same fields within the same second is what it would make again, so that is kept, a small body behind
// it, and put in place.
/* oxlint-disable no-underscore-dangle -- Node has no other name for the head that it made */
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Headers } from './representation.ts'

/** A status and its fields, made once for many requests. */
export interface PreparedResponse {
  readonly status: number
  readonly fields: Headers
  /** What Node made of them last. */
  head: Head | undefined
}

interface Head {
  readonly text: string
  readonly reason: string
  /** What the text says beside the fields: the date, in seconds, and the connection's timeout. */
  readonly second: number
  readonly keepAliveTimeout: number
  /** The text and a small body, a byte for each character. */
  whole: string | undefined
}

/** Where Node keeps a head that is made but not sent, and what else takes part in the making of it. */
interface Internals {
  _header?: string | null
  readonly _hasBody?: boolean
  readonly _keepAliveTimeout?: number
  readonly _maxRequestsPerSocket?: number | null
  readonly _defaultKeepAlive?: boolean
  readonly _removedConnection?: boolean
  readonly _removedContLen?: boolean
  readonly _removedTE?: boolean
  readonly maxRequestsOnConnectionReached?: boolean
}

type Response = ServerResponse & Internals

/** Up to here, in bytes, Node writes a string without asking for memory, in one call of the kernel. */
export const MAX_WHOLE_BYTES = 16 * 1024

export function prepareResponse(status: number, fields: Headers): PreparedResponse {
  return { status, fields, head: undefined }
}

/**
 * As `res.writeHead` and `res.end`, at a fraction of the cost where the same has just been said.
 * @param body the same for an answer every time, or none
 */
export function writeResponse(res: Response, answer: PreparedResponse, body?: Buffer): void {
  if (!mayReuseHead(res)) {
    forgetOtherBody(res)
    res.writeHead(answer.status, withVary(res, answer.fields) as string[])
    res.end(body)
    return
  }
  const { head } = answer
  const second = Math.floor(Date.now() / 1000)
  const keepAliveTimeout = res._keepAliveTimeout ?? 0
  if (head?.second === second && head.keepAliveTimeout === keepAliveTimeout) {
    place(res, answer.status, head, body)
    return
  }
  res.writeHead(answer.status, answer.fields as string[])
  const text = res._header
  if (typeof text === 'string' && isReusable()) {
    const reason = res.statusMessage
    answer.head = { text, reason, second, keepAliveTimeout, whole: undefined }
  }
  res.end(body)
}

function place(res: Response, status: number, head: Head, body: Buffer | undefined): void {
  res.statusCode = status
  res.statusMessage = head.reason
  const isSmall = body !== undefined && head.text.length + body.length <= MAX_WHOLE_BYTES
  if (!isSmall || !res._hasBody || res.end !== own.end) {
    res._header = head.text
    res.end(body)
    return
  }
  head.whole ??= head.text + body.toString('latin1')
  res._header = head.whole
  res.end()
  // It is on its way; loggers show what stands here.
  res._header = head.text
}

// Instrumentation may replace these methods, before this module is loaded or after.
const own = { writeHead: nodesOwn('writeHead'), end: nodesOwn('end') }

/** Undefined where another stands already: Node's own speak of where the head is kept. */
function nodesOwn(name: 'writeHead' | 'end'): unknown {
  const method: unknown = Reflect.get(ServerResponse.prototype, name)
  return String(method).includes('this._header') ? method : undefined
}

/**
 * Whether nothing but the answer, the date and the server's timeout makes the head what it is: all else that
 * `_storeHeader` and `writeHead` of Node 20 to 24 look at is as Node leaves it.
 */
function mayReuseHead(res: Response): boolean {
  return (
    res.writeHead === own.writeHead &&
    res.shouldKeepAlive &&
    res.useChunkedEncodingByDefault &&
    !res.chunkedEncoding &&
    res.sendDate &&
    !res.statusMessage &&
    res._defaultKeepAlive === true &&
    !res._maxRequestsPerSocket &&
    !res.maxRequestsOnConnectionReached &&
    !res._removedConnection &&
    !res._removedContLen &&
    !res._removedTE &&
    res.req.httpVersion === '1.1' &&
    res.req.headers.expect === undefined &&
    res.getHeaderNames().length === 0
  )
}

let reusable: boolean | undefined

/** Whether this version of Node sends what was put in place as what it made itself. */
function isReusable(): boolean {
  if (reusable !== undefined) return reusable
  const body = Buffer.from('b\u00F6dy', 'latin1')
  let text = ''
  const made = sent(res => {
    res.writeHead(200, ['Content-Length', '4'])
    text = String(res._header)
    res.end(body)
  })
  const placed = (header: string, rest?: Buffer) =>
    sent(res => {
      res._header = header
      res.end(rest)
      res._header = text
    })
  const whole = text + body.toString('latin1')
  return (reusable = made === whole && placed(text, body) === made && placed(whole) === made)
}

function sent(answer: (res: Response) => void): string {
  let bytes = ''
  const socket = new Socket()
  socket.write = (chunk: Buffer | string, encoding?: unknown) => {
    const isBytes = typeof chunk !== 'string'
    bytes += (isBytes ? chunk : Buffer.from(chunk, encoding as BufferEncoding)).toString('latin1')
    return true
  }
  const req = new IncomingMessage(socket)
  Object.assign(req, { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 })
  const res = new ServerResponse(req)
  res.assignSocket(socket)
  answer(res)
  socket.destroy()
  return bytes
}

// RFC 9110 section 8: what is said of content, and what tells one state of it from another.
const ABOUT_CONTENT = [
  ...['Content-Type', 'Content-Encoding', 'Content-Language', 'Content-Length', 'Content-Range'],
  ...['Transfer-Encoding', 'ETag', 'Last-Modified']
]

/** What was said in front spoke of some other body, and so did the reason phrase. */
export function forgetOtherBody(res: ServerResponse): void {
  for (const name of ABOUT_CONTENT) if (res.hasHeader(name)) res.removeHeader(name)
  // HTTP/2 has no reason phrase, and Node warns of one.
  if (res.req.httpVersionMajor < 2) res.statusMessage = ''
}

/** `res.writeHead` keeps what was set before, but replaces it by what has the same name. */
export function withVary(res: ServerResponse, fields: Headers): Headers {
  const earlier = res.getHeader('Vary')
  if (earlier === undefined) return fields
  const at = fields.indexOf('Vary')
  if (at === -1) return fields
  const members = new Set(String(earlier).split(/\s*,\s*/))
  const isNamed = [...members].some(field => field === '*' || /^accept-encoding$/i.test(field))
  const merged = isNamed ? String(earlier) : `${String(earlier)}, ${fields[at + 1]}`
  return fields.with(at + 1, merged)
}
