// Exact bytes onto a socket, and one whole answer back: a URL library would repair what is sent.
import { connect } from 'node:net'

export interface Answer {
  readonly status: number
  readonly statusLine: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Everything before the body, as it came. */
  readonly head: string
  /** Every byte after the empty line, until the server closed. */
  readonly body: Buffer
  readonly text: string
}

const BOUND_MS = 60_000

/** A request that ends its connection. Characters up to U+00FF are sent as one byte each. */
export function request(
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {}
): Buffer {
  const all = { Host: 'localhost', ...headers, Connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
}

/** All that the server sends until it closes the connection; an error when that takes too long. */
export function exchange(port: number, bytes: string | Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    const bound = setTimeout(() => {
      socket.destroy()
      reject(new Error(`no end of the answer to ${String(bytes).slice(0, 200)}`))
    }, BOUND_MS)
    socket.on('data', chunk => chunks.push(chunk))
    // A server that refuses a request closes while more of it is on its way.
    socket.on('error', error => (chunks.length === 0 ? reject(error) : undefined))
    socket.on('close', () => {
      clearTimeout(bound)
      resolve(Buffer.concat(chunks))
    })
  })
}

/** One request, one whole answer. */
export async function ask(
  port: number,
  method: string,
  target: string,
  headers?: Readonly<Record<string, string>>
): Promise<Answer> {
  return readAnswer(await exchange(port, request(method, target, headers)))
}

/** The answer at the beginning of the bytes; its body is all the rest. */
export function readAnswer(bytes: Buffer): Answer {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) throw new Error(`no answer: ${bytes.toString('latin1').slice(0, 200)}`)
  const head = bytes.toString('latin1', 0, end)
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = lines.map(line => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
  })
  const body = bytes.subarray(end + 4)
  const status = Number(statusLine.split(' ')[1])
  const text = body.toString('utf8')
  return { status, statusLine, headers: Object.fromEntries(headers), head, body, text }
}

/** The answers of a connection that stays open, told apart by their Content-Length. */
export function readAnswers(bytes: Buffer, methods: readonly string[]): Answer[] {
  let rest = bytes
  return methods.map(method => {
    const { head, headers, status } = readAnswer(rest)
    const bare = method === 'HEAD' || status === 304 || status === 204
    const length = bare ? 0 : Number(headers['content-length'])
    const end = head.length + 4 + length
    const answer = readAnswer(rest.subarray(0, end))
    if (answer.body.length !== length) throw new Error(`a short body: ${head}`)
    rest = rest.subarray(end)
    return answer
  })
}

/** What tells one answer from another; only the clock may differ. */
export function signature({ head, body }: Answer): string {
  return `${head.replace(/\r\nDate: [^\r]*/, '')}\r\n\r\n${body.toString('latin1')}`
}
