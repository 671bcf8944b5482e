// WebSockets through nginx: base.spec.ts has an edit that Vite in the process sends through one.
import { once } from 'node:events'
import { createServer, request, type IncomingHttpHeaders } from 'node:http'
import { test } from '../support/test.ts'
import { makeProject, open } from '../support/site.ts'
import { nginxInFront } from './in-front.ts'

/** Asks for another protocol; the status of the answer. */
async function upgrade(port: number, protocol: string): Promise<number | undefined> {
  const headers = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: protocol }
  const asked = request({ port, host: '127.0.0.1', path: '/socket', headers }).end()
  const [{ statusCode }] = (await Promise.race([
    once(asked, 'response'),
    once(asked, 'upgrade')
  ])) as [{ statusCode?: number }]
  asked.destroy()
  return statusCode
}

for (const kind of ['proxy', 'files'] as const) {
  test(`nginx passes the upgrade to a WebSocket on, and to nothing else (${kind})`, async t => {
    const seen: IncomingHttpHeaders[] = []
    const server = createServer((_, res) => res.end('page'))
    server.on('upgrade', ({ headers }, socket) => {
      seen.push(headers)
      socket.end(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
      )
    })
    const root = kind === 'files' ? makeProject(t) : undefined
    const port = await nginxInFront(t, root, await open(t, server))
    t.is(await upgrade(port, 'websocket'), 101)
    t.is(await upgrade(port, 'WebSocket'), 101)
    t.is(await upgrade(port, 'h2c'), 200)
    t.deepEqual(
      seen.map(({ connection, upgrade: to }) => [connection, to]),
      [
        ['upgrade', 'websocket'],
        ['upgrade', 'websocket']
      ]
    )
  })
}
