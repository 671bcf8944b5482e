// Responses from memory and through `send` differ in the form of their ETag alone: each request is sent
// to both.
import { Agent, request, type IncomingHttpHeaders } from 'node:http'
import { utimesSync } from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import test from 'ava'
import fc from 'fast-check'
import { withFingerprint } from '../../../lib/assets/urls/fingerprint.ts'
import { makeSite } from '../../support/site.ts'
import { cases } from '../../support/soak.ts'
import { digestOf } from '../../../lib/files/digest.ts'
import { inParallel } from '../../../lib/concurrency.ts'

const CASES = cases(800, 20_000)
const THEN = 1_700_000_000
const DATES = [
  'Tue, 14 Nov 2023 22:13:19 GMT',
  'Tue, 14 Nov 2023 22:13:20 GMT',
  'Tue, 14 Nov 2023 22:13:21 GMT',
  'Tue, 14 Nov 2123 22:13:21 GMT',
  'Tuesday, 14-Nov-23 22:13:20 GMT',
  'yesterday',
  ''
]
const TEXT = '0123456789'.repeat(30)
const PRINTED = `/assets/${withFingerprint('app.js', digestOf(Buffer.from(TEXT)))}`
const FILES = {
  '/public/empty.txt': '',
  '/public/one.txt': '1',
  '/public/a.css': TEXT,
  '/public/a.css.br': brotliCompressSync(TEXT),
  '/public/a.css.gz': gzipSync(TEXT),
  [`/public${PRINTED}`]: TEXT
}
const PATHS = ['/empty.txt', '/one.txt', '/a.css', PRINTED, '/none.txt']

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 })
// `{etag}` stands for the tag of the form that the server would send.
const tags = fc.constantFrom('{etag}', 'W/{etag}', '"x"', '"x", {etag}', '*', 'unquoted', '"', '')
const number = fc.constantFrom('', '0', '1', '4', '5', '299', '300', '301', '99999999999999999999')
const ranges = fc.oneof(
  fc.tuple(number, number).map(([first, last]) => `bytes=${first}-${last}`),
  fc.constantFrom('bytes=0-1,3-4', 'lines=0-1', 'bytes', 'bytes=a-b', 'BYTES=0-1', 'bytes= 0-1 ')
)
const requests = fc.record({
  method: fc.constantFrom('GET', 'GET', 'HEAD'),
  path: fc.constantFrom(...PATHS),
  headers: fc.record({
    range: maybe(ranges),
    'if-range': maybe(fc.oneof(tags, fc.constantFrom(...DATES))),
    'if-match': maybe(tags),
    'if-none-match': maybe(tags),
    'if-modified-since': maybe(fc.constantFrom(...DATES)),
    'if-unmodified-since': maybe(fc.constantFrom(...DATES)),
    'accept-encoding': maybe(fc.constantFrom('br', 'gzip', 'gzip, br;q=0.5', 'identity', '*', ''))
  })
})

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

test('the same request gets the same response from memory and through send', async t => {
  const memory = await makeSite(t, FILES, { env: 'production', fingerprint: false })
  for (const path of Object.keys(FILES)) utimesSync(memory.at(path), THEN, THEN)
  const options = { env: 'production', fingerprint: false, root: memory.root }
  const streamed = await makeSite(t, {}, { ...options, memory: { maxFileBytes: 0 } })
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())

  const asker = (port: number) => {
    const etags = new Map<string, string>()
    const etagOf = async ({ path, headers }: Asked): Promise<string> => {
      const coding = headers['accept-encoding']
      const key = `${path} ${coding}`
      const known = etags.get(key)
      if (known !== undefined) return known
      const first = await send(agent, port, {
        method: 'HEAD',
        path,
        headers: { 'accept-encoding': coding }
      })
      etags.set(key, first.headers.etag ?? '"none"')
      return first.headers.etag ?? '"none"'
    }
    return async (asked: Asked) => {
      const etag = await etagOf(asked)
      const headers = Object.fromEntries(
        Object.entries(asked.headers).map(([name, value]) => [name, value?.replace('{etag}', etag)])
      )
      const response = await send(agent, port, { ...asked, headers })
      const { date: _, etag: tag, ...others } = response.headers
      return { ...response, headers: { ...others, etag: tag === etag ? '{etag}' : tag } }
    }
  }

  const [one, other] = [asker(memory.port), asker(streamed.port)]
  const seed = Date.now()
  const statuses = new Map<number, number>()
  await inParallel(fc.sample(requests, { numRuns: CASES, seed }), 8, async asked => {
    const [left, right] = await Promise.all([one(asked), other(asked)])
    statuses.set(left.status, (statuses.get(left.status) ?? 0) + 1)
    if (JSON.stringify(left) === JSON.stringify(right)) return
    t.deepEqual(left, right, `${JSON.stringify(asked)}, seed ${seed}`)
  })
  // Every kind of response was among them.
  for (const status of [200, 206, 304, 404, 412, 416]) {
    t.true((statuses.get(status) ?? 0) > CASES / 200, `${status}: ${statuses.get(status)}`)
  }
})

function send(
  agent: Agent,
  port: number,
  { method, path, headers }: Asked
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  const given = Object.entries(headers).filter(([, value]) => value !== undefined)
  const options = {
    agent,
    port,
    host: '127.0.0.1',
    method,
    path,
    headers: Object.fromEntries(given)
  }
  return new Promise((resolve, reject) => {
    const asking = request(options as object, response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString('latin1')
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
      })
    })
    asking.on('error', reject)
    asking.end()
  })
}
