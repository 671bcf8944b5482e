/** Sends the requests of the caching page and writes each exchange into the table. */
export {}

interface Answer {
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

for (const card of document.querySelectorAll<HTMLElement>('[data-path]')) playWith(card)
for (const form of document.querySelectorAll<HTMLFormElement>('[data-editor]')) makeEditor(form)

/** The buttons of a card repeat what its route answered last. */
function playWith(card: HTMLElement): void {
  const validators: Record<string, string | null> = {}

  for (const button of card.querySelectorAll<HTMLButtonElement>('[data-send]')) {
    button.addEventListener('click', async () => {
      const { send = 'GET', suffix = '', condition } = button.dataset
      const validator = condition && validators[condition]
      const headers = condition && validator ? { [condition]: validator } : {}
      const answer = await exchange(send, `${card.dataset.path}${suffix}`, headers)
      if (send !== 'GET') return

      validators['If-None-Match'] = answer.headers.get('etag')
      validators['If-Modified-Since'] = answer.headers.get('last-modified')
      for (const other of card.querySelectorAll<HTMLButtonElement>('[data-condition]')) {
        other.disabled = !validators[other.dataset.condition ?? '']
      }
    })
  }
}

/** An editor remembers the ETag of what it loaded, and saves only over that. */
function makeEditor(form: HTMLFormElement): void {
  const text = find<HTMLTextAreaElement>('textarea', form)
  const save = find<HTMLButtonElement>('button:not([data-load])', form)
  const told = find<HTMLOutputElement>('output', form)
  let loaded: string | null = null

  find('[data-load]', form).addEventListener('click', async () => {
    const answer = await exchange('GET', '/caching/note')
    loaded = answer.headers.get('etag')
    text.value = answer.text
    save.disabled = false
    told.value = ''
  })

  form.addEventListener('submit', async event => {
    event.preventDefault()
    const answer = await exchange('PUT', '/caching/note', { 'If-Match': loaded ?? '' }, text.value)
    if (answer.ok) loaded = answer.headers.get('etag')
    told.value = outcome(answer.status)
    form.classList.toggle('lost', answer.status === 412)
  })
}

function outcome(status: number): string {
  if (status === 200) return 'Saved.'
  if (status === 412) return 'Somebody was faster. Load the note again.'
  return `Not saved (${status}).`
}

async function exchange(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body: string | null = null
): Promise<Answer> {
  const start = performance.now()
  // no-store: the browser's own cache stays out of it, so what the server says is what one sees.
  const answer = await fetch(path, { method, headers, body, cache: 'no-store' })
  const text = await answer.text()
  const row = template.content.cloneNode(true) as DocumentFragment
  const sent = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const work = answer.headers.get('x-work') ?? 'not reached'

  write(row, 'request', `${method} ${path}`)
  write(row, 'sent', sent.join('\n'))
  write(row, 'status', `${answer.status}`).dataset.status = `${answer.status}`
  write(row, 'headers', linesOf(answer.headers))
  // koaHttpCache says in development why it answered so: `304: If-None-Match names the ETag`.
  write(row, 'why', answer.headers.get('x-http-cache')?.replace(/^\d+: /, '') ?? '')
  write(row, 'work', work).dataset.work = work.split(',')[0]
  write(row, 'time', `${Math.round(performance.now() - start)} ms`)

  log.prepend(row)
  while (log.children.length > rowsKept) log.lastElementChild?.remove()
  hint.hidden = true
  return { ok: answer.ok, status: answer.status, headers: answer.headers, text }
}

function linesOf(headers: Headers): string {
  const present = cachingHeaders.filter(name => headers.has(name))
  return present.map(name => `${name}: ${headers.get(name)}`).join('\n') || 'none'
}

function write(row: ParentNode, cell: string, text: string): HTMLElement {
  const target = find(`[data-cell=${cell}]`, row)
  target.textContent = text
  return target
}

function find<E extends HTMLElement = HTMLElement>(
  selector: string,
  within: ParentNode = document
): E {
  const found = within.querySelector<E>(selector)
  if (!found) throw new Error(`The page lacks ${selector}`)
  return found
}
