// An answer onto the wire. Node checks and joins the fields of every answer anew, nearly a third of the
// JavaScript that runs for a small file, and hands head and body to the kernel as pieces. What it made of
// the same fields within the same second is what it would make again, so that is kept, a small body behind
// it, and put in place.
/* oxlint-disable no-underscore-dangle -- Node has no other name for the head that it made */
import { IncomingMessage, type Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Headers } from './representation.ts'

/** A status and its fields, made once for many requests. */
export interface Answer {
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

/** Where Node keeps a head that is made but not sent, and what it was told to leave out of it. */
interface Response {
  _header?: string | null
  readonly _removedConnection?: boolean
}

/** Up to here, in bytes, Node writes a string without asking for memory, in one call of the kernel. */
export const MAX_WHOLE_BYTES = 16 * 1024

export function said(status: number, fields: Headers): Answer {
  return { status, fields, head: undefined }
}

/**
 * As `res.writeHead` and `res.end`, at a fraction of the cost where the same has just been said.
 * @param body the same for an answer every time, or none
 */
export function writeAnswer(res: ServerResponse, answer: Answer, body?: Buffer): void {
  const server = serverOf(res)
  if (!server || !isPlain(res)) {
    res.writeHead(answer.status, withVary(res, answer.fields) as string[])
    res.end(body)
    return
  }
  const { head } = answer
  const second = Math.floor(Date.now() / 1000)
  const { keepAliveTimeout } = server
  if (head?.second === second && head.keepAliveTimeout === keepAliveTimeout) {
    place(res, answer.status, head, body)
    return
  }
  res.writeHead(answer.status, answer.fields as string[])
  const text = (res as Response)._header
  if (typeof text === 'string' && isReusable()) {
    const reason = res.statusMessage
    answer.head = { text, reason, second, keepAliveTimeout, whole: undefined }
  }
  res.end(body)
}

function place(res: ServerResponse, status: number, head: Head, body: Buffer | undefined): void {
  res.statusCode = status
  res.statusMessage = head.reason
  const isSmall = body !== undefined && head.text.length + body.length <= MAX_WHOLE_BYTES
  if (!isSmall || res.end !== own.end) {
    ;(res as Response)._header = head.text
    res.end(body)
    return
  }
  head.whole ??= head.text + body.toString('latin1')
  ;(res as Response)._header = head.whole
  res.end()
  // It is on its way; loggers show what stands here.
  ;(res as Response)._header = head.text
}

/** Undefined: not a connection of Node's over HTTP/1, or one that counts its requests. */
function serverOf({ req }: { readonly req?: { readonly socket?: object } }): Server | undefined {
  const { server }: { readonly server?: Server } = req?.socket ?? {}
  return server?.maxRequestsPerSocket === 0 ? server : undefined
}

// Who wants to see every head or body puts others in their place, before this is loaded or after.
const own = { writeHead: nodesOwn('writeHead'), end: nodesOwn('end') }

/** Undefined where another stands already: Node's own speak of where the head is kept. */
function nodesOwn(name: 'writeHead' | 'end'): unknown {
  const method: unknown = Reflect.get(ServerResponse.prototype, name)
  return String(method).includes('this._header') ? method : undefined
}

/** Whether nothing but the answer, the date and the server's timeout makes the head what it is. */
function isPlain(res: ServerResponse): boolean {
  return (
    res.writeHead === own.writeHead &&
    res.shouldKeepAlive &&
    res.sendDate &&
    !res.statusMessage &&
    !(res as Response)._removedConnection &&
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
    text = String((res as Response)._header)
    res.end(body)
  })
  const placed = (header: string, rest?: Buffer) =>
    sent(res => {
      ;(res as Response)._header = header
      res.end(rest)
      ;(res as Response)._header = text
    })
  const whole = text + body.toString('latin1')
  return (reusable = made === whole && placed(text, body) === made && placed(whole) === made)
}

function sent(answer: (res: ServerResponse) => void): string {
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
