// Requests and responses of the model "people", and an application that is asked without a socket.
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type Koa from 'koa'

export interface Request {
  readonly method: string
  readonly path: string
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

export interface Response {
  readonly status: number
  /** Names are in lower case, and several lines are one. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Fetch = (request: Request) => Promise<Response>

/** Asks an application. What it writes is collected before it could reach a socket. */
export function fetchFrom(app: Koa): Fetch {
  const respond = app.callback()
  return ({ method, path, headers }) =>
    new Promise((resolve, reject) => {
      const req = new IncomingMessage(new Socket())
      Object.assign(req, { method, url: path, headers: { host: 'people.example', ...headers } })
      const res = new ServerResponse(req)
      let body = ''
      const collect = (chunk: unknown) => {
        if (typeof chunk === 'string') body += chunk
        else if (chunk instanceof Uint8Array) body += Buffer.from(chunk).toString()
        return true
      }
      const end = (chunk?: unknown) => {
        collect(chunk)
        res.emit('finish')
        const lines = Object.entries(res.getHeaders())
        const fields = lines.map(([name, value]) => [name, [value].flat().join(', ')])
        resolve({ status: res.statusCode, headers: Object.fromEntries(fields), body })
        return res
      }
      Object.assign(res, { write: collect, end })
      respond(req, res).catch(reject)
    })
}
