// The checksums of an asset's bytes.
import { createHash } from 'node:crypto'
import { streamOf } from './file-stream.ts'
import { withOriginal, type Content } from './content.ts'
import { DIGEST_LENGTH } from './digest.ts'

/** Of Subresource Integrity. */
export const INTEGRITY_ALGORITHMS = ['sha256', 'sha384', 'sha512'] as const
export type IntegrityAlgorithm = (typeof INTEGRITY_ALGORITHMS)[number]

export interface Checksums {
  readonly digest: string
  readonly integrity: readonly string[]
  /** In bytes. */
  readonly size: number
}

export async function checksumsOf(
  content: Content,
  algorithms: readonly IntegrityAlgorithm[]
): Promise<Checksums> {
  if (!('copyOf' in content)) return checksumsOfBytes(content, algorithms)
  const hashes = ['sha256', ...algorithms].map(name => createHash(name))
  let size = 0
  await withOriginal(content, async opened => {
    for await (const chunk of streamOf(opened)) {
      size += (chunk as Buffer).length
      for (const hash of hashes) hash.update(chunk as Buffer)
    }
  })
  const [digest, ...others] = hashes.map(hash => hash.digest())
  return {
    digest: (digest as Buffer).toString('hex').slice(0, DIGEST_LENGTH),
    integrity: others.map((sum, at) => `${algorithms[at]}-${sum.toString('base64')}`),
    size
  }
}

export function checksumsOfBytes(
  bytes: Uint8Array,
  algorithms: readonly IntegrityAlgorithm[]
): Checksums {
  const sum = (name: string) => createHash(name).update(bytes).digest()
  return {
    digest: sum('sha256').toString('hex').slice(0, DIGEST_LENGTH),
    integrity: algorithms.map(name => `${name}-${sum(name).toString('base64')}`),
    size: bytes.length
  }
}
