// The list of the last requests.
import type { LoggedRequest } from '../requests.ts'
import { html } from './html.ts'
import { assetLink, bytes, layout } from './layout.ts'

export function requestsPage(requests: readonly LoggedRequest[]): string {
  return layout(
    'Requests',
    'requests',
    html`<h1>Requests</h1>
      <p class="note">
        The last 100 for files, misses under the prefix, and routes that ctx.fresh halted, since the
        inspector was first opened. <a href="requests?json">JSON</a>
      </p>
      ${
        requests.length === 0
          ? html`<p role="status">None yet: open a page of the site, then reload this one.</p>`
          : html`<table class="list">
              <caption class="hidden">
                Requests, the latest first
              </caption>
              <thead>
                <tr>
                  <th scope="col">Request</th>
                  <th scope="col">Status</th>
                  <th scope="col">Content</th>
                  <th scope="col">Reason</th>
                  <th scope="col">Time (UTC)</th>
                </tr>
              </thead>
              <tbody>
                ${requests.map(
                  ({ at, method, path, status, reason, bytes: size, coding }) =>
                    html`<tr>
                      <td data-label="Request">${method} ${assetLink(path)}</td>
                      <td data-label="Status">
                        <span class="state s${Math.floor(status / 100)}">${status}</span>
                      </td>
                      <td data-label="Content" ${size === undefined && html` class="none"`}>
                        ${size !== undefined && bytes(size)}${coding !== undefined && coding !== 'identity' && ` ${coding}`}
                      </td>
                      <td data-label="Reason">${reason}</td>
                      <td data-label="Time (UTC)">
                        <time datetime="${at}">${at.slice(11, 19)}</time>
                      </td>
                    </tr> `
                )}
              </tbody>
            </table>`
      } `
  )
}
