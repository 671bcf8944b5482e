// Clients of every kind: patient ones hand back what they were told, the others leave.
import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip } from 'node:zlib'
import { ask } from '../../support/ask.ts'
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
  const { bytes, status, headers } = await ask(http1, question.path, { ...question, agent })
  return decoded(question, { status, headers: headers as Answer['headers'], body: bytes })
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
  const { method, path, headers } = question
  const stream = sessionOf(ports.http2).request({ ':method': method, ':path': path, ...headers })
  const pieces: Buffer[] = []
  let received: Record<string, unknown> = {}
  stream.on('response', fields => (received = fields))
  stream.on('data', (piece: Buffer) => pieces.push(piece))
  await new Promise<void>((resolve, reject) => {
    stream.on('error', reject)
    stream.on('close', () => {
      if (received[':status'] === undefined) reject(new Error('no response'))
      else resolve()
    })
  })
  const { ':status': status, ...fields } = received
  return decoded(question, {
    status: Number(status),
    headers: fields as Answer['headers'],
    body: Buffer.concat(pieces)
  })
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
  const answers = readAnswers(
    await exchange(ports.http1, bytes.join('')),
    questions.map(q => q.method)
  )
  return Promise.all(answers.map((answer, at) => decoded(questions[at] as Question, answer)))
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  return socket
}

/** Reads a little at a time. */
export async function askSlowly(ports: Ports, question: Question): Promise<Answer> {
  const socket = await open(ports.http1)
  socket.write(bytesOf(question.method, question.path, question.headers))
  const pieces: Buffer[] = []
  for await (const piece of socket) {
    pieces.push(piece as Buffer)
    await setTimeout(20)
  }
  const [answer] = readAnswers(Buffer.concat(pieces), [question.method])
  return decoded(question, answer as Answer)
}

/** Leaves in the middle, one way or another. */
export async function leave(
  { http1, http2 }: Ports,
  question: Question,
  how: number
): Promise<void> {
  if (how % 4 === 3) {
    const stream = sessionOf(http2).request({ ':path': question.path })
    stream.on('error', () => undefined)
    const closed = new Promise(resolve => stream.once('close', resolve))
    stream.once('data', () => stream.close(8))
    await closed
    return
  }
  const socket = await open(http1)
  const bytes = bytesOf(question.method, question.path, question.headers)
  socket.write(how % 4 === 2 ? bytes.subarray(0, bytes.length / 2) : bytes)
  if (how % 2 === 0) await setTimeout(5)
  else await Promise.race([once(socket, 'data'), once(socket, 'close')])
  if (how % 3 === 0) socket.resetAndDestroy()
  else socket.destroy()
}

/** Asks, reads nothing for a while, and leaves. */
export async function stall({ http1 }: Ports, question: Question, ms: number): Promise<void> {
  const socket = await open(http1)
  socket.pause()
  socket.write(bytesOf(question.method, question.path, question.headers))
  await setTimeout(ms)
  socket.destroy()
}

/** Nothing is kept alive after this. */
export function hangUp(): void {
  agent.destroy()
  for (const session of sessions.values()) session.destroy()
}
