// The digest, integrity hashes and size of an asset, computed in one pass.
import { createHash } from 'node:crypto'
import { withOriginal, type Content } from './content.ts'
import { Digester } from './digest.ts'
import { streamOf } from './file-stream.ts'

/** The hash functions of Subresource Integrity. */
export const INTEGRITY_ALGORITHMS = ['sha256', 'sha384', 'sha512'] as const
export type IntegrityAlgorithm = (typeof INTEGRITY_ALGORITHMS)[number]

export interface Checksums {
  readonly digest: string
  /** `sha384-<base64>`, one for each algorithm. */
  readonly integrity: readonly string[]
  /** In bytes. */
  readonly size: number
}

export async function checksumsOf(
  content: Content,
  algorithms: readonly IntegrityAlgorithm[]
): Promise<Checksums> {
  if (!('copyOf' in content)) return checksumsOfBytes(content, algorithms)
  return withOriginal(content, async original => {
    const summing = new Summing(algorithms)
    for await (const chunk of streamOf(original)) summing.update(chunk as Buffer)
    return summing.finish()
  })
}

export function checksumsOfBytes(
  bytes: Uint8Array,
  algorithms: readonly IntegrityAlgorithm[]
): Checksums {
  return new Summing(algorithms).update(bytes).finish()
}

class Summing {
  readonly #digester = new Digester()
  readonly #hashes
  #size = 0

  constructor(algorithms: readonly IntegrityAlgorithm[]) {
    this.#hashes = algorithms.map(name => ({ name, hash: createHash(name) }))
  }

  update(piece: Uint8Array): this {
    this.#digester.update(piece)
    for (const { hash } of this.#hashes) hash.update(piece)
    this.#size += piece.length
    return this
  }

  finish(): Checksums {
    const integrity = this.#hashes.map(({ name, hash }) => `${name}-${hash.digest('base64')}`)
    return { digest: this.#digester.finish(), integrity, size: this.#size }
  }
}
