// The digest of bytes: SHA-256, the first 32 hex characters.
import { createHash, hash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'

/** In hex characters. */
export const DIGEST_LENGTH = 32

export function digestOf(bytes: Uint8Array | string): string {
  return hash('sha256', bytes).slice(0, DIGEST_LENGTH)
}

/** Of what was hashed piece by piece. */
export function shortened(hashed: Hash): string {
  return hashed.digest('hex').slice(0, DIGEST_LENGTH)
}

export async function digestOfStream(chunks: AsyncIterable<Buffer>): Promise<string> {
  const hashing = createHash('sha256')
  for await (const chunk of chunks) hashing.update(chunk)
  return shortened(hashing)
}

export function digestOfFile(path: string): Promise<string> {
  return digestOfStream(createReadStream(path))
}
