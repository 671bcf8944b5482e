// Two applications, asked the same: what differs, by request.
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import type { ExecutionContext } from '../../support/test.ts'
import Koa from 'koa'
import { ask, type Answer } from '../../support/ask.ts'
import { listen } from '../../support/front.ts'
import { requestsOf, type Paths } from './requests.ts'

/** What differs in a response, `status: 200 -> 304`, with the names of the requests in which it does. */
export type Differences = Readonly<Record<string, readonly string[]>>

/** Adds the middleware of an application whose files are below `root`. */
export type Layer = (app: Koa, root: string) => void

// How a message is framed is Node's affair, and an asset has another tag and date in each directory.
const IGNORED = new Set(['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'])
const BY_KIND: Readonly<Record<string, (value: string) => string>> = {
  etag: value => (value.startsWith('W/') ? 'weak' : value.startsWith('"') ? 'strong' : 'invalid'),
  'last-modified': () => 'a date',
  'content-range': value => value.replace(/\d+$/, 'all')
}
const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  deflate: inflateSync,
  gzip: gunzipSync
}

export async function compare(
  t: ExecutionContext,
  paths: Paths,
  before: (app: Koa) => void,
  after: (app: Koa) => void
): Promise<{ readonly requests: number; readonly differences: Differences }> {
  const requests = requestsOf(paths)
  const [old, ours] = await Promise.all([answersOf(t, before), answersOf(t, after)])
  const found = new Map<string, string[]>()
  for (const [index, { name }] of requests.entries()) {
    for (const each of differencesOf(old[index], ours[index])) {
      found.set(each, [...(found.get(each) ?? []), name])
    }
  }
  return { requests: requests.length, differences: Object.fromEntries(found) }

  async function answersOf(t: ExecutionContext, layer: (app: Koa) => void) {
    const app = new Koa()
    app.silent = true
    layer(app)
    const port = await listen(t, app.callback())
    const { headers: script } = await ask(port, paths.script)
    const answers: Answer[] = []
    for (const { path, method = 'GET', headers } of requests) {
      const question = { method, headers: headers?.(script) ?? {} }
      answers.push(await ask(port, path, question).catch(cutOff))
    }
    return answers
  }
}

/** A response that is none: cut off, or with a Content-Length that nobody can read. */
function cutOff(error: NodeJS.ErrnoException): Answer {
  if (!['ECONNRESET', 'HPE_INVALID_CONTENT_LENGTH'].includes(error.code ?? '')) throw error
  return { status: 0, headers: {}, bytes: Buffer.alloc(0), text: '' }
}

/** Where the statuses differ, everything else follows from that. */
function differencesOf(before: Answer | undefined, after: Answer | undefined): string[] {
  if (!before || !after) return []
  if (before.status !== after.status)
    return [`status: ${before.status || 'broken'} -> ${after.status}`]
  const names = new Set([...Object.keys(before.headers), ...Object.keys(after.headers)])
  const differing = [...names]
    .filter(name => !IGNORED.has(name))
    .map(name => [name, valueOf(before, name), valueOf(after, name)])
    .filter(([, before, after]) => before !== after)
    .map(([name, before, after]) => `${name}: ${before} -> ${after}`)
  return bodyOf(before).equals(bodyOf(after))
    ? differing
    : [`body of ${after.status}`, ...differing]
}

function valueOf({ headers }: Answer, name: string): string {
  const value = headers[name]
  return value === undefined ? 'none' : (BY_KIND[name]?.(String(value)) ?? String(value))
}

function bodyOf({ headers, bytes, status }: Answer): Buffer {
  const decode = DECODERS[headers['content-encoding'] ?? '']
  return decode && bytes.length > 0 && status === 200 ? decode(bytes) : bytes
}
