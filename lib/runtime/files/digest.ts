// Computes the digest of bytes, the first characters of their SHA-256 in hex, and their integrity hashes.
import { createHash, hash } from 'node:crypto'
import { streamOf, withOriginal, type Content } from './open-file.ts'

export const DIGEST_LENGTH = 32

export const DIGEST_PATTERN = `[0-9a-f]{${DIGEST_LENGTH}}`

export function digestOf(bytes: Uint8Array | string): string {
  return hash('sha256', bytes).slice(0, DIGEST_LENGTH)
}

export function digestOfHash(sha256: Buffer): string {
  return sha256.toString('hex').slice(0, DIGEST_LENGTH)
}

export async function digestOfStream(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const sha256 = createHash('sha256')
  for await (const chunk of chunks) sha256.update(chunk)
  return digestOfHash(sha256.digest())
}

export function digestOfFile(path: string): Promise<string> {
  return withOriginal({ copyOf: path }, file => digestOfStream(streamOf(file)))
}

export const INTEGRITY_ALGORITHMS = ['sha256', 'sha384', 'sha512'] as const
export type IntegrityAlgorithm = (typeof INTEGRITY_ALGORITHMS)[number]

export interface Checksums {
  readonly digest: string
  /** `sha384-<base64>`, one for each algorithm. */
  readonly integrity: readonly string[]
  readonly size: number
}

type Algorithms = readonly IntegrityAlgorithm[]

export function checksumsOfBytes(bytes: Uint8Array, algorithms: Algorithms): Checksums {
  const integrity = algorithms.map(name => `${name}-${hash(name, bytes, 'base64')}`)
  return { digest: digestOf(bytes), integrity, size: bytes.length }
}

export async function checksumsOf(content: Content, algorithms: Algorithms): Promise<Checksums> {
  if (!('copyOf' in content)) return checksumsOfBytes(content, algorithms)
  const sha256 = createHash('sha256')
  const sums = algorithms.map(name => createHash(name))
  let size = 0
  await withOriginal(content, async original => {
    for await (const piece of streamOf(original) as AsyncIterable<Buffer>) {
      for (const sum of [sha256, ...sums]) sum.update(piece)
      size += piece.length
    }
  })
  const integrity = algorithms.map((name, at) => `${name}-${sums[at]?.digest('base64')}`)
  return { digest: digestOfHash(sha256.digest()), integrity, size }
}
