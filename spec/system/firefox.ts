// A headless Firefox, driven through WebDriver BiDi: no library.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { ExecutionContext } from '../support/test.ts'
import { program } from '../../demo/deploy/program.ts'
import type { Browser, DrivenPage } from './chromium.ts'

type Send = (method: string, params: object) => Promise<Record<string, unknown>>

interface Message {
  readonly id?: number
  readonly type: 'success' | 'error' | 'event'
  readonly result?: Record<string, unknown>
  readonly message?: string
  readonly params?: Record<string, unknown>
}

/** A browser with an empty profile, gone when the spec is over. */
export function launch(t: ExecutionContext): Browser<DrivenPage> {
  const profile = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-firefox-'))
  const browser = spawn(
    program('firefox-esr', 'firefox-esr'),
    ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', profile],
    { stdio: ['ignore', 'ignore', 'pipe'] }
  )
  const closed = once(browser, 'close')
  t.teardown(async () => {
    browser.kill('SIGTERM')
    const patience = setTimeout(() => browser.kill('SIGKILL'), 10_000)
    await closed
    clearTimeout(patience)
    await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  })
  return { open: url => openPage(browser, url) }
}

async function openPage(browser: ChildProcess, url: string): Promise<DrivenPage> {
  const complaints: string[] = []
  const send = await connect(await endpointOf(browser), ({ params = {} }) => {
    if (params['level'] === 'error') complaints.push(String(params['text']))
  })
  await send('session.new', { capabilities: {} })
  await send('session.subscribe', { events: ['log.entryAdded'] })
  const { context } = await send('browsingContext.create', { type: 'tab' })
  await send('browsingContext.navigate', { context, url, wait: 'complete' })
  const evaluate = async <T>(expression: string) => {
    const { result, exceptionDetails } = await send('script.evaluate', {
      expression,
      target: { context },
      awaitPromise: true
    })
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails))
    return valueOf(result as RemoteValue) as T
  }
  return { complaints, evaluate }
}

/** How BiDi describes a value. */
interface RemoteValue {
  readonly type: string
  readonly value?: unknown
}

function valueOf({ type, value }: RemoteValue): unknown {
  return type === 'array' ? (value as RemoteValue[]).map(valueOf) : value
}

async function endpointOf({ stderr }: ChildProcess): Promise<string> {
  const output = stderr as Readable
  for await (const line of createInterface({ input: output })) {
    const [endpoint] = /ws:\/\/\S+/.exec(line) ?? []
    if (endpoint === undefined) continue
    // Nobody reads on, and Firefox would wait for a full pipe.
    output.resume()
    return `${endpoint}/session`
  }
  throw new Error('Firefox ended before it could be driven')
}

async function connect(url: string, onEvent: (message: Message) => void): Promise<Send> {
  const socket = new WebSocket(url)
  const waiting = new Map<number, (message: Message) => void>()
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message
    if (message.type === 'event') onEvent(message)
    else waiting.get(message.id ?? 0)?.(message)
  })
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', () => reject(new Error(`no connection to ${url}`)))
  })
  return (method, params) =>
    new Promise((resolve, reject) => {
      const id = waiting.size + 1
      waiting.set(id, ({ type, result = {}, message }) => {
        if (type === 'success') resolve(result)
        else reject(new Error(`${method}: ${message}`))
      })
      socket.send(JSON.stringify({ id, method, params }))
    })
}
