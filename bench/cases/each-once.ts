// A client that requests each of many paths once. wrk cannot: it always runs for whole seconds.
import { once } from 'node:events'
import { connect } from 'node:net'

interface Load {
  readonly connections: number
  /** Of every body, in bytes. */
  readonly size: number
}

/** Shares the paths among keep-alive connections; resolves to the seconds that all responses took. */
export async function requestEachOnce(
  port: number,
  paths: readonly string[],
  { connections, size }: Load
): Promise<number> {
  const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1'))
  await Promise.all(sockets.map(socket => once(socket, 'connect')))
  const queue = paths.values()
  const start = performance.now()
  await Promise.all(
    sockets.map(
      socket =>
        new Promise<void>((resolve, reject) => {
          let missing = 0
          const ask = () => {
            const { value: path, done } = queue.next()
            if (done) return resolve()
            missing = Infinity
            return socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
          }
          socket.on('data', (piece: Buffer) => {
            if (missing === Infinity) missing = size + headLength(piece, size)
            missing -= piece.length
            if (missing === 0) ask()
          })
          socket.once('error', reject)
          socket.once('close', () => reject(new Error('the server closed a connection')))
          ask()
        })
    )
  )
  const seconds = (performance.now() - start) / 1000
  for (const socket of sockets) socket.destroy()
  return seconds
}

/** @throws when the response is not a whole file of that size */
function headLength(piece: Buffer, size: number): number {
  const end = piece.indexOf('\r\n\r\n')
  const head = piece.toString('latin1', 0, end)
  const [, length] = /^content-length: (\d+)/im.exec(head) ?? []
  if (head.startsWith('HTTP/1.1 200 ') && Number(length) === size) return end + 4
  throw new Error(`unexpected response: ${head}`)
}
