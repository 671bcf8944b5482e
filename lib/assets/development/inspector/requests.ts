// The latest requests since the inspector was first opened, and their page.
import { subscribe } from 'node:diagnostics_channel'
import { sep } from 'node:path'
import type { DiagnosticMessages } from '../../../diagnostics.ts'
import { assetLink, bytes, html, layout, table } from './layout.ts'

/** A message, and when it came, in ISO 8601; without bytes and coding where the route decides. */
export type LoggedRequest = { readonly at: string } & Omit<Message, 'bytes' | 'coding'> &
  Partial<Pick<Message, 'bytes' | 'coding'>>

type Message = DiagnosticMessages['served']

const MAX_REQUESTS = 100

/**
 * Listens from now on, to all instances of this process.
 * @param own the URL path below which requests are those of the inspector
 * @param root to which the paths in reasons are made relative
 * @returns the requests, the latest first
 */
export function logRequests(own: string, root: string): () => readonly LoggedRequest[] {
  const requests: LoggedRequest[] = []
  const log = (given: unknown) => {
    // What was missed has neither status nor reason.
    const message = Object.assign({ status: 404, reason: 'nothing responded' }, given as Message)
    if (message.path.startsWith(own)) return
    const reason = message.reason.replaceAll(`${root}${sep}`, '')
    requests.unshift({ ...message, at: new Date().toISOString(), reason })
    requests.splice(MAX_REQUESTS)
  }
  for (const name of ['served', 'missed', 'halted']) subscribe(`koa-fresh-assets:${name}`, log)
  return () => requests
}

const COLUMNS = ['Request', 'Status', 'Content', 'Reason', 'Time (UTC)']
const CAPTION = html`<caption class="hidden">
  Requests, the latest first
</caption>`

export function requestsPage(requests: readonly LoggedRequest[]): string {
  const rows = requests.map(({ at, method, path, status, reason, bytes: size, coding }) => [
    html`${method} ${assetLink(path)}`,
    html`<span class="state s${Math.floor(status / 100)}">${status}</span>`,
    size !== undefined && `${bytes(size)} ${coding === 'identity' ? '' : (coding ?? '')}`,
    reason,
    html`<time datetime="${at}">${at.slice(11, 19)}</time>`
  ])
  return layout(
    'Requests',
    'requests',
    html`<h1>Requests</h1>
      <p class="note">
        The last 100 for files, misses under the prefix, and routes that ctx.fresh halted, since the
        inspector was first opened. <a href="requests?json">JSON</a>
      </p>
      ${
        rows.length === 0
          ? html`<p role="status">None yet: open a page of the site, then reload this one.</p>`
          : table('list', CAPTION, COLUMNS, rows)
      } `
  )
}
