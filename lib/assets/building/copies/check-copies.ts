// Whether the compressed copies beside a file are copies of it.
import { createReadStream } from 'node:fs'
import type { Coding } from '../../../files/codings.ts'
import { compareCopy } from '../../../files/compress.ts'
import { digestOfFile } from '../../../files/digest.ts'
import { statOf } from '../../../files/disk.ts'

/** A compressed copy that exists. */
export interface CheckedCopy {
  readonly coding: Coding
  /** What is wrong with it, to be read after its path: `cannot be decompressed`. */
  readonly fault: string | undefined
  /** Whether it was decompressed: this Node may be unable to. */
  readonly isRead: boolean
}

/** Copies are optional, but an existing one is served. */
export async function checkCopies(
  file: string,
  codings: readonly Coding[]
): Promise<readonly CheckedCopy[]> {
  const original = await statOf(file)
  if (!original) return []
  let digest: Promise<string> | undefined
  const check = async (coding: Coding): Promise<CheckedCopy | undefined> => {
    const copy = file + coding.extension
    const stats = await statOf(copy)
    if (!stats) return undefined
    const fault = (text: string) => ({ coding, fault: text, isRead: true })
    if (!stats.isFile()) return fault('is not a file')
    if (stats.mtimeNs < original.mtimeNs) {
      return fault('is older than the original, so it is not served')
    }
    digest ??= digestOfFile(file)
    const expected = { size: Number(original.size), digest: await digest }
    const comparison = await compareCopy(expected, () => createReadStream(copy), coding)
    if (comparison === 'different') return fault('does not decompress to the original')
    if (comparison === 'damaged') return fault('cannot be decompressed')
    return { coding, fault: undefined, isRead: comparison === 'equal' }
  }
  const checked = await Promise.all(codings.map(check))
  return checked.filter(copy => copy !== undefined)
}
