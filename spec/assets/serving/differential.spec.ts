// Responses from memory and streams differ in the form of their ETag alone, and whether koaAssets writes
// them or gives them to Koa makes no difference: each request is sent to all.
import { Agent, request, type RequestListener } from 'node:http'
import { utimesSync } from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import test from 'ava'
import fc from 'fast-check'
import { withFingerprint } from '../../../lib/assets/urls/fingerprint.ts'
import { makeProject, makeSite } from '../../support/site.ts'
import { cases } from '../../support/soak.ts'
import { WAYS } from '../../support/ways.ts'
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
    'x-set-before': maybe(fc.constant('yes')),
    'accept-encoding': maybe(fc.constantFrom('br', 'gzip', 'gzip, br;q=0.5', 'identity', '*', ''))
  })
})

/** Fields that are set before any middleware sees the request, if it says so. */
const SET_BEFORE = {
  'Cache-Control': 'private, max-age=60',
  Vary: 'Origin',
  'Set-Cookie': ['a=1', 'b=2'],
  'Access-Control-Allow-Origin': 'https://other.example',
  'Content-Disposition': 'inline',
  'Content-Type': 'text/x-default',
  'Content-Language': 'x-default',
  'Accept-Ranges': 'none',
  ETag: '"default"'
}

/** One request for every kind of response; what is drawn is beside them. */
const REPRESENTATIVES: ReadonlyArray<readonly [status: number, asked: Asked]> = [
  [200, { method: 'GET', path: '/a.css', headers: { 'accept-encoding': 'br' } }],
  [206, { method: 'GET', path: '/a.css', headers: { range: 'bytes=1-4' } }],
  [304, { method: 'GET', path: PRINTED, headers: { 'if-none-match': '{etag}' } }],
  [404, { method: 'GET', path: '/none.txt', headers: {} }],
  [412, { method: 'GET', path: '/one.txt', headers: { 'if-match': '"x"' } }],
  [416, { method: 'GET', path: '/one.txt', headers: { range: 'bytes=4-5' } }]
]

const setBefore: RequestListener = (req, res) => {
  if (req.headers['x-set-before'] === undefined) return
  for (const [name, value] of Object.entries(SET_BEFORE)) res.setHeader(name, value)
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

test('NBR-05 the same request gets the same response from memory and streamed, written by koaAssets and given to Koa', async t => {
  const root = makeProject(t)
  const first = await makeSite(t, FILES, { root })
  for (const path of Object.keys(FILES)) utimesSync(first.at(path), THEN, THEN)
  const options = { env: 'production', fingerprint: false, host: 'https://cdn.example', root }
  const sites = await Promise.all(
    WAYS.map(async ([way, more]) => ({ way, site: await makeSite(t, {}, { ...options, ...more }) }))
  )
  for (const { site } of sites) site.server.prependListener('request', setBefore)
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
      const etag = first.fields.find(field => field.startsWith('ETag: '))?.slice(6) ?? '"none"'
      etags.set(key, etag)
      return etag
    }
    return async (asked: Asked) => {
      const etag = await etagOf(asked)
      const headers = Object.fromEntries(
        Object.entries(asked.headers).map(([name, value]) => [name, value?.replace('{etag}', etag)])
      )
      const response = await send(agent, port, { ...asked, headers })
      const fields = response.fields
        .filter(field => !field.startsWith('Date: '))
        .map(field => field.replace(etag, '{etag}'))
      return { ...response, fields }
    }
  }

  const askers = sites.map(({ way, site }) => ({ way, ask: asker(site.port) }))
  const seed = Date.now()
  const check = async (asked: Asked) => {
    const [expected, ...others] = await Promise.all(askers.map(({ ask }) => ask(asked)))
    others.forEach((response, at) => {
      if (JSON.stringify(response) === JSON.stringify(expected)) return
      const about = `${askers[at + 1]?.way}: ${JSON.stringify(asked)}, seed ${seed}`
      t.deepEqual(response, expected, about)
    })
    return expected?.status
  }
  for (const [status, asked] of REPRESENTATIVES) t.is(await check(asked), status)
  await inParallel(fc.sample(requests, { numRuns: CASES, seed }), 8, check)
})

interface Response {
  readonly status: number
  readonly reason: string
  /** `Name: value`, sorted; a field that was sent twice is there twice. */
  readonly fields: readonly string[]
  readonly body: string
}

function send(agent: Agent, port: number, { method, path, headers }: Asked): Promise<Response> {
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
        const { statusCode: status = 0, statusMessage: reason = '', rawHeaders } = response
        const pairs = rawHeaders.map((name, at) => `${name}: ${rawHeaders[at + 1]}`)
        const fields = pairs.filter((_, at) => at % 2 === 0).toSorted()
        resolve({ status, reason, fields, body })
      })
    })
    asking.on('error', reject)
    asking.end()
  })
}
