// Reads all versioned assets in a loop, from several servers, and tells how it went.
import { Agent, request } from 'node:http'
import { assetAt, COUNT, versionOf } from './versions.ts'

export interface Readings {
  readonly reads: number
  readonly versions: number
  /** What was wrong, the first few. */
  readonly faults: readonly string[]
}

const [ports, wanted] = process.argv.slice(2).map(text => JSON.parse(text) as unknown) as [
  number[],
  number
]
const agent = new Agent({ keepAlive: true, maxSockets: 12 })
const faults: string[] = []
const versions = new Set<string>()
let started = 0
let reads = 0

function get(port: number, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, agent }, response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() })
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

async function readOne(turn: number): Promise<void> {
  // Each port gets every asset, in an order of its own.
  const port = ports[turn % ports.length] ?? 0
  const at = (turn * 7) % COUNT
  const { name } = assetAt(at)
  const { status, body } = await get(port, `/assets/${name}`)
  const version = versionOf(at, body)
  if (status !== 200 || version === undefined) {
    faults.push(
      `${name} from server ${turn % ports.length}: ${status}, ${body.length} ${body.slice(0, 80)}`
    )
  }
  versions.add(`${at} ${version}`)
}

async function readOn(): Promise<void> {
  while (started < wanted && faults.length < 10) {
    const turn = started++
    await readOne(turn).catch((error: Error) => faults.push(error.message))
    if (++reads % 50 === 0) process.send?.('fifty more')
  }
}

process.send?.('ready')
await Promise.all(Array.from({ length: 12 }, readOn))
process.send?.({ reads, versions: versions.size, faults } satisfies Readings)
process.on('disconnect', () => process.exit())
