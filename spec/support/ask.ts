// A request as it is written, and the answer as it came: no client library repairs the path, follows a
// redirect or decodes the body.
import { request, type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import type { ClientHttp2Session, IncomingHttpStatusHeader } from 'node:http2'

export interface Question {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
  /** Keeps connections; without one each request has its own. */
  readonly agent?: Agent
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
}

export function ask(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body, agent }: Question = {}
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = request(
      { host: '127.0.0.1', port, path, method, headers, agent: agent ?? false },
      answer => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () => {
          const bytes = Buffer.concat(chunks)
          const status = answer.statusCode ?? 0
          resolve({ status, headers: answer.headers, bytes, text: bytes.toString() })
        })
      }
    )
    asking.on('error', reject)
    asking.end(body)
  })
}

/** The same over HTTP/2, in clear text. */
export function askSession(
  session: ClientHttp2Session,
  path: string,
  { method = 'GET', headers = {} }: Question = {}
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path, ':method': method, ...headers })
    let received: IncomingHttpHeaders & IncomingHttpStatusHeader = {}
    const chunks: Buffer[] = []
    stream.on('response', headers => (received = headers))
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', reject)
    stream.on('close', () => reject(new Error('no response')))
    stream.on('end', () => {
      const { ':status': status = 0, ...fields } = received
      const bytes = Buffer.concat(chunks)
      resolve({ status, headers: fields, bytes, text: bytes.toString() })
    })
    stream.end()
  })
}
