/** Listens on the port, explains why if it cannot, and exits at once on Ctrl-C. */
import type { AddressInfo, Server } from 'node:net'

export function listen(server: Server, onListening: (address: string) => void): void {
  const host = process.env.HOST || '127.0.0.1'
  const port = portFrom(process.env.PORT || '3000')
  server.listen(port, host, () => onListening(urlOf(server.address())))

  server.once('error', error => fail(whyNot(error, host, port)))

  // Closing the server first would wait for browsers that keep their connections open.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0))
}

function portFrom(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  return fail(`PORT must be a whole number from 0 to 65535, got "${text}". Try PORT=3000.`)
}

function whyNot(error: NodeJS.ErrnoException, host: string, port: number): string {
  const notOurs = `HOST=${host} is not an address of this machine. Try HOST=127.0.0.1.`
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} is in use. Try another one, or PORT=0 for any free port.`,
    EACCES: `Port ${port} needs more privileges. Try one from 1024 on, such as PORT=3000.`,
    EADDRNOTAVAIL: notOurs,
    ENOTFOUND: notOurs,
    EAI_AGAIN: notOurs
  }
  return reasons[error.code ?? ''] ?? `Cannot listen on ${host}, port ${port}: ${error.message}`
}

function urlOf(bound: AddressInfo | string | null): string {
  if (bound === null || typeof bound === 'string') return String(bound)
  const { address, family, port } = bound
  const everywhere = address === '0.0.0.0' || address === '::'
  const name = family === 'IPv6' ? `[${address}]` : address
  return `http://${everywhere ? 'localhost' : name}:${port}`
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
