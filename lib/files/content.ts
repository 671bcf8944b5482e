// What a file is written from: bytes in memory, or another file.
import { readOpenFile, withFile, type OpenFile } from './disk.ts'

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
