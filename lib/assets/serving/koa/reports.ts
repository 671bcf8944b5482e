// How a response leaves koaAssets, and what is reported about it.
import type { Context } from 'koa'
import { requestLine, served } from '../../../diagnostics.ts'
import { evaluatePreconditions } from '../../../http/preconditions.ts'
import type { Representation } from '../files/representation.ts'
import type { FilePart } from '../send-file.ts'
import type { PreparedResponse } from '../write-response.ts'

export interface Sender {
  readonly write: (ctx: Context, response: PreparedResponse, body?: Buffer) => true
  /** Resolves when the file need no longer be kept open. */
  readonly stream: (
    ctx: Context,
    response: PreparedResponse,
    part: FilePart
  ) => Promise<void> | true
}

/** The same; if anybody listens, each response of a representation is reported. */
export function reporting(sender: Sender, chosen: Representation): Sender {
  if (!served.hasSubscribers) return sender
  const report = (ctx: Context, status: number, bytes: number) => {
    const { coding } = chosen
    const line = requestLine(ctx.req)
    served.publish({ ...line, status, reason: reasonOf(ctx, status, chosen), coding, bytes })
  }
  return {
    write(ctx, response, body) {
      report(ctx, response.status, body?.length ?? 0)
      return sender.write(ctx, response, body)
    },
    stream(ctx, response, part) {
      const { start, end } = part.range ?? { start: 0, end: part.size - 1 }
      report(ctx, response.status, end + 1 - start)
      return sender.stream(ctx, response, part)
    }
  }
}

/** For the page about a source that cannot be published. */
export function reportErrorPage({ req, response }: Context, { message }: Error): void {
  if (!served.hasSubscribers) return
  const { status, length: bytes } = response
  served.publish({ ...requestLine(req), status, reason: message, coding: 'identity', bytes })
}

function reasonOf({ method, req }: Context, status: number, chosen: Representation): string {
  if (status === 206) return 'Range asks for a part'
  if (status === 416) return 'Range is outside of the file'
  if (status !== 200 && status !== 304 && status !== 412) return 'the route set the status'
  return evaluatePreconditions(method, req.headers, chosen, { ifModifiedSince: 'before' }).reason
}

interface Publication {
  /** In milliseconds. */
  readonly duration: number
  readonly compileDuration?: number | undefined
}

/**
 * Server-Timing (W3C): how long this request has waited for its asset to be published. Browsers show it.
 *
 * @param since the publication of the asset since a moment by `performance.now()`
 */
export function startTiming(since: (start: number) => Publication | undefined) {
  const startedAt = performance.now()
  let isSet = false
  return (ctx: Context): void => {
    const publication = since(startedAt)
    if (!publication || isSet) return
    isSet = true
    const { duration, compileDuration } = publication
    const compile = compileDuration === undefined ? [] : [metric('compile', compileDuration)]
    ctx.append('Server-Timing', [metric('publish', duration), ...compile].join(', '))
  }
}

function metric(name: string, milliseconds: number): string {
  return `${name};dur=${milliseconds.toFixed(1)}`
}
