// The digest of bytes: the first characters of their SHA-256 in hex.
import { createHash, hash } from 'node:crypto'
import { createReadStream } from 'node:fs'

// 128 bits.
const LENGTH = 32

/** Matches a digest, as the source of a regular expression. */
export const DIGEST_PATTERN = `[0-9a-f]{${LENGTH}}`

export function digestOf(bytes: Uint8Array | string): string {
  return hash('sha256', bytes).slice(0, LENGTH)
}

/** The digest of bytes whose SHA-256 is known. */
export function digestOfHash(sha256: Buffer): string {
  return sha256.toString('hex').slice(0, LENGTH)
}

/** The digest of bytes that arrive in pieces. */
export class Digester {
  readonly #hash = createHash('sha256')

  update(piece: Uint8Array | string): this {
    this.#hash.update(piece)
    return this
  }

  /** May be called once. */
  finish(): string {
    return this.#hash.digest('hex').slice(0, LENGTH)
  }
}

/** The digest of a set: the order in which its members are added does not matter. */
export class SetDigester {
  readonly #sum = Buffer.alloc(LENGTH / 2)

  add(member: string): void {
    const digest = Buffer.from(digestOf(member), 'hex')
    for (const [at, byte] of digest.entries()) this.#sum[at] = (this.#sum[at] ?? 0) ^ byte
  }

  finish(): string {
    return this.#sum.toString('hex')
  }
}

export async function digestOfStream(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const digester = new Digester()
  for await (const chunk of chunks) digester.update(chunk)
  return digester.finish()
}

export function digestOfFile(path: string): Promise<string> {
  return digestOfStream(createReadStream(path))
}
