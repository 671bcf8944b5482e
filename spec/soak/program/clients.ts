// Clients of every kind: patient ones hand back what they were told, the others leave.
import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip } from 'node:zlib'
import { ask, askSession } from '../../support/ask.ts'
import type { Ports } from '../../support/replica.ts'
import { exchange, readAnswers, request as bytesOf } from '../../support/raw.ts'

export interface Question {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Decoded. */
  readonly body: Buffer
}

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Promise<Buffer>>> = {
  br: promisify(brotliDecompress),
  gzip: promisify(gunzip)
}

/** @throws when the body is not as long as it was said to be */
async function decoded({ method }: Question, { status, headers, body }: Answer): Promise<Answer> {
  const hasBody = method !== 'HEAD' && status !== 304
  if (hasBody && Number(headers['content-length'] ?? body.length) !== body.length) {
    throw new Error(`cut off after ${body.length} bytes of ${headers['content-length']}`)
  }
  const decode = hasBody ? DECODERS[headers['content-encoding'] ?? ''] : undefined
  return { status, headers, body: decode ? await decode(body) : body }
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 })

export async function askHttp1({ http1 }: Ports, question: Question): Promise<Answer> {
  const { bytes, ...rest } = await ask(http1, question.path, { ...question, agent })
  return decoded(question, { ...(rest as Omit<Answer, 'body'>), body: bytes })
}

const sessions = new Map<number, ClientHttp2Session>()

function sessionOf(port: number): ClientHttp2Session {
  const open = sessions.get(port)
  if (open && !open.closed && !open.destroyed) return open
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  // Its streams report it.
  session.on('error', () => undefined)
  sessions.set(port, session)
  return session
}

export async function askHttp2(ports: Ports, question: Question): Promise<Answer> {
  const { bytes, ...rest } = await askSession(sessionOf(ports.http2), question.path, question)
  if (rest.status === 0) throw new Error('its stream ended without a response')
  return decoded(question, { ...(rest as Omit<Answer, 'body'>), body: bytes })
}

/** Several requests in one write on a connection of their own. */
export async function askPipelined(
  ports: Ports,
  questions: readonly Question[]
): Promise<Answer[]> {
  const bytes = questions.map(({ method, path, headers }, at) => {
    const text = bytesOf(method, path, headers).toString('latin1')
    return at === questions.length - 1 ? text : text.replace('Connection: close\r\n', '')
  })
  const methods = questions.map(({ method }) => method)
  const answers = readAnswers(await exchange(ports.http1, bytes.join('')), methods)
  return Promise.all(answers.map((answer, at) => decoded(questions[at] as Question, answer)))
}

const bytesIn = ({ method, path, headers }: Question) => bytesOf(method, path, headers)

/** A connection over which some bytes were sent. */
async function send(port: number, bytes: Buffer): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  socket.write(bytes)
  return socket
}

/** Reads a little at a time. */
export async function askSlowly(ports: Ports, question: Question): Promise<Answer> {
  const socket = await send(ports.http1, bytesIn(question))
  const pieces: Buffer[] = []
  for await (const piece of socket) {
    pieces.push(piece as Buffer)
    await setTimeout(20)
  }
  const [answer] = readAnswers(Buffer.concat(pieces), [question.method])
  return decoded(question, answer as Answer)
}

/** Leaves in the middle, one way or another. */
export async function leave({ http1, http2 }: Ports, question: Question, how: number) {
  if (how % 4 === 3) {
    const stream = sessionOf(http2).request({ ':path': question.path })
    stream.on('error', () => undefined)
    stream.once('data', () => stream.close(8))
    return new Promise(resolve => stream.once('close', resolve))
  }
  const bytes = bytesIn(question)
  const socket = await send(http1, how % 4 === 2 ? bytes.subarray(0, bytes.length / 2) : bytes)
  if (how % 2 === 0) await setTimeout(5)
  else await Promise.race([once(socket, 'data'), once(socket, 'close')])
  return how % 3 === 0 ? socket.resetAndDestroy() : socket.destroy()
}

/** Asks, reads nothing for a while, and leaves. */
export async function stall({ http1 }: Ports, question: Question, ms: number): Promise<void> {
  const socket = await send(http1, bytesIn(question))
  socket.pause()
  await setTimeout(ms)
  socket.destroy()
}

/** Nothing is kept alive after this. */
export function hangUp(): void {
  agent.destroy()
  for (const session of sessions.values()) session.destroy()
}
