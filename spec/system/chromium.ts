// A headless Chromium, driven through a pipe: no port, no library.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { ExecutionContext } from '../support/test.ts'
import { program } from '../../demo/deploy/program.ts'

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--remote-debugging-pipe'
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

/** A page in any browser. */
export interface DrivenPage {
  /** Errors of scripts and of the console; in Chromium of the network as well. */
  readonly complaints: readonly string[]
  /** The value of an expression, awaited. */
  evaluate<T>(expression: string): Promise<T>
}

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

export interface Browser<P = Page> {
  /** A page once it has loaded. */
  open(url: string): Promise<P>
}

/** A browser with an empty profile, gone when the spec is over. */
export function launch(
  t: Pick<ExecutionContext, 'teardown'>,
  flags: readonly string[] = []
): Browser {
  const profile = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-chromium-'))
  const browser = spawn(
    program('chromium', 'chromium'),
    [...FLAGS, ...flags, `--user-data-dir=${profile}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] }
  )
  const closed = once(browser, 'close')
  const [, , , input, output] = browser.stdio as unknown as [null, null, null, Writable, Readable]
  const { send, listen } = speak(input, output)
  t.teardown(async () => {
    // Asked to close, it ends its helpers first: killed, they would go on writing to the profile.
    send('Browser.close').catch(() => browser.kill())
    const patience = setTimeout(() => browser.kill('SIGKILL'), 10_000)
    await closed
    clearTimeout(patience)
    await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  })
  return { open: url => openPage(send, listen, url) }
}

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
  url: string
): Promise<Page> {
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true })
  const session = String(sessionId)
  const complaints: string[] = []
  const remarks: string[] = []
  const answers = new Map<string, number>()
  let onLoad: () => void = () => undefined
  const load = async (begin: () => Promise<unknown>) => {
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
    if (method === 'Page.loadEventFired') onLoad()
  })
  for (const domain of ['Page', 'Network', 'Runtime', 'Log']) {
    await send(`${domain}.enable`, {}, session)
  }
  await load(() => send('Page.navigate', { url }, session))
  const evaluate = async <T>(expression: string) => {
    const params = { expression, awaitPromise: true, returnByValue: true }
    const { result, exceptionDetails } = await send('Runtime.evaluate', params, session)
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails))
    return (result as { value: T }).value
  }
  const follow = (url: string) => load(() => evaluate(`location.assign(${JSON.stringify(url)})`))
  const command = (method: string, params?: object) => send(method, params, session)
  return { complaints, remarks, answers, evaluate, follow, command }
}

function complaintOf(method: string | undefined, params: Record<string, unknown>) {
  if (method === 'Runtime.exceptionThrown') return JSON.stringify(params['exceptionDetails'])
  if (method === 'Network.loadingFailed') return `loading failed: ${String(params['errorText'])}`
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
