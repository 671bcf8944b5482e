// One file onto the wire: from memory, or through `send`.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FileHandle } from 'node:fs/promises'
import type { BigIntStats, ReadStream, Stats } from 'node:fs'
import type { Context } from 'koa'
import send from 'send'
import { evaluatePreconditions } from '../http/preconditions.ts'
import { chooseRange, type ByteRange } from '../http/ranges.ts'
import { openFile, sameMark } from './disk.ts'
import type { PublicFile } from './public-files.ts'

// RFC 9110 13.1.3 reads If-Modified-Since so, and for a file nothing speaks against it.
const FILE = { ifModifiedSince: 'before' } as const

/**
 * Answers with a file. Koa writes nothing any more afterwards.
 * @returns false when the file has been replaced since it was found: it must be found again
 */
export async function serve(ctx: Context, file: PublicFile): Promise<boolean> {
  const { method, headers } = ctx.req as IncomingMessage & { method: string }
  const outcome = evaluatePreconditions(method, headers, file, FILE)
  if (outcome === 'not-modified') return answer(ctx, 304, file.validatorHeaders)
  if (outcome === 'failed') return answer(ctx, 412, ['Content-Length', '0'])
  const range = chooseRange(method, headers, file, file.size)
  if (range === 'unsatisfiable') {
    const contentRange = ['Content-Range', `bytes */${file.size}`, 'Content-Length', '0']
    return answer(ctx, 416, contentRange)
  }
  const part = range === 'whole' ? undefined : range
  if (file.body) return sendBody(ctx, file, file.body, part)
  if (method === 'HEAD') return answer(ctx, 200, headersOf(file))
  return stream(ctx, file, part)
}

function headersOf(file: PublicFile, length = file.size): string[] {
  return [...file.validatorHeaders, ...file.contentHeaders, 'Content-Length', String(length)]
}

function sendBody(
  ctx: Context,
  file: PublicFile,
  body: Buffer,
  range: ByteRange | undefined
): boolean {
  if (!range) return answer(ctx, 200, headersOf(file), body)
  const part = body.subarray(range.start, range.end + 1)
  const contentRange = `bytes ${range.start}-${range.end}/${file.size}`
  const headers = [...headersOf(file, part.length), 'Content-Range', contentRange]
  return answer(ctx, 206, headers, part)
}

/** Headers that were set before stay, unless the file has one of the same name. */
function answer(ctx: Context, status: number, headers: readonly string[], body?: Buffer): true {
  ctx.respond = false
  ctx.res.writeHead(status, headers as string[])
  ctx.res.end(ctx.method === 'HEAD' ? undefined : body)
  return true
}

/** Through `send`, on one open file: what replaces its name meanwhile does not mix with it. */
async function stream(
  ctx: Context,
  file: PublicFile,
  range: ByteRange | undefined
): Promise<boolean> {
  const opened = await openFile(file.path)
  if (!opened || !sameMark(opened.stats, file.mark)) {
    await opened?.handle.close()
    return false
  }
  ctx.respond = false
  // Koa starts at 404, and send never resets it.
  ctx.res.statusCode = 200
  const headers = [...file.validatorHeaders, ...file.contentHeaders]
  for (let at = 0; at < headers.length; at += 2) {
    ctx.res.setHeader(headers[at] as string, headers[at + 1] as string)
  }
  await sendThrough(ctx.res, file.path, opened, range)
  return true
}

interface Opened {
  readonly handle: FileHandle
  readonly stats: BigIntStats
}

/**
 * `send` judges conditions and several ranges in ways of its own, so it gets a request that carries
 * one range at most. It hands its options on to `fs.createReadStream`, and so reads the open file.
 */
function sendThrough(
  res: ServerResponse,
  path: string,
  { handle, stats }: Opened,
  range: ByteRange | undefined
): Promise<void> {
  const headers = range ? { range: `bytes=${range.start}-${range.end}` } : {}
  const length = range ? range.end - range.start + 1 : Number(stats.size)
  const options = { cacheControl: false, etag: false, lastModified: false, fd: handle }
  const sending = send({ method: 'GET', headers } as IncomingMessage, path, options)
  return new Promise(resolve => {
    sending.on('error', () => res.destroy())
    sending.on('stream', (file: ReadStream) => {
      // A file that shrank would leave the client waiting for the rest.
      file.once('end', () => file.bytesRead < length && res.destroy())
      file.once('close', resolve)
    })
    Object.assign(sending, { res })
    sending.send(path, { size: Number(stats.size) } as Stats)
  })
}
