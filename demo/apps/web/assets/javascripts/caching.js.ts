/** Sends the requests of the caching page and shows each exchange in the table. */
export {}

interface Exchange {
  ok: boolean
  status: number
  headers: Headers
  text: string
}

const cachingHeaders = ['Cache-Control', 'Expires', 'ETag', 'Last-Modified', 'X-Visitor']
const rowsKept = 40

const log = find('#log')
const hint = find('#hint')
const template = find<HTMLTemplateElement>('#exchange')

find('#clear').addEventListener('click', () => log.replaceChildren())

for (const card of document.querySelectorAll<HTMLElement>('[data-path]')) setUpCard(card)
for (const form of document.querySelectorAll<HTMLFormElement>('[data-editor]')) setUpEditor(form)

/** The conditional buttons of a card send the validators of its last response. */
function setUpCard(card: HTMLElement): void {
  const validators: Record<string, string | null> = {}

  for (const button of card.querySelectorAll<HTMLButtonElement>('[data-send]')) {
    button.addEventListener('click', async () => {
      const { send = 'GET', suffix = '', condition } = button.dataset
      const validator = condition && validators[condition]
      const headers = condition && validator ? { [condition]: validator } : {}
      const response = await exchange(send, `${card.dataset.path}${suffix}`, headers)
      if (send !== 'GET') return

      validators['If-None-Match'] = response.headers.get('etag')
      validators['If-Modified-Since'] = response.headers.get('last-modified')
      for (const other of card.querySelectorAll<HTMLButtonElement>('[data-condition]')) {
        other.disabled = !validators[other.dataset.condition ?? '']
      }
    })
  }
}

/** An editor keeps the ETag of the note it loaded, and overwrites only that version. */
function setUpEditor(form: HTMLFormElement): void {
  const text = find<HTMLTextAreaElement>('textarea', form)
  const save = find<HTMLButtonElement>('button:not([data-load])', form)
  const output = find<HTMLOutputElement>('output', form)
  let loaded: string | null = null

  find('[data-load]', form).addEventListener('click', async () => {
    const response = await exchange('GET', '/caching/note')
    loaded = response.headers.get('etag')
    text.value = response.text
    save.disabled = false
    output.value = ''
  })

  form.addEventListener('submit', async event => {
    event.preventDefault()
    const headers = { 'If-Match': loaded ?? '' }
    const response = await exchange('PUT', '/caching/note', headers, text.value)
    if (response.ok) loaded = response.headers.get('etag')
    output.value = outcome(response.status)
    form.classList.toggle('lost', response.status === 412)
  })
}

function outcome(status: number): string {
  if (status === 200) return 'Saved.'
  if (status === 412) return 'Someone else saved first. Load the note again.'
  return `Not saved (${status}).`
}

async function exchange(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body: string | null = null
): Promise<Exchange> {
  const start = performance.now()
  // no-store bypasses the browser's cache, so the table shows the server's responses.
  const response = await fetch(path, { method, headers, body, cache: 'no-store' })
  const text = await response.text()
  const row = template.content.cloneNode(true) as DocumentFragment
  const sent = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const work = response.headers.get('x-work') ?? 'not reached'

  write(row, 'request', `${method} ${path}`)
  write(row, 'sent', sent.join('\n'))
  write(row, 'status', `${response.status}`).dataset.status = `${response.status}`
  write(row, 'headers', linesOf(response.headers))
  // In development koaHttpCache gives the reason for a response in X-Http-Cache.
  write(row, 'why', response.headers.get('x-http-cache')?.replace(/^\d+: /, '') ?? '')
  write(row, 'work', work).dataset.work = work.split(',')[0]
  write(row, 'time', `${Math.round(performance.now() - start)} ms`)

  log.prepend(row)
  while (log.children.length > rowsKept) log.lastElementChild?.remove()
  hint.hidden = true
  return { ok: response.ok, status: response.status, headers: response.headers, text }
}

function linesOf(headers: Headers): string {
  const present = cachingHeaders.filter(name => headers.has(name))
  return present.map(name => `${name}: ${headers.get(name)}`).join('\n') || 'none'
}

function write(row: ParentNode, cell: string, text: string): HTMLElement {
  const found = find(`[data-cell=${cell}]`, row)
  found.textContent = text
  return found
}

function find<E extends HTMLElement = HTMLElement>(
  selector: string,
  within: ParentNode = document
): E {
  const found = within.querySelector<E>(selector)
  if (!found) throw new Error(`${selector} was not found on the page`)
  return found
}
