// Checks the compressed copies and the deltas beside files; in a directory, also what a bundler's manifest names there
// and `keep` has brought.
import { basename, join } from 'node:path'
import { inParallel, once } from '../../runtime/concurrency.ts'
import { AssetError } from '../../runtime/errors.ts'
import { digestOfFile, isSameDigest } from '../../runtime/files/digest.ts'
import { CODINGS, withoutCodingExtension, compareFile } from '../../runtime/files/codings.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import { isCompressibleType } from '../../runtime/http/fields.ts'
import type { Problem } from '../../runtime/app/parts.ts'
import { faultOfDelta } from '../deltas/delta-faults.ts'
import { splitDelta } from '../deltas/delta-format.ts'
import { groupBy, openDirectory, versionKey, type BuiltDirectory } from '../deltas/directory.ts'
import { keptListIn } from '../vite/kept-files.ts'
import { findBuild, keptIn, requireList, type BuildFiles } from './build.ts'

/** The checked copies, and what is wrong. */
export interface CheckedCopies {
  /** The number of compressed copies and other representations. */
  readonly copies: number
  /** The number of copies that this Node cannot decompress, so they were not compared. */
  readonly unread: number
  /** The faults of files; none when no file is missing and every one is intact. */
  readonly problems: readonly Problem[]
}

/** The paths of problems are relative to the directory. */
export interface VerifyCopiesReport extends CheckedCopies {
  /** The real path of the directory. */
  readonly directory: string
  /** The number of files that the manifest of a build in it names; undefined if there is none. */
  readonly files?: number
}

const CONCURRENCY = 8

export async function verifyCopies(directory: string): Promise<VerifyCopiesReport> {
  const built = await openDirectory(directory)
  const build = await findBuild(built)
  const missing = build ? await missingIn(built, build) : []
  const kept = await keptProblems(built, build)
  const { problems, ...counts } = await checkFiles(built.path, [...built.files])
  return {
    directory: built.path,
    ...(build && { files: build.files.size }),
    ...counts,
    problems: [...missing, ...kept, ...problems]
  }
}

async function missingIn({ path: top }: BuiltDirectory, build: BuildFiles): Promise<Problem[]> {
  const message = `is missing, and ${pathFrom(top, build.manifest)} names it`
  const missing = await inParallel([...build.files].toSorted(), CONCURRENCY, async path =>
    (await statOf(join(top, path)))?.isFile() ? [] : [{ path, message }]
  )
  return missing.flat()
}

/** Checks the files that `keep` has brought, and their list. */
async function keptProblems(
  built: BuiltDirectory,
  build: BuildFiles | undefined
): Promise<Problem[]> {
  try {
    if (build) await requireList(built, build)
    const kept = [...(await keptIn(built))].filter(([file]) => !build?.files.has(file))
    const found = await inParallel(kept, CONCURRENCY, async ([path, { digest }]) => {
      if (!built.files.has(path)) return [{ path, message: `is missing, ${KEEP_AGAIN}` }]
      const isIntact = !digest || isSameDigest(await digestOfFile(join(built.path, path)), digest)
      return isIntact ? [] : [{ path, message: `is damaged, ${KEEP_AGAIN}` }]
    })
    return found.flat()
  } catch (error) {
    if (!(error instanceof AssetError)) throw error
    return [{ path: basename(keptListIn(built.path)), message: `cannot be used: ${error.message}` }]
  }
}

const KEEP_AGAIN =
  "and was kept from an earlier build: run 'npx koa-fresh-assets keep' with that build again"

/**
 * Checks the copies and deltas in a directory that may contain anything.
 * @param top is its real path
 * @param files are the paths of those in it, relative to it
 */
export async function checkFiles(top: string, files: readonly string[]): Promise<CheckedCopies> {
  const known = new Set(files)
  const versions = groupBy(files, versionKey)
  const check = async (path: string): Promise<Checked[]> => {
    const file = join(top, path)
    const delta = splitDelta(path)
    const original = delta?.name ?? withoutCodingExtension(path)
    // It may be a link.
    const isAlone =
      original !== path && !known.has(original) && !(await statOf(join(top, original)))
    if (delta) {
      const others = (versions.get(versionKey(original) ?? '') ?? []).map(each => join(top, each))
      const message = isAlone ? NO_ORIGINAL : await faultOfDelta(file, join(top, original), others)
      return [{ path, message }]
    }
    const copies = await checkCopies(path, file, extension => known.has(path + extension))
    const isOrphan = isAlone && !isArchive(original, known)
    return isOrphan ? [...copies, { path, message: NO_ORIGINAL }] : copies
  }
  const checked = (await inParallel(files, CONCURRENCY, check)).flat()
  return {
    copies: checked.length,
    unread: checked.filter(({ isUnread }) => isUnread).length,
    problems: problemsIn(checked).toSorted((a, b) => (a.path < b.path ? -1 : 1))
  }
}

export interface Checked {
  readonly path: string
  /** What is wrong, to be read after the path: `is missing`. */
  readonly message: string | undefined
  /** True if it was not checked: this Node lacks the coding. */
  readonly isUnread?: boolean
}

export function problemsIn(checked: readonly Checked[]): Problem[] {
  return checked.flatMap(({ path, message }) => (message === undefined ? [] : { path, message }))
}

/** Checks the compressed copies that exist. They are optional, but an existing one is served. */
export async function checkCopies(
  path: string,
  file: string,
  isCopy: (extension: string) => boolean
): Promise<Checked[]> {
  const original = await statOf(file)
  if (!original) return []
  const digest = once(() => digestOfFile(file))
  const checked = CODINGS.map(async (coding): Promise<Checked[]> => {
    const [copy, at] = [file + coding.extension, path + coding.extension]
    const stats = isCopy(coding.extension) ? await statOf(copy) : undefined
    if (!stats) return []
    if (!stats.isFile()) return [{ path: at, message: 'is not a file' }]
    const expected = { size: Number(original.size), digest: await digest() }
    const comparison = await compareFile(expected, copy, coding)
    const isUnread = comparison === undefined || comparison === 'unsupported'
    return [{ path: at, message: isUnread ? undefined : FAULTS[comparison], isUnread }]
  })
  return (await Promise.all(checked)).flat()
}

const FAULTS = {
  equal: undefined,
  different: 'does not decompress to the original',
  damaged: 'cannot be decompressed'
}
const NO_ORIGINAL = 'has no original, so it is not needed: remove it'

/** Archives have the format of gzip as well: `sitemap.xml.gz` is one, unless a `.br` is beside it. */
function isArchive(original: string, known: ReadonlySet<string>): boolean {
  const others = CODINGS.filter(({ name }) => name !== 'gzip')
  const isCopied = others.some(({ extension }) => known.has(original + extension))
  return !isCompressibleType(original) || !isCopied
}
