/** Fills in the table of assets: asks for the head of each and writes down the answer. */
export {}

const ago = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1]
] as const

for (const row of document.querySelectorAll<HTMLElement>('[data-asset]')) void describe(row)

async function describe(row: HTMLElement): Promise<void> {
  const answer = await fetch(row.dataset.asset ?? '', { method: 'HEAD' })
  // Empty, yet unread it would count as an aborted request.
  await answer.text()

  const { ok, status, headers } = answer
  const type = headers.get('content-type')?.split(';')[0] ?? 'no type'
  const size = Number(headers.get('content-length')).toLocaleString('en')
  write(row, 'answer', ok ? `${status} ${type}, ${size} bytes` : `${status}`)
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
  const target = row.querySelector(`[data-cell=${cell}]`)
  if (target) target.textContent = text
}
