// What a file is written from: bytes in memory, or another file. And its digest, integrity hashes and size.
import { createHash } from 'node:crypto'
import { digestOfHash } from './digest.ts'
import { readOpenFile, withFile, type OpenFile } from './disk.ts'
import { streamOf } from './file-stream.ts'

export type Content = Uint8Array | Copy

export interface Copy {
  readonly copyOf: string
  /** Checks the file that was opened under that name: a link may have been swapped meanwhile. */
  readonly isAllowed?: ((file: OpenFile) => Promise<boolean>) | undefined
}

/**
 * Opens the original of a copy for `use`.
 * @throws ENOENT when it does not exist or may not be copied
 */
export async function withOriginal<T>(
  { copyOf, isAllowed }: Copy,
  use: (original: OpenFile) => Promise<T>
): Promise<T> {
  const used = await withFile(copyOf, async original =>
    !isAllowed || (await isAllowed(original)) ? { result: await use(original) } : undefined
  )
  if (used) return used.result
  const error = new Error(`ENOENT: no such file to copy, open '${copyOf}'`)
  throw Object.assign(error, { code: 'ENOENT', syscall: 'open', path: copyOf })
}

export async function readContent(content: Content): Promise<Uint8Array> {
  if (!('copyOf' in content)) return content
  return withOriginal(content, async original => (await readOpenFile(original)).bytes)
}

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
    const sum = summing(algorithms)
    for await (const piece of streamOf(original)) sum.add(piece as Buffer)
    return sum.finish()
  })
}

export function checksumsOfBytes(
  bytes: Uint8Array,
  algorithms: readonly IntegrityAlgorithm[]
): Checksums {
  const sum = summing(algorithms)
  sum.add(bytes)
  return sum.finish()
}

function summing(algorithms: readonly IntegrityAlgorithm[]) {
  const sha256 = createHash('sha256')
  const hashes = algorithms.map(name => ({ name, hash: createHash(name) }))
  let size = 0
  return {
    add(piece: Uint8Array): void {
      for (const hash of [sha256, ...hashes.map(each => each.hash)]) hash.update(piece)
      size += piece.length
    },
    finish: (): Checksums => ({
      digest: digestOfHash(sha256.digest()),
      integrity: hashes.map(({ name, hash }) => `${name}-${hash.digest('base64')}`),
      size
    })
  }
}
