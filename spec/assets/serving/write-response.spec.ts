// A response with a reused head has the bytes that Node would have sent, and instrumentation is not
// bypassed.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import type { Fields } from '../../../lib/assets/serving/fields.ts'
import test, { type ExecutionContext } from 'ava'
import {
  MAX_ONE_WRITE_BYTES,
  prepareResponse,
  writeResponse,
  type PreparedResponse
} from '../../../lib/assets/serving/write-response.ts'
import { exchange } from '../../support/raw.ts'
import { LOADER, moduleFile } from '../../support/typescript.ts'

const run = promisify(execFile)

const FIELDS = Object.entries({
  ETag: '"x"',
  Vary: 'Accept-Encoding',
  'Content-Type': 'text/plain'
})

/** What happens on the server, and what the client sends beside its requests. */
interface Case {
  readonly prepare?: (res: ServerResponse, server: Server) => void
  readonly head?: string
  readonly version?: string
  readonly body?: Buffer
}

type Write = (res: ServerResponse, response: PreparedResponse, body?: Buffer) => void

const usual: Write = (res, { status, fields }, body) =>
  res.writeHead(status, fields.flat()).end(body)

/** A server that sends the same response every time. */
async function open(t: ExecutionContext, write: Write, one: Case = {}) {
  const { prepare, body = Buffer.from('body') } = one
  const found = prepareResponse(200, [...FIELDS, ['Content-Length', String(body.length)]])
  const responses = { GET: found, HEAD: found, PUT: prepareResponse(304, FIELDS) }
  const server = createServer()
  const respond = (req: { method?: string }, res: ServerResponse) => {
    prepare?.(res, server)
    const method = req.method as keyof typeof responses
    write(res, responses[method], method === 'GET' ? body : undefined)
  }
  server.on('request', respond).on('checkContinue', respond).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { responses, port: (server.address() as AddressInfo).port }
}

/** All on one connection, as long as the server keeps it. */
async function converse(port: number, { head = '', version = '1.1' }: Case = {}): Promise<string> {
  const methods = ['GET', 'GET', 'PUT', 'HEAD', 'HEAD', 'PUT', 'GET', 'HEAD']
  const requests = methods.map(method => `${method} / HTTP/${version}\r\nHost: x\r\n${head}\r\n`)
  const last = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  return (await exchange(port, [...requests, last].join(''))).toString('latin1')
}

async function sent(t: ExecutionContext, write: Write, one: Case): Promise<string[]> {
  const { port } = await open(t, write, one)
  const conversations = [await converse(port, one), await converse(port, one)]
  return conversations.map(bytes => bytes.replaceAll(/^Date: .*GMT/gm, 'Date: now'))
}

test('the Date field advances', async t => {
  const { port } = await open(t, writeResponse)
  const dates = new Set<string>()
  while (dates.size < 2) {
    const before = Date.now()
    for (const [, date = ''] of (await converse(port)).matchAll(/^Date: (.*)\r$/gm)) {
      const time = Date.parse(date)
      // A Date has whole seconds, and Node may renew it late.
      t.true(time > before - 10_000 && time <= Date.now())
      dates.add(date)
    }
  }
})

test('the status and its reason phrase are on the response, for loggers', async t => {
  const seen: unknown[] = []
  const prepare = (res: ServerResponse) => {
    res.on('finish', () => seen.push(`${res.statusCode} ${res.statusMessage} ${res.headersSent}`))
  }
  await converse((await open(t, writeResponse, { prepare })).port)
  t.deepEqual(seen.slice(0, 3), ['200 OK true', '200 OK true', '304 Not Modified true'])
})

test('a replaced writeHead is called each time', async t => {
  let calls = 0
  const prepare = (res: ServerResponse) => {
    const before = res.writeHead.bind(res)
    res.writeHead = ((...args: Parameters<typeof before>) => {
      calls++
      res.setHeader('X-Call', calls)
      return before(...args)
    }) as typeof before
  }
  const bytes = await converse((await open(t, writeResponse, { prepare })).port)
  t.deepEqual([...bytes.matchAll(/X-Call: (\d)/g)].map(String).length, 9)
  t.is(calls, 9)
})

test('a replaced end gets every body', async t => {
  const seen: string[] = []
  const prepare = (res: ServerResponse) => {
    const before = res.end.bind(res)
    res.end = ((...args: Parameters<typeof before>) => {
      seen.push(String(args[0] ?? ''))
      return before(...args)
    }) as typeof before
  }
  await converse((await open(t, writeResponse, { prepare })).port)
  t.deepEqual(seen, ['body', 'body', '', '', '', '', 'body', '', 'body'])
})

test('the head that Node keeps for loggers contains no body', async t => {
  const seen = new Set<string>()
  const prepare = (res: ServerResponse) => {
    res.on('finish', () => seen.add(String(Reflect.get(res, '_header')).replace(/^[^]*\r\n/, '')))
  }
  const { port, responses } = await open(t, writeResponse, { prepare })
  while (responses.GET.head?.withBody === undefined) await converse(port)
  t.deepEqual([...seen], [''])
})

test('a method replaced on the prototype before the module is loaded gets every head and every body', async t => {
  const child = `
    import http from 'node:http'
    const seen = { writeHead: 0, end: 0 }
    const { writeHead, end } = http.ServerResponse.prototype
    if (process.argv[1] === 'writeHead') http.ServerResponse.prototype.writeHead = function (...args) {
      seen.writeHead++
      return writeHead.apply(this, args)
    }
    else http.OutgoingMessage.prototype.end = function (...args) {
      if (String(args[0]) === 'body') seen.end++
      return end.apply(this, args)
    }
    const { prepareResponse, writeResponse } = await import(process.argv[2])
    const response = prepareResponse(200, [['Content-Length', '4']])
    const server = http.createServer((_, res) => writeResponse(res, response, Buffer.from('body')))
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
    const url = 'http://127.0.0.1:' + server.address().port
    for (let times = 0; times < 10; times++) await (await fetch(url)).text()
    console.log(seen[process.argv[1]])
    server.close()
    server.closeAllConnections()`
  const module = moduleFile('lib/assets/serving/write-response.ts')
  for (const name of ['writeHead', 'end']) {
    const args = [...LOADER, '--input-type=module', '--eval', child, name, module]
    const { stdout } = await run(process.execPath, args)
    t.deepEqual([name, stdout.trim()], [name, '10'])
  }
})

const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))

let changes = 0

const CASES: Readonly<Record<string, Case>> = {
  'nothing out of the ordinary': {},
  'a body of any bytes': { body: EVERY_BYTE },
  'a body of no bytes': { body: Buffer.alloc(0) },
  'a body that is as long as both may be': { body: Buffer.alloc(MAX_ONE_WRITE_BYTES, 'x') },
  'a body that is sent in several pieces': { body: Buffer.alloc(1 << 22, EVERY_BYTE) },
  'a client that ends the connection': { head: 'Connection: close\r\n' },
  'a client of HTTP/1.0': { version: '1.0' },
  'a client of HTTP/1.0 that keeps the connection': {
    version: '1.0',
    head: 'Connection: keep-alive\r\n'
  },
  'a client that waits for 100 and gets the response': { head: 'Expect: 100-continue\r\n' },
  'a header that was set before': { prepare: res => res.setHeader('X-Frame-Options', 'DENY') },
  'a Date of one’s own': { prepare: res => res.setHeader('Date', 'yesterday') },
  'no Date': { prepare: res => (res.sendDate = false) },
  'no Connection': { prepare: res => res.removeHeader('Connection') },
  'a connection that the server ends': { prepare: res => (res.shouldKeepAlive = false) },
  'a server that counts requests': { prepare: (_, server) => (server.maxRequestsPerSocket = 100) },
  'another timeout': {
    prepare: (_, server) => (server.keepAliveTimeout = 1000 * (1 + (changes++ % 3)))
  }
}

// What takes part in a head (`_storeHeader` and `writeHead` of Node 20 to 24), and a value of its own for each.
const FLAGS: Readonly<Record<string, unknown>> = {
  shouldKeepAlive: false,
  useChunkedEncodingByDefault: false,
  sendDate: false,
  chunkedEncoding: true,
  maxRequestsOnConnectionReached: true,
  _defaultKeepAlive: false,
  _hasBody: false,
  _keepAliveTimeout: 7000,
  _maxRequestsPerSocket: 7,
  _removedConnection: true,
  _removedContLen: true,
  _removedTE: true
}

for (const [flag, value] of Object.entries(FLAGS)) {
  test(`${flag} of one response does not affect another`, async t => {
    for (const rest of [0, 1, 2]) {
      const prepare = (res: ServerResponse) => {
        if (changes++ % 3 === rest) Reflect.set(res, flag, value)
      }
      changes = 0
      const expected = await sent(t, usual, { prepare })
      changes = 0
      t.deepEqual(await sent(t, writeResponse, { prepare }), expected)
    }
  })
}

for (const [title, one] of Object.entries(CASES)) {
  test(`a reused head gives the bytes that Node would send for ${title}`, async t => {
    changes = 0
    const expected = await sent(t, usual, one)
    changes = 0
    t.deepEqual(await sent(t, writeResponse, one), expected)
  })
}

const OTHER_FIELDS: Readonly<Record<string, Fields>> = {
  'its own Date': [['Date', 'yesterday']],
  'its own Connection': [['Connection', 'close']],
  'its own Keep-Alive': [['Keep-Alive', 'timeout=9']],
  'a field that the application adds': [['X-Frame-Options', 'DENY']],
  'no Content-Length': []
}

for (const [title, fields] of Object.entries(OTHER_FIELDS)) {
  test(`a response with ${title} has the bytes that Node would send, after one without`, async t => {
    const length: Fields = fields.length > 0 ? [['Content-Length', '4']] : []
    const seen: string[] = []
    for (const write of [usual, writeResponse]) {
      const { port, responses } = await open(t, write)
      Object.assign(responses, { HEAD: prepareResponse(200, [...fields, ...length]) })
      const bytes = (await converse(port)) + (await converse(port))
      seen.push(bytes.replaceAll(/^Date: .*GMT/gm, 'Date: now'))
    }
    t.is(seen[1], seen[0])
  })
}

test('S45 a value with a line break is rejected, after responses without', async t => {
  const failures: unknown[] = []
  const tryToWrite: Write = (res, response, body) => {
    const split = prepareResponse(200, [
      ['ETag', '"a"\r\nX: y'],
      ['Content-Length', '4']
    ])
    try {
      if (res.req.method === 'HEAD') writeResponse(res, split, body)
    } catch (error) {
      failures.push((error as NodeJS.ErrnoException).code)
    }
    writeResponse(res, response, body)
  }
  t.notRegex(await converse((await open(t, tryToWrite)).port), /^X: y/m)
  t.deepEqual(failures, ['ERR_INVALID_CHAR', 'ERR_INVALID_CHAR', 'ERR_INVALID_CHAR'])
})
