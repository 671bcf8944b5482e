// The part of serving that knows Koa: responds with a file.
import type { Readable } from 'node:stream'
import type { Context } from 'koa'
import { requestLine, served } from '../../../diagnostics.ts'
import { policiesWithNonce } from '../../../http/fields.ts'
import { chooseCoding } from '../../../http/negotiation.ts'
import { evaluatePreconditions, chooseRange, type ByteRange } from '../../../http/preconditions.ts'
import { sameStamp } from '../../../files/disk.ts'
import { withFile, type OpenFile } from '../../../files/open-file.ts'
import { connected, isOfConnection, isAwaited, pacedBody } from '../connection.ts'
import { removeContentFields, setFields } from '../response-fields.ts'
import type { ServedFile } from '../files/served-file.ts'
import { privately, type Representation } from '../files/representation.ts'
import { bodyOf, streamFile, type FilePart } from '../stream-file.ts'
import { prepareResponse, writeResponse, type PreparedResponse } from '../write-response.ts'

// A file's If-Modified-Since is evaluated as RFC 9110 section 13.1.3 defines it.
const PRECONDITIONS = { ifModifiedSince: 'before' } as const

/**
 * How a response is sent. With `koa`, by setting the status, the fields and `ctx.body` (a Buffer, a stream, or
 * null for no content), which middleware in front can still change. With `socket`, directly, for a request
 * that no other middleware has seen.
 */
export type Exit = 'koa' | 'socket'

/**
 * Responds with a file.
 * @param opened the file itself, which was described while it was open
 * @param status instead of 200, for the whole file: preconditions and ranges do not apply then
 * @returns false for one that has to be opened, as its bytes are not in memory
 */
export function serve(
  ctx: Context,
  { representations, further }: ServedFile,
  opened?: OpenFile,
  exit: Exit = 'koa',
  status?: number
): boolean | Promise<boolean> {
  // Most files have none.
  const asked = further.length > 0 && further.flatMap(find => find(ctx.req.headers) ?? [])
  if (!asked || asked.length === 0) return respond(ctx, exit, representations, opened, status)
  return Promise.all(asked.map(async each => each)).then(found => {
    const offers = [...representations, ...found.filter(each => each !== undefined)] as const
    return respond(ctx, exit, offers, opened, status)
  })
}

type Offers = ServedFile['representations']

/** What a response has in common, whichever way it is sent. */
interface Answer {
  readonly ctx: Context
  readonly exit: Exit
  /** Why the status is what it is, unless a range was asked for. */
  readonly reason: string
  readonly coding: string
}

const UNCONDITIONAL = { status: undefined, reason: 'the route set the status' }

function respond(
  ctx: Context,
  exit: Exit,
  offers: Offers,
  opened: OpenFile | undefined,
  fixedStatus?: number
): boolean | Promise<boolean> {
  const { headers, method = 'GET' } = ctx.req
  const isChoice = offers.length > 1
  const found = (isChoice && chooseCoding(headers['accept-encoding'], offers)) || offers[0]
  const chosen = isForOneVisitor(ctx, found) ? privately(found) : found
  const { size, ok, body } = chosen
  const isFixed = fixedStatus !== undefined
  const { status, reason } = isFixed
    ? UNCONDITIONAL
    : evaluatePreconditions(method, headers, chosen, PRECONDITIONS)
  const answer = { ctx, exit, reason, coding: chosen.coding }
  if (status === 304) return write(answer, chosen.notModified)
  if (status === 412) return write(answer, chosen.failed)
  const isWhole = isFixed || headers.range === undefined
  const range = isWhole ? 'whole' : chooseRange(method, headers, chosen, size)
  if (range === 'unsatisfiable') return write(answer, rangeNotSatisfiable(chosen))
  const whole = isFixed ? prepareResponse(fixedStatus, ok.fields, ok.said) : ok
  const [response, part] = range === 'whole' ? [whole] : [partial(chosen, range), range]
  if (method === 'HEAD') return write(answer, response)
  if (body) {
    return write(answer, response, part ? body.subarray(part.start, part.end + 1) : body)
  }
  // Without a connection nobody receives it, but loggers in front read it.
  if (!opened) return connected(ctx.res).then(is => !is && write(answer, response))
  const use = (file: OpenFile) =>
    sameStamp(file.stats, chosen.stamp) && stream(answer, response, { file, size, range: part })
  if (opened.path === chosen.file) return use(opened)
  const instead = () => respond(ctx, exit, [offers[0]], opened, fixedStatus)
  // A compressed copy may be gone by now.
  return withFile(chosen.file, use).then(isSent => isSent || instead())
}

/** Streams one open file, so bytes of another that takes its name are not mixed in. */
async function stream(
  answer: Answer,
  response: PreparedResponse,
  part: FilePart
): Promise<boolean> {
  const { ctx, exit } = answer
  if (!isAwaited(ctx.res)) return write(answer, response)
  const { size, range } = part
  report(answer, response.status, range ? range.end + 1 - range.start : size)
  if (exit === 'koa') return give(ctx, response, bodyOf(ctx.res, part))
  bypassKoa(ctx)
  await streamFile(ctx.res, response, part)
  return true
}

/** A guard may have decided by it; and a shared cache would give a cookie, or the nonce of a page, to others. */
function isForOneVisitor({ req, res }: Context, { shared }: Representation): boolean {
  if (req.headers.authorization !== undefined || res.hasHeader('Set-Cookie')) return true
  return (
    shared.type.startsWith('text/html') && policiesWithNonce(name => res.getHeader(name)).length > 0
  )
}

/**
 * Finds a file and responds with it. One that is not in memory is opened once the response has its
 * connection, as thousands of pipelined ones may wait for one, and described as it is then.
 * @returns false when there is no such file
 */
export async function serveFound(
  { res }: Pick<Context, 'res'>,
  find: () => Promise<ServedFile | undefined> | ServedFile | undefined,
  respondWith: (file: ServedFile, opened?: OpenFile) => boolean | Promise<boolean>
): Promise<boolean> {
  // From here on it is one of those that wait.
  void connected(res)
  for (let attempt = 1; attempt <= 2; attempt++) {
    const file = await find()
    if (!file) return false
    if ((await respondWith(file)) || (await file.open(respondWith))) return true
  }
  return false
}

function rangeNotSatisfiable({ size, failed }: Representation): PreparedResponse {
  const range = ['Content-Range', `bytes */${size}`] as const
  return prepareResponse(416, [range, ...failed.fields], failed.said)
}

function partial({ ok, size }: Representation, { start, end }: ByteRange): PreparedResponse {
  const range = ['Content-Range', `bytes ${start}-${end}/${size}`] as const
  const length = ['Content-Length', String(end - start + 1)] as const
  return prepareResponse(206, [...ok.fields.slice(0, -1), range, length], ok.said)
}

function write(answer: Answer, response: PreparedResponse, body?: Buffer): true {
  const { ctx, exit } = answer
  report(answer, response.status, body?.length ?? 0)
  if (exit === 'koa') return give(ctx, response, body)
  bypassKoa(ctx)
  // Another listener of the server may have responded meanwhile.
  if (!ctx.res.headersSent) writeResponse(ctx.res, response, body)
  return true
}

const REASONS: Readonly<Record<number, string>> = {
  206: 'Range asks for a part',
  416: 'Range is outside of the file'
}

function report({ ctx, coding, reason }: Answer, status: number, bytes: number): void {
  if (!served.hasSubscribers) return
  const why = REASONS[status] ?? reason
  served.publish({ ...requestLine(ctx.req), status, reason: why, coding, bytes })
}

function give(ctx: Context, prepared: PreparedResponse, body?: Buffer | Readable): true {
  const { res, response } = ctx
  suppressDisconnects(ctx)
  // A timeout in front may have responded meanwhile.
  if (res.headersSent) return true
  removeContentFields(res)
  // Koa removes fields together with an earlier body, and makes a response without one a 204.
  if (!body || response.body != null) response.body = null
  response.status = prepared.status
  setFields(res, prepared)
  if (body) response.body = Buffer.isBuffer(body) ? pacedBody(res, body) : body
  return true
}

/** From here on Koa leaves the response to us. */
function bypassKoa(ctx: Context): void {
  ctx.respond = false
  suppressDisconnects(ctx)
}

/** A client that disconnects is not an error of the application. */
export function suppressDisconnects(ctx: Context): void {
  // Always the same function: one that is made for the request may keep the request in memory.
  if (!Object.hasOwn(ctx, 'onerror')) ctx.onerror = handleError
}

/** For a request that goes on to the rest of the stack. */
export function reportDisconnects(ctx: Context): void {
  if (ctx.onerror === handleError) Reflect.deleteProperty(ctx, 'onerror')
}

function handleError(this: Context, error: Error | null): void {
  // Koa reports the end of every response, with null where nothing failed.
  if (error && isOfConnection(this.res, error)) return
  this.app.context.onerror.call(this, error as Error)
}
