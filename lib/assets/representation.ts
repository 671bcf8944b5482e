// One form of a file, with everything that an answer says of it made once.
import mime from 'mime-types'
import { formatHttpDate } from '../http/dates.ts'
import { formatEtag, type Validators } from '../http/validators.ts'
import { readWhole, type Mark } from './disk.ts'
import { digestOf } from './fingerprint.ts'

/** Name, value, name, value … as `res.writeHead` takes them. */
export type Headers = readonly string[]

export interface Representation extends Validators {
  readonly coding: 'identity' | 'br' | 'zstd' | 'gzip'
  /** The file that holds its bytes; absolute. */
  readonly file: string
  readonly mark: Mark
  /** In bytes. */
  readonly size: number
  readonly etag: string
  /** The digest of its bytes; undefined for what is too big for memory. */
  readonly digest: string | undefined
  /** Undefined: too big for memory. */
  readonly body: Buffer | undefined
}

/** Reads one form of a file; what is bigger than `maxBytes` stays on the disk. */
export async function represent(
  coding: Representation['coding'],
  file: string,
  stats: Mark,
  maxBytes: number
): Promise<Representation | undefined> {
  if (stats.size > maxBytes) return describe(coding, file, stats, undefined)
  const read = await readWhole(file)
  return read && describe(coding, file, read.mark, read.bytes)
}

function describe(
  coding: Representation['coding'],
  file: string,
  { dev, ino, size, mtimeNs, ctimeNs }: Mark,
  body: Buffer | undefined
): Representation {
  const mark = { dev, ino, size, mtimeNs, ctimeNs }
  const digest = body && digestOf(body)
  const suffix = coding === 'identity' ? '' : `-${coding}`
  // What is never read whole is told by size and time, in milliseconds.
  const state = digest ?? `${size.toString(16)}-${(mtimeNs / 1_000_000n).toString(16)}`
  return {
    coding,
    file,
    mark,
    // A file that shrank while it was read: what there is of it is what is announced.
    size: body?.length ?? Number(size),
    etag: formatEtag(state + suffix),
    lastModified: lastModifiedOf(mtimeNs),
    digest,
    body
  }
}

/**
 * In milliseconds, whole seconds. Undefined for the epoch, which stands for "unknown", and for a date to
 * come, which no origin may send (RFC 9110 section 8.8.2.1).
 */
function lastModifiedOf(mtimeNs: bigint): number | undefined {
  const seconds = Number(mtimeNs / 1_000_000_000n)
  return seconds === 0 || seconds * 1000 > Date.now() ? undefined : seconds * 1000
}

/** What is said of a file whatever the form. */
export interface About {
  readonly type: string
  readonly cacheControl: string
  /** Whether another form exists. */
  readonly varies: boolean
  readonly crossOrigin: boolean
}

/** What 200, 206 and 304 say alike. */
export function validatorHeaders({ etag, lastModified }: Representation, about: About): Headers {
  return [
    ...['ETag', etag],
    ...(lastModified === undefined ? [] : ['Last-Modified', formatHttpDate(lastModified)]),
    ...['Cache-Control', about.cacheControl],
    ...(about.varies ? ['Vary', 'Accept-Encoding'] : []),
    ...(about.crossOrigin ? ['Access-Control-Allow-Origin', '*'] : []),
    ...['X-Content-Type-Options', 'nosniff']
  ]
}

/** What only an answer with content says, `Content-Length` excepted. */
export function contentHeaders({ coding }: Representation, { type }: About): Headers {
  const encoding = coding === 'identity' ? [] : ['Content-Encoding', coding]
  return ['Content-Type', type, 'Accept-Ranges', 'bytes', ...encoding]
}

/** By extension, with the charset of the web on text. */
export function contentType(path: string): string {
  const type = mime.lookup(path) || 'application/octet-stream'
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type
}
