// The exit to the socket. A response with a reused head has the bytes that Node would have sent, and instrumentation is
// not bypassed. The specs of serving pass without it: `node .ci/without.js socket`.
import { execFile } from 'node:child_process'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { MAX_ONE_WRITE_BYTES } from '../../../lib/runtime/serving/stream.ts'
import { prepareResponse, type Fields } from '../../../lib/runtime/serving/fields.ts'
import { type PreparedResponse } from '../../../lib/runtime/serving/fields.ts'
import { writeResponse } from '../../../lib/runtime/serving/socket.ts'
import { exchange, LOADER, moduleFile, open as openServer, test } from '../../support/index.ts'
import { until, type ExecutionContext } from '../../support/index.ts'

const run = promisify(execFile)

const FIELDS = Object.entries({
  ETag: '"x"',
  Vary: 'Accept-Encoding',
  'Content-Type': 'text/plain',
  'X-City': 'Århus \u0080\u00ff'
})

/** What happens on the server, and what the client sends beside its requests. */
interface Case {
  /** @param count of the responses before it */
  readonly prepare?: (res: ServerResponse, server: Server, count: number) => void
  readonly head?: string
  readonly version?: string
  readonly body?: Buffer
  /** In place of those of the response to HEAD, which follows one without them. */
  readonly fields?: Fields
}

type Write = (res: ServerResponse, response: PreparedResponse, body?: Buffer) => void

const usual: Write = (res, { status, fields }, body) =>
  res.writeHead(status, fields.flat()).end(body)

/** A server that sends the same response every time. */
async function open(t: ExecutionContext, write: Write, one: Case = {}) {
  const { prepare, body = Buffer.from('body'), fields } = one
  const found = prepareResponse(200, [...FIELDS, ['Content-Length', String(body.length)]])
  const other = fields ? prepareResponse(200, fields) : found
  const responses = { GET: found, HEAD: other, PUT: prepareResponse(304, FIELDS) }
  const server = createServer()
  let count = 0
  const respond = (req: { method?: string }, res: ServerResponse) => {
    prepare?.(res, server, count++)
    const method = req.method as keyof typeof responses
    write(res, responses[method], method === 'GET' ? body : undefined)
  }
  server.on('request', respond).on('checkContinue', respond)
  return openServer(t, server)
}

/** All on one connection, as long as the server keeps it. */
async function converse(port: number, { head = '', version = '1.1' }: Case = {}): Promise<string> {
  const methods = ['GET', 'GET', 'PUT', 'HEAD', 'HEAD', 'PUT', 'GET', 'HEAD']
  const requests = methods.map(method => `${method} / HTTP/${version}\r\nHost: x\r\n${head}\r\n`)
  const last = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  return (await exchange(port, [...requests, last].join(''))).toString('latin1')
}

async function sent(t: ExecutionContext, write: Write, one: Case): Promise<string[]> {
  const port = await open(t, write, one)
  const conversations = [await converse(port, one), await converse(port, one)]
  return conversations.map(bytes => bytes.replaceAll(/^Date: .*GMT/gm, 'Date: now'))
}

test('the Date field advances', async t => {
  const port = await open(t, writeResponse)
  const dates = new Set<string>()
  await until(async () => {
    const before = Date.now()
    for (const [, date = ''] of (await converse(port)).matchAll(/^Date: (.*)\r$/gm)) {
      const time = Date.parse(date)
      // A Date has whole seconds, and Node may renew it late.
      t.true(time > before - 10_000 && time <= Date.now())
      dates.add(date)
    }
    return dates.size > 1
  }, 'the next second')
})

test('code that replaces writeHead or end of a response sees every head or body', async t => {
  let calls = 0
  const seen: string[] = []
  const replaceHead = (res: ServerResponse) => {
    const before = res.writeHead.bind(res)
    res.writeHead = ((...args: Parameters<typeof before>) => {
      res.setHeader('X-Call', ++calls)
      return before(...args)
    }) as typeof before
  }
  const replaceEnd = (res: ServerResponse) => {
    const before = res.end.bind(res)
    res.end = ((...args: Parameters<typeof before>) => {
      seen.push(String(args[0] ?? ''))
      return before(...args)
    }) as typeof before
  }
  const port = await open(t, writeResponse, { prepare: replaceHead })
  t.is([...(await converse(port)).matchAll(/X-Call: \d/g)].length, 9)
  t.is(calls, 9)
  await converse(await open(t, writeResponse, { prepare: replaceEnd }))
  t.deepEqual(seen, ['body', 'body', '', '', '', '', 'body', '', 'body'])
})

test('code that replaced writeHead or end on the prototype before sees every head or body', async t => {
  const child = `
    import { once } from 'node:events'
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
    const { writeResponse } = await import(process.argv[2])
    const response = { status: 200, fields: [['Content-Length', '4']], said: new Set() }
    const server = http.createServer((_, res) => writeResponse(res, response, Buffer.from('body')))
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address()
    for (let times = 0; times < 10; times++) {
      const [response] = await once(http.get({ port }), 'response')
      await response.toArray()
    }
    console.log(seen[process.argv[1]])
    server.close()
    server.closeAllConnections()`
  const module = pathToFileURL(moduleFile('lib/runtime/serving/socket.ts')).href
  for (const name of ['writeHead', 'end']) {
    const args = [...LOADER, '--input-type=module', '--eval', child, name, module]
    const { stdout } = await run(process.execPath, args)
    t.deepEqual([name, stdout.trim()], [name, '10'])
  }
})

const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))

const LENGTH = ['Content-Length', '4'] as const

const REUSED: Readonly<Record<string, Case>> = {
  'nothing out of the ordinary': {},
  'a body of any bytes': { body: EVERY_BYTE },
  'a body of no bytes': { body: Buffer.alloc(0) },
  'a body that is as long as both may be': { body: Buffer.alloc(MAX_ONE_WRITE_BYTES, 'x') },
  'a body that is sent in several pieces': { body: Buffer.alloc(1 << 22, EVERY_BYTE) },
  'another timeout': {
    prepare: (_, server, count) => (server.keepAliveTimeout = 1000 * (1 + (count % 3)))
  },
  'its own Date': { fields: [['Date', 'yesterday'], LENGTH] },
  'its own Connection': { fields: [['Connection', 'close'], LENGTH] },
  'its own Keep-Alive': { fields: [['Keep-Alive', 'timeout=9'], LENGTH] },
  'a field that the application adds': { fields: [['X-Frame-Options', 'DENY'], LENGTH] },
  'no Content-Length': { fields: [] }
}
/** No head is used twice. */
const MADE_ANEW: Readonly<Record<string, Case>> = {
  'a client that ends the connection': { head: 'Connection: close\r\n' },
  'a client of HTTP/1.0': { version: '1.0' },
  'a client of HTTP/1.0 that stays': { version: '1.0', head: 'Connection: keep-alive\r\n' },
  'a client that waits for 100 and gets the response': { head: 'Expect: 100-continue\r\n' },
  'a header that was set before': { prepare: res => res.setHeader('X-Frame-Options', 'DENY') },
  'a Date of one’s own': { prepare: res => res.setHeader('Date', 'yesterday') },
  'a server that counts requests': { prepare: (_, server) => (server.maxRequestsPerSocket = 100) }
}

for (const [title, one] of Object.entries({ ...REUSED, ...MADE_ANEW })) {
  const isNew = title in MADE_ANEW
  const kind = isNew ? 'new' : 'reused'
  test(`a ${kind} head has the bytes that Node would send for ${title}`, async t => {
    const made: boolean[] = []
    const prepare: Case['prepare'] = (res, server, count) => {
      one.prepare?.(res, server, count)
      made.push(false)
      const store = Reflect.get(res, '_storeHeader') as () => void
      Reflect.set(res, '_storeHeader', (...args: []) => {
        made[count] = true
        store.apply(res, args)
      })
    }
    t.deepEqual(await sent(t, writeResponse, { ...one, prepare }), await sent(t, usual, one))
    t.is(made.every(Boolean), isNew)
  })
}

test('a header with a line break is rejected, also after responses without one', async t => {
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
  t.notRegex(await converse(await open(t, tryToWrite)), /^X: y/m)
  t.deepEqual(failures, ['ERR_INVALID_CHAR', 'ERR_INVALID_CHAR', 'ERR_INVALID_CHAR'])
})
