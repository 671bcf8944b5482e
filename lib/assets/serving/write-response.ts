// Writes a prepared response to the connection. For every response Node validates and joins the fields
// again, nearly a third of the JavaScript that runs for a small file, and passes head and body to the
// kernel separately. What Node appends to the fields is the same for all responses of a second: it is taken
// from the first one, and completes the heads of the others. A head is kept, with a small body appended.
/* oxlint-disable no-underscore-dangle -- Node has no other name for the head that it made */
import { IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { removeContentFields, setFields, type Fields } from './fields.ts'
import { pacedBody } from './connection.ts'

/** A status and its fields, made once for many requests. */
export interface PreparedResponse {
  readonly status: number
  readonly fields: Fields
  /** The names of those that replace what was set in front, in lower case. */
  readonly said: ReadonlySet<string>
  /** The status line and the fields as Node writes them; false where only Node may do that. */
  start: string | false | undefined
  /** The head that was sent last. */
  head: Head | undefined
}

interface Head {
  readonly text: string
  readonly moment: Moment
  /** The text and a small body as one Latin-1 string. */
  withBody: string | undefined
}

/** What a head depends on beside status and fields. */
interface Moment {
  /** Since 1970. */
  readonly second: number
  readonly keepAliveTimeout: number
  /** What Node appends to the fields: date and connection. Undefined until it has done so. */
  ending: string | undefined
}

/** Where Node keeps a head that is made but not sent, and what else goes into it. */
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

/** Up to this size, in bytes, Node writes a string without allocating, in one system call. */
export const MAX_ONE_WRITE_BYTES = 16 * 1024

export function prepareResponse(
  status: number,
  fields: Fields,
  said: ReadonlySet<string> = NOTHING
): PreparedResponse {
  return { status, fields, said, start: undefined, head: undefined }
}

const NOTHING: ReadonlySet<string> = new Set()

/**
 * Does what `res.writeHead` and `res.end` do, at a fraction of the cost when the head can be reused.
 * @param body the same bytes for every call with this response, or none
 */
export function writeResponse(res: Response, response: PreparedResponse, body?: Buffer): void {
  if (!mayReuseHead(res)) {
    removeContentFields(res)
    setFields(res, response)
    res.writeHead(response.status)
    const paced = body && pacedBody(res, body)
    if (paced instanceof Readable) paced.pipe(res)
    else res.end(paced)
    return
  }
  const now = momentOf(res)
  // Many are sent once: only the head of a second response is worth its memory.
  const isFirst = response.start === undefined
  const head = response.head?.moment === now ? response.head : completeHead(response, now)
  if (!isFirst) response.head = head
  if (head) {
    writeWithHead(res, response.status, head, body)
    return
  }
  res.writeHead(response.status, response.fields.flat())
  const start = startOf(response)
  if (start && res._header?.startsWith(start) && isReusable()) {
    now.ending = res._header.slice(start.length)
  }
  res.end(body)
}

let moment: Moment = { second: 0, keepAliveTimeout: 0, ending: undefined }

function momentOf({ _keepAliveTimeout: keepAliveTimeout = 0 }: Response): Moment {
  const second = Math.floor(Date.now() / 1000)
  if (moment.second !== second || moment.keepAliveTimeout !== keepAliveTimeout) {
    moment = { second, keepAliveTimeout, ending: undefined }
  }
  return moment
}

/** Undefined when Node has to make it. */
function completeHead(response: PreparedResponse, now: Moment): Head | undefined {
  const start = now.ending !== undefined && startOf(response)
  return start ? { text: start + now.ending, moment: now, withBody: undefined } : undefined
}

function startOf(response: PreparedResponse): string | false {
  response.start ??= joinFields(response)
  return response.start
}

// RFC 9110 section 5.1, without those that `_storeHeader` of Node 20 to 24 reads or converts.
const ORDINARY_NAME =
  /^(?!(?:connection|content-disposition|date|expect|keep-alive|trailer|transfer-encoding|upgrade)$)[!#$%&'*+\-.^_`|~\w]+$/i
// RFC 9110 section 5.5: Node rejects others.
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

function joinFields({ status, fields }: PreparedResponse): string | false {
  // Of another length Node sends the body in chunks, and says so.
  if (status !== 304 && fields.at(-1)?.[0] !== 'Content-Length') return false
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`]
  for (const [name, value] of fields) {
    if (!ORDINARY_NAME.test(name) || !VALUE.test(value)) return false
    lines.push(name, ': ', value, '\r\n')
  }
  // In one piece: a string that was put together by `+` keeps its parts.
  return lines.join('')
}

function writeWithHead(res: Response, status: number, head: Head, body: Buffer | undefined): void {
  res.statusCode = status
  res.statusMessage = STATUS_CODES[status] ?? ''
  const isSmall = body !== undefined && head.text.length + body.length <= MAX_ONE_WRITE_BYTES
  if (!isSmall || !res._hasBody || res.end !== original.end) {
    res._header = head.text
    res.end(body)
    return
  }
  head.withBody ??= head.text + body.toString('latin1')
  res._header = head.withBody
  res.end()
  // It is written; loggers read the head from here.
  res._header = head.text
}

// Instrumentation may replace these methods, before this module is loaded or after.
const original = { writeHead: methodOfNode('writeHead'), end: methodOfNode('end') }

/** Undefined when it is replaced already: Node's own methods mention where the head is kept. */
function methodOfNode(name: 'writeHead' | 'end'): unknown {
  const method: unknown = Reflect.get(ServerResponse.prototype, name)
  return String(method).includes('this._header') ? method : undefined
}

/**
 * Whether the head depends on the prepared response, the date and the server's timeout alone: everything
 * else that `_storeHeader` and `writeHead` of Node 20 to 24 read is as Node leaves it.
 */
function mayReuseHead(res: Response): boolean {
  return (
    res.writeHead === original.writeHead &&
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

/** Whether this version of Node sends a head that was put back as it sends one of its own. */
function isReusable(): boolean {
  if (reusable !== undefined) return reusable
  const body = Buffer.from('b\u00F6dy', 'latin1')
  let text = ''
  const made = bytesSent(res => {
    res.writeHead(200, ['Content-Length', '4'])
    text = String(res._header)
    res.end(body)
  })
  const reused = (header: string, rest?: Buffer) =>
    bytesSent(res => {
      res._header = header
      res.end(rest)
      res._header = text
    })
  const withBody = text + body.toString('latin1')
  return (reusable = made === withBody && reused(text, body) === made && reused(withBody) === made)
}

function bytesSent(write: (res: Response) => void): string {
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
  write(res)
  socket.destroy()
  return bytes
}
