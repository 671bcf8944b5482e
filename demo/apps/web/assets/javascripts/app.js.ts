/** Fills in the table of assets: sends a HEAD request for each and shows the response. */
export {}

const ago = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1]
] as const

for (const row of document.querySelectorAll<HTMLElement>('[data-asset]')) void showResponse(row)

async function showResponse(row: HTMLElement): Promise<void> {
  const response = await fetch(row.dataset.asset ?? '', { method: 'HEAD' })
  // The body is empty, but unread it would count as an aborted request.
  await response.text()

  const { ok, status, headers } = response
  const type = headers.get('content-type')?.split(';')[0] ?? 'no type'
  const size = Number(headers.get('content-length')).toLocaleString('en')
  write(row, 'response', ok ? `${status} ${type}, ${size} bytes` : `${status}`)
  row.classList.toggle('failed', !ok)

  const modified = Date.parse(headers.get('last-modified') ?? '')
  if (Number.isNaN(modified)) return
  const seconds = Math.max(0, Math.round((Date.now() - modified) / 1000))
  write(row, 'edited', since(seconds))
  row.classList.toggle('just-edited', seconds < 60)
}

function since(seconds: number): string {
  const [unit, length] = units.find(([, length]) => seconds >= length) ?? ['second', 1]
  return ago.format(-Math.floor(seconds / length), unit)
}

function write(row: HTMLElement, cell: string, text: string): void {
  const found = row.querySelector(`[data-cell=${cell}]`)
  if (found) found.textContent = text
}
