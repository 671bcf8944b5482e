// The pages of the mounts, as they are on disk now, and of the latest requests.
import { subscribe } from 'node:diagnostics_channel'
import { sep } from 'node:path'
import type { DiagnosticMessages } from '../../../diagnostics.ts'
import type { ListedMount, MountedFile } from '../../inspecting/list-mounts.ts'
import { assetLink, bytes, html, layout, list, sizeList, table, type Html } from './html.ts'

export function mountsPage({ mounts }: { readonly mounts: readonly ListedMount[] }): string {
  const intro = html`<p class="note">Directories that something else fills.</p>`
  const none = mounts.length === 0 && html`<p role="status">There are none.</p>`
  return layout('Mounts', 'mounts?json', [intro, none, mounts.map(section)])
}

function section({ mount, directory, manifest, problem, files }: ListedMount): Html {
  const isMissing = ({ sizes }: MountedFile) => sizes['identity'] === undefined
  const missing = files.filter(isMissing)
  const rows = [...missing, ...files.filter(file => !isMissing(file))].map(file => ({
    File: html`${assetLink(file.path)} <span class="note">${file.source}</span>`,
    Size: isMissing(file) ? html`<span class="state broken">missing</span>` : sizeList(file.sizes),
    'In the tags of': list(file.entries),
    'Also used by': list(file.usedBy)
  }))
  const lost = missing.length > 0 && `${missing.length} of ${files.length} files are missing`
  return html`<h2>${mount}</h2>
    <p class="note">${directory}${manifest !== undefined && ` · ${manifest}`}</p>
    ${[problem, lost].map(text => text && html`<p class="problem">${text}</p>`)}
    ${table(`Files of ${mount}, those that are missing first`, rows)}`
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
    requests.unshift({ ...message, at: new Date().toISOString(), reason })
    requests.splice(MAX_REQUESTS)
  }
  for (const name of ['served', 'missed', 'halted']) subscribe(`koa-fresh-assets:${name}`, log)
  return requests
}

export function requestsPage(requests: readonly LoggedRequest[]): string {
  const rows = requests.map(({ at, method, path, status, reason, bytes: size, coding = '' }) => ({
    Request: html`${method} ${assetLink(path)}`,
    Status: html`<span class="state s${Math.floor(status / 100)}">${status}</span>`,
    Content: size !== undefined && `${bytes(size)} ${coding === 'identity' ? '' : coding}`,
    Reason: reason,
    'Time (UTC)': html`<time datetime="${at}">${at.slice(11, 19)}</time>`
  }))
  const none = html`<p role="status">None yet: open a page of the site, then reload this one.</p>`
  return layout(
    'Requests',
    'requests?json',
    html`<p class="note">
        The last 100 for files, misses under the prefix, and routes that ctx.fresh halted, since the
        inspector or the live channel was first used.
      </p>
      ${table('The latest first', rows) || none}`
  )
}
