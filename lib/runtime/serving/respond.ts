// Responds with a file: decides what a request gets, then sends it from memory or from the disk.
import type { Readable } from 'node:stream'
import type { Context } from 'koa'
import { requestLine, served } from '../diagnostics.ts'
import { forbidStoring } from '../http/cache-control.ts'
import { policiesWithNonce } from '../http/fields.ts'
import { chooseCoding } from '../http/requests.ts'
import { evaluatePreconditions, chooseRange, type ByteRange } from '../http/preconditions.ts'
import { sameStamp } from '../files/disk.ts'
import { withFile, type OpenFile } from '../files/open-file.ts'
import { connected, isAwaited, pacedBody, isOfConnection, bodyOf, type FilePart } from './stream.ts'
import { prepareResponse, removeContentFields, setFields, type PreparedResponse } from './fields.ts'
import type { ServedFile, Variants } from './file.ts'
import type { Variant } from './variant.ts'

/** A response is sent by one of two exits: through Koa, or to the socket. */
export interface Exit {
  write(ctx: Context, response: PreparedResponse, body: Buffer | undefined): void
  /** Resolves when the file is no longer read, or returns at once if it is kept open until then. */
  stream(ctx: Context, response: PreparedResponse, part: FilePart): Promise<void> | void
  /** Lets no cache store the 404 of a request to which nothing has responded. */
  notFound(ctx: Context): void
}

/** Sets the status, the fields and `ctx.body`, null for no content, which middleware in front can still change. */
export const toKoa: Exit = {
  write: giveToKoa,
  stream: (ctx, response, part) => giveToKoa(ctx, response, bodyOf(ctx.res, part)),
  notFound: ({ res }) => forbidStoring(res)
}

/** Responds with a file that is in memory; false for any other file, and if a delta may be sent instead. */
export function respondAtOnce(ctx: Context, { variants, deltaFor }: ServedFile, exit: Exit) {
  if (deltaFor?.(ctx.req.headers)) return false
  const answer = decide(ctx, variants)
  return answer.body !== 'on disk' && write(ctx, exit, answer, answer.body)
}

interface How {
  readonly exit?: Exit
  /** Instead of 200, for the whole file: preconditions and ranges do not apply then. */
  readonly status?: number | undefined
  /** Called with the variants of the file that was found, and again with those of the file once it is open. */
  readonly adapt?: (variants: Variants) => Variants
}

// A file on disk is opened once the response has its connection: thousands of pipelined ones may wait for one.
export async function respondWithFile(
  ctx: Context,
  find: () => Promise<ServedFile | undefined> | ServedFile | undefined,
  { exit = toKoa, status, adapt }: How = {}
): Promise<boolean> {
  // The response now counts as waiting.
  void connected(ctx.res)
  for (let attempt = 1; attempt <= 2; attempt++) {
    const file = await find()
    if (!file) return false
    const answer = decide(ctx, await offersOf(ctx, file, adapt), status)
    if (answer.body !== 'on disk') return write(ctx, exit, answer, answer.body)
    // Without a connection nobody receives the response, but loggers in front read it.
    if (!(await connected(ctx.res))) return write(ctx, exit, answer)
    const isSent = await file.open(async (current, opened) =>
      sendOpened(ctx, exit, opened, await offersOf(ctx, current, adapt), status)
    )
    if (isSent) return true
  }
  return false
}

/** Returns the variants of a file, and the delta that may be sent instead. */
function offersOf(
  ctx: Context,
  { variants, deltaFor }: ServedFile,
  adapt: How['adapt']
): Promise<Variants> | Variants {
  const offers = adapt ? adapt(variants) : variants
  const load = deltaFor?.(ctx.req.headers)
  return load ? load().then(delta => (delta ? [...offers, delta] : offers)) : offers
}

/** @returns false if the file was replaced meanwhile */
async function sendOpened(
  ctx: Context,
  exit: Exit,
  opened: OpenFile,
  offers: Variants,
  status: number | undefined
): Promise<boolean> {
  const answer = decide(ctx, offers, status)
  if (answer.body !== 'on disk') return write(ctx, exit, answer, answer.body)
  const { file } = answer.chosen
  if (file === opened.path) return stream(ctx, exit, answer, opened)
  // A compressed copy may be gone by now.
  const isSent = await withFile(file, copy => stream(ctx, exit, answer, copy))
  return isSent || sendOpened(ctx, exit, opened, [offers[0]], status)
}

interface Answer {
  readonly chosen: Variant
  readonly response: PreparedResponse
  readonly reason: string
  readonly range?: ByteRange
  /** The content; undefined for a response without any. */
  readonly body?: Buffer | 'on disk' | undefined
}

// The If-Modified-Since of files is evaluated as RFC 9110 section 13.1.3 defines it.
const PRECONDITIONS = { ifModifiedSince: 'before' } as const

/** Decides by RFC 9110: a representation (section 12), preconditions (section 13), a range (section 14). */
function decide(ctx: Context, offers: Variants, fixedStatus?: number): Answer {
  const { headers, method = 'GET' } = ctx.req
  const found = (offers.length > 1 && chooseCoding(headers['accept-encoding'], offers)) || offers[0]
  const typed = found.shared.keepsType ? withTypeInFront(ctx, found) : found
  const readable = headers.origin === undefined ? typed : typed.forOrigin(headers.origin)
  const chosen = isForOneVisitor(ctx, readable) ? readable.privately() : readable
  const body = method === 'HEAD' ? undefined : (chosen.body ?? 'on disk')
  if (fixedStatus !== undefined) {
    const { fields, said } = chosen.ok
    const response = prepareResponse(fixedStatus, fields, said)
    return { chosen, response, reason: 'the route set the status', body }
  }
  const { status, reason } = evaluatePreconditions(method, headers, chosen, PRECONDITIONS)
  if (status === 304) return { chosen, response: chosen.notModified, reason }
  if (status === 412) return { chosen, response: chosen.failed, reason }
  const range = chooseRange(method, headers, chosen, chosen.size)
  if (range === 'whole') return { chosen, response: chosen.ok, reason, body }
  if (range === 'unsatisfiable') {
    const { fields, said } = chosen.failed
    const size = ['Content-Range', `bytes */${chosen.size}`] as const
    const response = prepareResponse(416, [size, ...fields], said)
    return { chosen, response, reason: 'Range is outside of the file' }
  }
  const part = chosen.body?.subarray(range.start, range.end + 1) ?? 'on disk'
  const response = partial(chosen, range)
  return { chosen, response, reason: 'Range asks for a part', range, body: part }
}

/** Keeps a type that was set in front, but not with an earlier body, whose type Koa sets by itself. */
function withTypeInFront({ res, response }: Context, variant: Variant): Variant {
  const type = response.body == null ? res.getHeader('Content-Type') : undefined
  return type === undefined ? variant : variant.with({ type: String(type) })
}

/** A guard may check Authorization, and a shared cache would give a cookie, or the nonce of a page, to others. */
function isForOneVisitor({ req, res }: Context, { shared }: Variant): boolean {
  if (req.headers.authorization !== undefined || res.hasHeader('Set-Cookie')) return true
  return shared.type.startsWith('text/html') && policiesWithNonce(res).length > 0
}

function partial({ ok, size }: Variant, { start, end }: ByteRange): PreparedResponse {
  const range = ['Content-Range', `bytes ${start}-${end}/${size}`] as const
  const length = ['Content-Length', String(end - start + 1)] as const
  // Content-Digest would be that of the range; Repr-Digest is that of the file (RFC 9530 sections 2 and 3).
  const lasting = ok.fields.slice(0, -1).filter(([name]) => !/^content-digest$/i.test(name))
  return prepareResponse(206, [...lasting, range, length], ok.said)
}

function write(ctx: Context, exit: Exit, answer: Answer, body?: Buffer): true {
  report(ctx, answer, body?.length ?? 0)
  suppressDisconnects(ctx)
  exit.write(ctx, answer.response, body)
  return true
}

/** Streams one open file, so that bytes of another file with its name are not mixed in. */
async function stream(ctx: Context, exit: Exit, answer: Answer, file: OpenFile): Promise<boolean> {
  const { chosen, response, range } = answer
  const { size, stamp } = chosen
  if (!sameStamp(file.stats, stamp)) return false
  if (!isAwaited(ctx.res)) return write(ctx, exit, answer)
  report(ctx, answer, range ? range.end + 1 - range.start : size)
  suppressDisconnects(ctx)
  await exit.stream(ctx, response, { file, size, range })
  return true
}

function giveToKoa(ctx: Context, prepared: PreparedResponse, body?: Buffer | Readable): void {
  const { res, response } = ctx
  // A timeout in front may have responded meanwhile.
  if (res.headersSent) return
  removeContentFields(res)
  // Koa removes fields together with an earlier body, and makes a response without one a 204.
  if (!body || response.body != null) response.body = null
  response.status = prepared.status
  setFields(res, prepared)
  if (body) response.body = Buffer.isBuffer(body) ? pacedBody(res, body) : body
}

function report({ req }: Context, { chosen, response, reason }: Answer, bytes: number): void {
  if (!served.hasSubscribers) return
  const { status } = response
  served.publish({ ...requestLine(req), status, reason, coding: chosen.coding, bytes })
}

/** Keeps Koa from reporting that a client disconnects from a response with a file. */
export function suppressDisconnects(ctx: Context): void {
  // Always the same function: one that is made for the request may keep the request in memory.
  if (!Object.hasOwn(ctx, 'onerror')) ctx.onerror = handleError
}

/** Lets Koa report disconnects again, for a request that goes on to the rest of the stack. */
export function reportDisconnects(ctx: Context): void {
  if (ctx.onerror === handleError) Reflect.deleteProperty(ctx, 'onerror')
}

function handleError(this: Context, error: Error | null): void {
  // Koa reports the end of every response, with null where nothing failed.
  if (error && isOfConnection(this.res, error)) return
  this.app.context.onerror.call(this, error as Error)
}
