// Compares the compressed copies in a directory with their originals.
import { join } from 'node:path'
import { inParallel } from '../../../concurrency.ts'
import { CODINGS, withoutCodingExtension } from '../../../files/codings.ts'
import { isCompressibleType } from '../../../http/media-type.ts'
import { statOf } from '../../../files/disk.ts'
import type { VerifyProblem } from '../verify.ts'
import { splitDelta } from '../../../files/deltas/delta-file.ts'
import { faultOfDelta } from '../deltas/check-delta.ts'
import { checkCopies } from './check-copies.ts'
import { openDirectory } from './directory.ts'

export interface VerifyCopiesReport {
  /** Real path of the directory. */
  readonly directory: string
  /** The number of compressed copies in it. */
  readonly copies: number
  /** The number of copies that this Node cannot decompress, so nobody compared them. */
  readonly unread: number
  /** Paths are relative to the directory. Empty when every copy is intact. */
  readonly problems: readonly VerifyProblem[]
}

const CONCURRENCY = 8

/**
 * Decompresses every compressed copy (`.br`, `.zst`, `.gz`) in a directory and compares it with its
 * original, and checks every delta (`.dcz`) by its seal. Reports those that are damaged, of other bytes,
 * older than their original, or without one; a `.gz` by itself counts as an archive. Writes nothing.
 * Dotfiles and symbolic links are skipped.
 *
 * @param directory absolute, or relative to the working directory
 * @throws TypeError for anything but a path
 * @throws AssetError with the code `directory-unusable` for a directory that does not exist, contains a
 *   `package.json`, or nothing that can be served
 * @example
 * const { problems } = await verifyCopies('dist')
 */
export async function verifyCopies(directory: string): Promise<VerifyCopiesReport> {
  const { path: top, files } = await openDirectory(directory)
  const known = new Set(files)
  const codingsBeside = (path: string) =>
    CODINGS.filter(({ extension }) => known.has(path + extension))
  const originals = files.filter(path => codingsBeside(path).length > 0)
  const checked = await inParallel(originals, CONCURRENCY, async path => {
    const copies = await checkCopies(join(top, path), codingsBeside(path))
    return copies.map(copy => ({ ...copy, path: path + copy.coding.extension }))
  })
  const suspects = files.filter(path => mayBeOrphan(path, known))
  const orphans = await inParallel(suspects, CONCURRENCY, async path => {
    // The original may be a link.
    const original = await statOf(join(top, withoutCodingExtension(path)))
    return original ? [] : [{ path, message: NO_ORIGINAL }]
  })
  const deltas = await inParallel(files, CONCURRENCY, path => checkDelta(top, path))
  const copies = [...checked.flat(), ...deltas.flat()]
  const faults = copies.flatMap(({ path, fault }) =>
    fault === undefined ? [] : [{ path, message: fault }]
  )
  const problems = [...faults, ...orphans.flat()]
  return {
    directory: top,
    copies: copies.length + orphans.flat().length,
    unread: copies.filter(({ isRead }) => !isRead).length,
    problems: problems.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  }
}

async function checkDelta(top: string, path: string) {
  const split = splitDelta(path)
  if (!split) return []
  const [delta, original] = [join(top, path), join(top, split.name)]
  const isOrphan = (await statOf(original)) === undefined
  const fault = isOrphan
    ? NO_ORIGINAL
    : await faultOfDelta(delta, split.digest, original, undefined)
  return [{ path, fault, isRead: true }]
}

const NO_ORIGINAL = 'has no original, so nobody needs it: remove it'

/** Unlike the others, gzip is a format for archives as well: `sitemap.xml.gz` is one, unless a `.br` is beside it. */
function mayBeOrphan(path: string, known: ReadonlySet<string>): boolean {
  const original = withoutCodingExtension(path)
  if (original === path || known.has(original) || !isCompressibleType(original)) return false
  const others = CODINGS.filter(({ name }) => name !== 'gzip')
  return others.some(({ extension }) => known.has(original + extension))
}
