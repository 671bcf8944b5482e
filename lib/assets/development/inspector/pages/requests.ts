// The list of the last requests.
import type { LoggedRequest } from '../requests.ts'
import { assetLink, bytes, html, layout, table } from './layout.ts'

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
