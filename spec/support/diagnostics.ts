import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { DiagnosticMessages } from '../../lib/runtime/diagnostics.ts'
import type { ExecutionContext } from './test.ts'

/** The messages of a channel, from all sites of this process, from now until the spec is over. */
export function messagesOf<N extends keyof DiagnosticMessages>(t: ExecutionContext, name: N) {
  const messages: DiagnosticMessages[N][] = []
  const listener = (message: unknown) => void messages.push(message as DiagnosticMessages[N])
  subscribe(`koa-fresh-assets:${name}`, listener)
  t.teardown(() => unsubscribe(`koa-fresh-assets:${name}`, listener))
  return messages
}
