// Whether a response has a connection to be written to, and somebody who still waits for it.
import type { ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'

/** Over HTTP/2 a response has a stream of its own. */
function streamOf(res: ServerResponse): ServerHttp2Stream | undefined {
  return (res as { readonly stream?: ServerHttp2Stream }).stream
}

/** Undefined where an adapter made the response without a connection, as those of serverless platforms do. */
function socketOf({ req }: ServerResponse): Socket | undefined {
  return (req as { readonly socket?: Socket }).socket
}

/** Whether nobody has begun or ended a response, and its client has not gone away. */
export function isWanted(res: ServerResponse): boolean {
  if (res.headersSent || res.writableEnded || res.destroyed) return false
  const stream = streamOf(res)
  return stream ? !stream.closed && !stream.destroyed : !socketOf(res)?.destroyed
}

/**
 * Waits until a response has its connection: a pipelined one gets it when those before it are sent.
 * @returns whether it has got one and is still wanted
 */
export async function connected(res: ServerResponse): Promise<boolean> {
  const socket = socketOf(res)
  if (isWanted(res) && socket && !res.socket && !streamOf(res)) await assigned(res, socket)
  return isWanted(res)
}

// A connection that closes tells nothing to responses that are still waiting for it. One listener for each
// connection, since thousands may wait.
const waiting = new WeakMap<Socket, Set<() => void>>()

function assigned(res: ServerResponse, socket: Socket): Promise<void> {
  const waiters = waitersOn(socket)
  return new Promise(resolve => {
    const stop = () => {
      waiters.delete(stop)
      res.removeListener('socket', stop)
      resolve()
    }
    waiters.add(stop)
    res.once('socket', stop)
  })
}

function waitersOn(socket: Socket): Set<() => void> {
  const known = waiting.get(socket)
  if (known) return known
  const waiters = new Set<() => void>()
  waiting.set(socket, waiters)
  socket.once('close', () => {
    for (const stop of waiters) stop()
  })
  return waiters
}

// RFC 9113 section 7.
const INTERNAL_ERROR = 2

/** Ends a response before its end, so that the client can tell. */
export function cut(res: ServerResponse): void {
  const stream = streamOf(res)
  // Without a code the client would take what it has for the whole.
  if (stream) stream.close(INTERNAL_ERROR)
  else res.destroy()
}

/** Whether an error is that of the response's connection: a client that went away. */
export function isOfConnection(res: ServerResponse, error: unknown): boolean {
  return error === (streamOf(res) ?? socketOf(res))?.errored
}
