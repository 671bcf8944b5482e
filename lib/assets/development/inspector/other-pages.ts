// The pages of the mounts, as they are on disk now, and of the latest requests.
import { subscribe } from 'node:diagnostics_channel'
import { sep } from 'node:path'
import type { DiagnosticMessages } from '../../../diagnostics.ts'
import type { ListedMount } from '../../inspecting/list-mounts.ts'
import { facts, html, layout, table, type Html } from './html.ts'

export function mountsPage({ mounts }: { readonly mounts: readonly ListedMount[] }): string {
  const intro = html`<p class="note">Directories that something else fills.</p>`
  const none = mounts.length === 0 && html`<p role="status">There are none.</p>`
  return layout('Mounts', 'mounts?json', [intro, none, mounts.map(section)])
}

function section({ mount, files, ...about }: ListedMount): Html {
  const rows = files.map(file => ({ ...file, state: 'identity' in file.sizes ? '' : 'missing' }))
  const missing = rows.filter(({ state }) => state)
  const lost = missing.length > 0 && `${missing.length} of ${files.length} files are missing`
  const all = [...missing, ...rows.filter(({ state }) => !state)]
  return html`<h2>${mount}</h2>
    ${facts(about)} ${lost && html`<p class="problem">${lost}</p>`}
    ${table(`Files of ${mount}, those that are missing first`, all)}`
}

type Message = DiagnosticMessages['served']

/** A message, and when it came, in ISO 8601; without bytes and coding where the route decides. */
export type LoggedRequest = { readonly at: string } & Omit<Message, 'bytes' | 'coding'> &
  Partial<Pick<Message, 'bytes' | 'coding'>>

const MAX_REQUESTS = 100

/**
 * Listens from now on, to all instances of this process.
 * @param own the URL path below which requests are those of the inspector
 * @param root to which the paths in reasons are made relative
 * @returns the requests, the latest first
 */
export function logRequests(own: string, root: string): readonly LoggedRequest[] {
  const requests: LoggedRequest[] = []
  const log = (given: unknown) => {
    // What was missed has neither status nor reason.
    const message = Object.assign({ status: 404, reason: 'nothing responded' }, given as Message)
    if (message.path.startsWith(own)) return
    const reason = message.reason.replaceAll(`${root}${sep}`, '')
    const { method, path, status, bytes, coding } = message
    requests.unshift({ method, path, status, reason, bytes, coding, at: new Date().toISOString() })
    requests.splice(MAX_REQUESTS)
  }
  for (const name of ['served', 'missed', 'halted']) subscribe(`koa-fresh-assets:${name}`, log)
  return requests
}

export function requestsPage(requests: readonly LoggedRequest[]): string {
  const none = html`<p role="status">None yet: open a page of the site, then reload this one.</p>`
  return layout(
    'Requests',
    'requests?json',
    html`<p class="note">
        The last 100 for files, misses under the prefix, and routes that ctx.fresh halted, since the
        inspector or the live channel was first used.
      </p>
      ${table('The latest first', requests) || none}`
  )
}
