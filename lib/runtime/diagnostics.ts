// Publishes messages about the work of this package on channels of node:diagnostics_channel, if anybody listens.
import { channel } from 'node:diagnostics_channel'

/** The message of each channel, by the channel's name without `koa-fresh-assets:`. Durations are in milliseconds. */
export interface DiagnosticMessages {
  /** A compiler was run, by a request or by `precompile`. */
  readonly compiled: {
    /** The absolute path of the source. */
    readonly source: string
    readonly duration: number
    /** The value that the compiler threw. */
    readonly error?: unknown
  }
  /** The target of an asset was updated on request; its bytes may be the same as before. */
  readonly published: {
    /** The plain URL path, decoded: `/assets/app.css`. */
    readonly path: string
    /** The absolute path of the source. */
    readonly source: string
    /** The time from reading the source until the target was written; for assets built together, that of the build. */
    readonly duration: number
    /** The part of it that the compiler took. */
    readonly compileDuration?: number | undefined
  }
  /** `koaAssets` or `ctx.sendFile` responded with a file, or in development with an error page. */
  readonly served: RequestLine & {
    readonly status: number
    readonly reason: string
    /** The content coding, or `identity`. */
    readonly coding: string
    /** The number of bytes of the content, provided that the client receives all of it. */
    readonly bytes: number
  }
  /** A path under the prefix or in a mount ended in a 404. */
  readonly missed: RequestLine
  /** The preconditions of a request determined its response inside `koaHttpCache`. */
  readonly halted: RequestLine & {
    readonly status: 304 | 412
    readonly reason: string
  }
}

interface RequestLine {
  readonly method: string
  /** The path as it was sent, without the query, which may contain secrets. */
  readonly path: string
}

interface Outlet<T> {
  /** The engine sees a constant `false` as long as nobody has subscribed. */
  readonly hasSubscribers: boolean
  publish(message: T): void
}

function outlet<N extends keyof DiagnosticMessages>(name: N): Outlet<DiagnosticMessages[N]> {
  return channel(`koa-fresh-assets:${name}`)
}

export const compiled = outlet('compiled')
export const published = outlet('published')
export const served = outlet('served')
export const missed = outlet('missed')
export const halted = outlet('halted')

export function requestLine(request: { method?: string | undefined; url?: string | undefined }) {
  const { method = '', url = '' } = request
  return { method, path: url.replace(/\?.*/s, '') }
}
