// A headless Firefox, driven through WebDriver BiDi: no library.
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { start, type Browser, type DrivenPage, type Spec, type Started } from './browser.ts'

type Send = (method: string, params: object) => Promise<Record<string, unknown>>

interface Connection {
  readonly send: Send
  readonly close: () => void
}

interface Message {
  readonly id?: number
  readonly type: 'success' | 'error' | 'event'
  readonly result?: Record<string, unknown>
  readonly message?: string
  readonly params?: Record<string, unknown>
}

interface Driven extends Started {
  readonly endpoint: Promise<string>
}

let started: Driven | undefined

function startHeadless(): Driven {
  const words = ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile']
  const browser = start('firefox-esr', profile => [...words, profile], ['ignore', 'ignore', 'pipe'])
  return { ...browser, endpoint: endpointOf(browser.child.stderr as Readable) }
}

/** A browser with an empty profile, gone when the spec is over. It knows one session at a time. */
export function launch(t: Spec): Browser<DrivenPage> {
  started ??= startHeadless()
  const { endpoint, useIn } = started
  const complaints: string[] = []
  const session = endpoint.then(async url => {
    const { send, close } = await connect(url, ({ params = {} }) => {
      if (params['level'] === 'error') complaints.push(String(params['text']))
    })
    await send('session.new', { capabilities: {} })
    await send('session.subscribe', { events: ['log.entryAdded'] })
    const { userContext } = await send('browser.createUserContext', {})
    return { send, close, userContext }
  })
  useIn(t, async () => {
    const { send, close, userContext } = await session
    await send('browser.removeUserContext', { userContext })
    await send('session.end', {})
    close()
  })
  return {
    async open(url) {
      const { send, userContext } = await session
      const { context } = await send('browsingContext.create', { type: 'tab', userContext })
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
  }
}

/** How BiDi describes a value. */
interface RemoteValue {
  readonly type: string
  readonly value?: unknown
}

function valueOf({ type, value }: RemoteValue): unknown {
  return type === 'array' ? (value as RemoteValue[]).map(valueOf) : value
}

async function endpointOf(output: Readable): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const [endpoint] = /ws:\/\/\S+/.exec(line) ?? []
    if (endpoint === undefined) continue
    // Nobody reads on, and Firefox would wait for a full pipe.
    output.resume()
    return `${endpoint}/session`
  }
  throw new Error('Firefox ended before it could be driven')
}

async function connect(url: string, onEvent: (message: Message) => void): Promise<Connection> {
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
  const send: Send = (method, params) =>
    new Promise((resolve, reject) => {
      const id = waiting.size + 1
      waiting.set(id, ({ type, result = {}, message }) => {
        if (type === 'success') resolve(result)
        else reject(new Error(`${method}: ${message}`))
      })
      socket.send(JSON.stringify({ id, method, params }))
    })
  return { send, close: () => socket.close() }
}
