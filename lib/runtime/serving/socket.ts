// The exit to the socket: a response that no other middleware could see or change is written to its connection, past
// Koa, which is half of the cost of a small file. All fast and odd code is in this file: without it, and without the
// line of koa-assets.ts that calls it, every response goes through Koa. Node validates and joins the fields of every
// response again, and passes head and body to the kernel separately. A head that Node has made stays the same for a
// second: it is kept, with a small body appended, and reused.
/* oxlint-disable no-underscore-dangle -- Node has no other name for the head that it made */
import type { ReadStream, Stats } from 'node:fs'
import { ServerResponse, STATUS_CODES, type IncomingMessage, type Server } from 'node:http'
import { Readable } from 'node:stream'
import type { Context, Middleware } from 'koa'
import send from 'send'
import { abort, MAX_ONE_WRITE_BYTES, pacedBody, sourceOf, type FilePart } from './stream.ts'
import { prepareResponse, removeContentFields, setFields, type PreparedResponse } from './fields.ts'
import { toKoa, type Exit } from './respond.ts'

/** @param compose joins middleware, unless instrumented @param hasPassed tells whether other instances are in front */
export function exitToSocket(
  middleware: Middleware,
  compose: unknown,
  hasPassed: (ctx: Context) => boolean
): (ctx: Context) => Exit {
  return ctx => {
    const app: Context['app'] & { readonly compose?: unknown } = ctx.app
    const isFirst = app.middleware[0] === middleware && (app.compose ?? compose) === compose
    return isFirst && !hasPassed(ctx) && isOnlyListener(ctx) ? toSocket : toKoa
  }
}

// A later listener of the server may set a field: Koa responds after all of them.
function isOnlyListener({ req }: Context): boolean {
  const { server } = req.socket as { readonly server?: Server }
  return server?.listenerCount('request') === 1
}

const toSocket: Exit = {
  write(ctx, response, body) {
    ctx.respond = false
    // Another listener of the server may have responded meanwhile.
    if (!ctx.res.headersSent) writeResponse(ctx.res, response, body)
  },
  stream(ctx, response, part) {
    ctx.respond = false
    return streamFile(ctx.res, response, part)
  },
  notFound(ctx) {
    // Koa makes another response if the rest of the stack has set a status, a body or a field.
    const isPlain = ctx.req.method === 'GET' && mayReuseHead(ctx.res)
    if (isPlain) toSocket.write(ctx, NOT_FOUND, NOT_FOUND_BODY)
    else toKoa.notFound(ctx)
  }
}

// Koa's response where nothing else responds.
const NOT_FOUND_BODY = Buffer.from('Not Found')
const NOT_FOUND = prepareResponse(404, [
  ['Content-Type', 'text/plain; charset=utf-8'],
  ['Content-Length', String(NOT_FOUND_BODY.length)],
  ['Cache-Control', 'no-store']
])

interface Head {
  readonly text: string
  /** The second since 1970 that is the date in the head. */
  readonly second: number
  readonly keepAliveTimeout: number | undefined
  /** The text and a small body as one Latin-1 string. */
  withBody: string | undefined
}

/** Node keeps a head that is made but not sent in these members, and what else affects it. */
interface Internals {
  _header?: string | null
  readonly _hasBody?: boolean
  readonly _last?: boolean
  readonly _keepAliveTimeout?: number
  readonly _maxRequestsPerSocket?: number | null
  readonly _defaultKeepAlive?: boolean
  readonly _removedConnection?: boolean
  readonly _removedContLen?: boolean
  readonly _removedTE?: boolean
  readonly maxRequestsOnConnectionReached?: boolean
}

type Response = ServerResponse & Internals

/** Does what `res.writeHead` and `res.end` do. @param body the same bytes for every call with this response, or none */
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
  const second = Math.floor(Date.now() / 1000)
  const { status, fields } = response
  const head = response.remembered as Head | undefined
  const keepAliveTimeout = res._keepAliveTimeout
  if (head?.second === second && head.keepAliveTimeout === keepAliveTimeout) {
    writeWithHead(res, status, head, body)
    return
  }
  res.writeHead(status, fields.flat())
  // Some fields change what Node does with the connection or the body, not only the head.
  const text = res._last || res.chunkedEncoding || !res._defaultKeepAlive ? null : res._header
  response.remembered = text ? { text, second, keepAliveTimeout, withBody: undefined } : undefined
  res.end(body)
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
  // The response is written; loggers read the head from this member.
  res._header = head.text
}

// Instrumentation may replace these methods, before this module is loaded or after.
const original = { writeHead: methodOfNode('writeHead'), end: methodOfNode('end') }

/** Returns undefined for a method that has been replaced: the source of Node's own mentions `_header`. */
function methodOfNode(name: 'writeHead' | 'end'): unknown {
  const method: unknown = Reflect.get(ServerResponse.prototype, name)
  return String(method).includes('this._header') ? method : undefined
}

// All versions up to this one send a reused head like one of their own.
const isKnownNode = Number.parseInt(process.versions.node, 10) <= 26

// Everything else that `_storeHeader` and `writeHead` of Node 20 to 26 read keeps Node's own value.
function mayReuseHead(res: Response): boolean {
  return (
    isKnownNode &&
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

// `send` evaluates preconditions and ranges in its own way, so it gets one range, and options to read the open file.
async function streamFile(res: ServerResponse, response: PreparedResponse, part: FilePart) {
  const { file, size, range } = part
  removeContentFields(res)
  // Koa starts at 404, and send never resets it.
  res.statusCode = 200
  setFields(res, response)
  const headers = range ? { range: `bytes=${range.start}-${range.end}` } : {}
  const options = { cacheControl: false, etag: false, lastModified: false, ...sourceOf(res, part) }
  const sending = send({ method: 'GET', headers } as IncomingMessage, file.path, options)
  return new Promise<void>(resolve => {
    let isReading = false
    sending.on('error', () => abort(res))
    sending.on('stream', (stream: ReadStream) => {
      isReading = true
      stream.once('close', resolve)
    })
    Object.assign(sending, { res })
    sending.send(file.path, { size } as Stats)
    if (!isReading) resolve()
  })
}
