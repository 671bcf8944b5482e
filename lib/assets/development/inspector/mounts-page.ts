// The mounts, and the files of their bundles as they are on disk now.
import type { ListedMount, MountedFile } from '../../inspecting/list-mounts.ts'
import { assetLink, bytes, html, layout, list, table, type Html, type Value } from './layout.ts'

const COLUMNS = ['File', 'Size', 'In the tags of', 'Also used by']

export function mountsPage({ mounts }: { readonly mounts: readonly ListedMount[] }): string {
  return layout(
    'Mounts',
    'mounts',
    html`<h1>Mounts</h1>
      <p class="note">Directories that something else fills. <a href="mounts?json">JSON</a></p>
      ${mounts.length === 0 && html`<p role="status">There are none.</p>`} ${mounts.map(section)} `
  )
}

function section({ mount, directory, manifest, problem, files }: ListedMount): Html {
  const missing = files.filter(isMissing).length
  const caption = html`<caption class="hidden">
    Files of ${mount}, those that are missing first
  </caption>`
  const rows = files.toSorted((a, b) => Number(isMissing(b)) - Number(isMissing(a))).map(cells)
  return html`<h2 class="path">${mount}</h2>
    <p class="note">${directory}${manifest !== undefined && ` · ${manifest}`}</p>
    ${problem !== undefined && html`<p class="problem">${problem}</p>`}
    ${missing > 0 && html`<p class="problem">${missing} of ${files.length} files are missing</p>`}
    ${rows.length > 0 && table('list', caption, COLUMNS, rows)}`
}

function isMissing({ sizes }: MountedFile): boolean {
  return sizes['identity'] === undefined
}

function cells(file: MountedFile): Value[] {
  const { path, source, entries, usedBy } = file
  const sizes = Object.entries(file.sizes).map(
    ([coding, size]) =>
      html`<span class="size">${coding !== 'identity' && `${coding} `}${bytes(size)}</span>`
  )
  return [
    html`${assetLink(path)} ${source !== undefined && html`<span class="source">${source}</span>`}`,
    isMissing(file) ? html`<span class="state broken">missing</span>` : sizes,
    list(entries),
    list(usedBy)
  ]
}
