// The last requests, from the moment on at which the inspector was first opened.
import { subscribe } from 'node:diagnostics_channel'
import { sep } from 'node:path'
import type { DiagnosticMessages } from '../../../diagnostics.ts'

export interface LoggedRequest {
  /** ISO 8601. */
  readonly at: string
  readonly method: string
  /** As it was sent, without the query. */
  readonly path: string
  readonly status: number
  readonly reason: string
  /** Of the content; undefined where the route decides. */
  readonly bytes: number | undefined
  readonly coding: string | undefined
}

const MAX_REQUESTS = 100

/**
 * Listens from now on, to all instances of this process.
 * @param own the URL path below which requests are those of the inspector
 * @param root to which the paths in reasons are made relative
 * @returns the requests, the latest first
 */
export function logRequests(own: string, root: string): () => readonly LoggedRequest[] {
  const requests: LoggedRequest[] = []
  const listen = <N extends 'served' | 'missed' | 'halted'>(
    name: N,
    describe: (message: DiagnosticMessages[N]) => Omit<LoggedRequest, 'at' | 'method' | 'path'>
  ) => {
    subscribe(`koa-fresh-assets:${name}`, given => {
      const message = given as DiagnosticMessages[N]
      const { method, path } = message
      if (path.startsWith(own)) return
      requests.unshift({ at: new Date().toISOString(), method, path, ...describe(message) })
      requests.splice(MAX_REQUESTS)
    })
  }
  listen('served', ({ status, reason, bytes, coding }) => {
    return { status, reason: reason.replaceAll(`${root}${sep}`, ''), bytes, coding }
  })
  const undecided = { bytes: undefined, coding: undefined }
  listen('missed', () => ({ status: 404, reason: 'nothing responded', ...undecided }))
  listen('halted', ({ status, reason }) => ({ status, reason, ...undecided }))
  return () => requests
}
