// The head of an answer. Node checks and joins the fields of every answer anew, nearly a third of the
// JavaScript that runs for a small file. What it made of the same fields within the same second is what it
// would make again, so that is kept and put in place.
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
}

/** Where Node keeps a head that is made but not sent, and what it was told to leave out of it. */
interface Response {
  _header?: string | null
  readonly _removedConnection?: boolean
}

export function said(status: number, fields: Headers): Answer {
  return { status, fields, head: undefined }
}

/** As `res.writeHead`, at a fraction of the cost where the same has just been said. */
export function writeHead(res: ServerResponse, answer: Answer): void {
  const server = serverOf(res)
  if (!server || !isPlain(res)) {
    res.writeHead(answer.status, withVary(res, answer.fields) as string[])
    return
  }
  const { head } = answer
  const second = Math.floor(Date.now() / 1000)
  const { keepAliveTimeout } = server
  if (head?.second === second && head.keepAliveTimeout === keepAliveTimeout) {
    res.statusCode = answer.status
    res.statusMessage = head.reason
    ;(res as Response)._header = head.text
    return
  }
  res.writeHead(answer.status, answer.fields as string[])
  const text = (res as Response)._header
  if (typeof text === 'string' && isReusable()) {
    answer.head = { text, reason: res.statusMessage, second, keepAliveTimeout }
  }
}

/** Undefined: not a connection of Node's over HTTP/1, or one that counts its requests. */
function serverOf({ req }: { readonly req?: { readonly socket?: object } }): Server | undefined {
  const { server }: { readonly server?: Server } = req?.socket ?? {}
  return server?.maxRequestsPerSocket === 0 ? server : undefined
}

// Taken at the start: who wants to see every head puts another in its place.
const own: unknown = Reflect.get(ServerResponse.prototype, 'writeHead')

/** Whether nothing but the answer, the date and the server's timeout makes the head what it is. */
function isPlain(res: ServerResponse): boolean {
  return (
    res.writeHead === own &&
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

/** Whether this version of Node sends a head that was put in place as one that it made itself. */
function isReusable(): boolean {
  if (reusable !== undefined) return reusable
  let text: string | null | undefined
  const made = sent(res => {
    res.writeHead(200, ['Content-Length', '4'])
    text = (res as Response)._header
  })
  const placed = sent(res => {
    ;(res as Response)._header = text ?? null
  })
  return (reusable = made.endsWith('\r\n\r\nbody') && made === placed)
}

function sent(begin: (res: ServerResponse) => void): string {
  let bytes = ''
  const socket = new Socket()
  socket.write = (chunk: Uint8Array | string) => {
    bytes += String(chunk)
    return true
  }
  const req = new IncomingMessage(socket)
  Object.assign(req, { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 })
  const res = new ServerResponse(req)
  res.assignSocket(socket)
  begin(res)
  res.end('body')
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
