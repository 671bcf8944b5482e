// A headless Chromium, driven through a pipe: no port, no library.
import type { Readable, Writable } from 'node:stream'
import { start, type Browser, type DrivenPage, type Spec, type Started } from './browser.ts'

const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  ...['--disable-dev-shm-usage', '--remote-debugging-pipe']
]

interface Message {
  readonly id?: number
  /** Of the page that the message is about. */
  readonly sessionId?: string
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
}

type Send = (
  method: string,
  params?: object,
  sessionId?: string
) => Promise<Record<string, unknown>>

export interface Page extends DrivenPage {
  /** Everything else that the console shows. */
  readonly remarks: readonly string[]
  /** Every URL that was answered, with the status. */
  readonly answers: ReadonlyMap<string, number>
  /** Leads elsewhere in the same tab, by a link of the page: what is cached need not be asked for again. */
  follow(url: string): Promise<void>
  /** A command of the DevTools protocol, for this page. */
  command(method: string, params?: object): Promise<Record<string, unknown>>
}

interface Driven extends Started {
  readonly send: Send
  readonly listen: (listener: Listener) => void
}

const BLANK = 'about:blank'

/** By their flags. */
const started = new Map<string, Driven>()

function startWith(flags: readonly string[]): Driven {
  const words = (profile: string) => [...FLAGS, ...flags, `--user-data-dir=${profile}`]
  const browser = start('chromium', words, ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'])
  const [, , , input, output] = browser.child.stdio
  return { ...browser, ...speak(input as Writable, output as Readable) }
}

/** A browser with an empty profile, gone when the spec is over. */
export function launch(t: Spec, flags: readonly string[] = []): Chromium {
  const key = flags.join(' ')
  const browser = started.get(key) ?? startWith(flags)
  started.set(key, browser)
  const { send, listen, useIn } = browser
  const context = send('Target.createBrowserContext').then(result => result['browserContextId'])
  useIn(t, async () => send('Target.disposeBrowserContext', { browserContextId: await context }))
  return { open: async url => openPage(send, listen, await context, url) }
}

export type Chromium = Browser<Page>

type Listener = (message: Message) => void

/** Messages are JSON, each ended by a NUL. */
function speak(input: Writable, output: Readable) {
  const waiting = new Map<number, (message: Message) => void>()
  const listeners: Listener[] = []
  let count = 0
  let rest = ''
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\0')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const message = JSON.parse(part) as Message
      if (message.id === undefined) for (const listener of listeners) listener(message)
      else waiting.get(message.id)?.(message)
    }
  })
  const send: Send = (method, params = {}, sessionId) =>
    new Promise((resolve, reject) => {
      const id = ++count
      waiting.set(id, ({ error, result }) => {
        waiting.delete(id)
        if (error) reject(new Error(`${method}: ${error.message}`))
        else resolve(result ?? {})
      })
      input.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`)
    })
  return { send, listen: (listener: Listener) => void listeners.push(listener) }
}

async function openPage(
  send: Send,
  listen: (listener: Listener) => void,
  browserContextId: unknown,
  url: string
): Promise<Page> {
  const { targetId } = await send('Target.createTarget', { url: BLANK, browserContextId })
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true })
  const session = String(sessionId)
  const complaints: string[] = []
  const remarks: string[] = []
  const answers = new Map<string, number>()
  let onLoad: () => void = () => undefined
  let [isBlank, isOther] = [false, false]
  const load = async (url: string, begin: () => Promise<unknown>) => {
    // The page before, or one that it has loaded by itself, may not have told yet that it has loaded.
    ;[isBlank, isOther] = [url === BLANK, false]
    const loaded = new Promise<void>(resolve => (onLoad = resolve))
    await begin()
    await loaded
  }
  listen(({ sessionId, method, params = {} }) => {
    if (sessionId !== session) return
    const complaint = complaintOf(method, params)
    if (complaint) complaints.push(complaint)
    else remarks.push(...remarkOf(method, params))
    if (method === 'Network.responseReceived') {
      const { url, status } = params['response'] as { url: string; status: number }
      answers.set(url, status)
    }
    if (method === 'Page.frameNavigated') {
      const { parentId, url } = params['frame'] as { parentId?: string; url: string }
      isOther ||= parentId === undefined && (url === BLANK) === isBlank
    }
    if (method === 'Page.loadEventFired' && isOther) onLoad()
  })
  for (const domain of ['Page', 'Network', 'Runtime', 'Log']) {
    await send(`${domain}.enable`, {}, session)
  }
  await load(url, () => send('Page.navigate', { url }, session))
  const evaluate = async <T>(expression: string) => {
    const params = { expression, awaitPromise: true, returnByValue: true }
    const { result, exceptionDetails } = await send('Runtime.evaluate', params, session)
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails))
    return (result as { value: T }).value
  }
  const follow = (url: string) =>
    load(url, () => evaluate(`location.assign(${JSON.stringify(url)})`))
  const command = (method: string, params?: object) => send(method, params, session)
  return { complaints, remarks, answers, evaluate, follow, command }
}

function complaintOf(method: string | undefined, params: Record<string, unknown>) {
  if (method === 'Runtime.exceptionThrown') return JSON.stringify(params['exceptionDetails'])
  // What a page ends by itself is no failure: a channel that it closes, a stylesheet that a newer one replaces.
  if (method === 'Network.loadingFailed')
    return params['canceled'] === true || params['errorText'] === 'net::ERR_ABORTED'
      ? undefined
      : `loading failed: ${String(params['errorText'])}`
  if (method === 'Runtime.consoleAPICalled' && params['type'] === 'error') {
    return JSON.stringify(params['args'])
  }
  if (method !== 'Log.entryAdded') return undefined
  const { level, text, url } = params['entry'] as Record<string, string>
  return level === 'error' ? `${text} ${url ?? ''}` : undefined
}

function remarkOf(method: string | undefined, params: Record<string, unknown>): string[] {
  if (method === 'Runtime.consoleAPICalled') return [JSON.stringify(params['args'])]
  return method === 'Log.entryAdded' ? [JSON.stringify(params['entry'])] : []
}
