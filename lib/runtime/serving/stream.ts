// The connection of a response: whether there is one and the client still waits, and streaming files to it.
import type { ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { errorCode } from '../files/disk.ts'
import type { ReadStream } from 'node:fs'
import type { ByteRange } from '../http/preconditions.ts'
import { lastingStreamOf, readUnchanged, type OpenFile } from '../files/open-file.ts'

/** Over HTTP/2 every response has its own stream. */
function streamOf(res: ServerResponse): ServerHttp2Stream | undefined {
  return (res as { readonly stream?: ServerHttp2Stream }).stream
}

export const isHttp2 = ({ req }: ServerResponse): boolean => req.httpVersionMajor === 2

/** Returns undefined for a response without a connection, as adapters for serverless platforms make them. */
function socketOf({ req }: ServerResponse): Socket | undefined {
  return (req as { readonly socket?: Socket }).socket
}

/** Tells whether a response is neither begun nor ended, and its client has not disconnected. */
export function isAwaited(res: ServerResponse): boolean {
  if (res.headersSent || res.writableEnded || res.destroyed) return false
  const stream = streamOf(res)
  return stream ? !stream.closed && !stream.destroyed : !socketOf(res)?.destroyed
}

// Waits until a response has its connection: a pipelined one gets it when those before it are sent. While more than a
// few wait for a connection, no more requests are read from it. Resolves to false if the client no longer waits.
export function connected(res: ServerResponse): Promise<boolean> | boolean {
  const socket = socketOf(res)
  const isWaiting = socket && !res.socket && !streamOf(res) && isAwaited(res)
  return isWaiting ? turnOf(res, socket).then(() => isAwaited(res)) : isAwaited(res)
}

// A pipeline may be longer: Node itself stops reading only while responses that are already written wait.
const MAX_WAITING = 20

// A connection that closes does not notify the responses that wait for it. As thousands may wait, it has one listener.
const waiting = new WeakMap<Socket, Set<() => void>>()

function turnOf(res: ServerResponse, socket: Socket): Promise<void> {
  const waiters = waiting.get(socket) ?? startWaiting(socket)
  return new Promise(resolve => {
    const stop = () => {
      waiters.delete(stop)
      if (waiters.size === MAX_WAITING) socket.resume()
      resolve()
    }
    waiters.add(stop)
    if (waiters.size > MAX_WAITING) socket.pause()
    res.once('socket', stop)
  })
}

function startWaiting(socket: Socket): Set<() => void> {
  const waiters = new Set<() => void>()
  waiting.set(socket, waiters)
  // Node resumes the socket after each request and when it is drained.
  socket.on('resume', () => waiters.size > MAX_WAITING && socket.pause())
  socket.once('close', () => waiters.forEach(stop => stop()))
  return waiters
}

// RFC 9113 section 7.
const NO_ERROR = 0
const INTERNAL_ERROR = 2

/** Ends a response early, in a way that its client can detect. */
export function abort(res: ServerResponse): void {
  const stream = streamOf(res)
  // Without an error code the client would take the bytes it has received for the whole.
  if (stream) stream.close(INTERNAL_ERROR)
  else res.destroy()
}

/** When a client resets an HTTP/2 stream without an error code, Node (up to 24) waits until the rest is sent. */
function endOnReset(res: ServerResponse): void {
  const stream = streamOf(res)
  stream?.once('aborted', () => {
    if (stream.rstCode === NO_ERROR) stream.destroy()
  })
}

// If the body is a stream, Koa 3 reports a client's disconnect as a stream that closed prematurely.
export function isOfConnection(res: ServerResponse, error: unknown): boolean {
  const isPremature = errorCode(error) === 'ERR_STREAM_PREMATURE_CLOSE'
  return isPremature || error === (streamOf(res) ?? socketOf(res))?.errored
}

// Node counts the bytes that wait on all streams of an HTTP/2 session against `maxSessionMemory`, 10 MB by default, and
// resets new streams above that with ENHANCE_YOUR_CALM: fifty images of 300 KB, each written whole, are enough.

/** The size of a piece in bytes. Browsers open up to 256 streams at once (Chromium). */
const HTTP2_PIECE_BYTES = 32 * 1024

/** Node writes a string of up to this size, in bytes, without allocating and in one system call. */
export const MAX_ONE_WRITE_BYTES = 16 * 1024

// When the body is written whole, Node (20 to 26) garbles such a Content-Disposition: its Latin-1 is read as UTF-8.
const NOT_ASCII = /[^\x00-\x7f]/

/** Returns the body, to be written once all fields are set, in pieces if it must not be written whole. */
export function pacedBody(res: ServerResponse, body: Buffer): Buffer | Readable {
  const isPlain = isHttp2(res)
    ? body.length <= HTTP2_PIECE_BYTES
    : !NOT_ASCII.test(String(res.getHeader('Content-Disposition')))
  if (isPlain) return body
  endOnReset(res)
  return Readable.from(piecesOf(body), { objectMode: false })
}

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += HTTP2_PIECE_BYTES) {
    yield body.subarray(at, at + HTTP2_PIECE_BYTES)
  }
}

export interface FilePart {
  readonly file: OpenFile
  /** The size of the whole file in bytes. */
  readonly size: number
  readonly range: ByteRange | undefined
}

export function bodyOf(res: ServerResponse, part: FilePart): ReadStream {
  return lastingStreamOf(part.file, { ...sourceOf(res, part), ...spanOf(part) })
}

const spanOf = ({ size, range }: FilePart): ByteRange => range ?? { start: 0, end: size - 1 }

// Cuts the response off when reading fails or the file has changed, which a client can detect.
export function sourceOf(res: ServerResponse, part: FilePart) {
  const fs = readUnchanged(part.file, spanOf(part).end, () => abort(res))
  endOnReset(res)
  const pace = isHttp2(res) ? { highWaterMark: HTTP2_PIECE_BYTES } : {}
  return { fd: part.file.fd, fs, ...pace }
}
