// Checks copies and deltas beside files; in a directory, also the files that its manifest names or `keep` has copied.
import { join } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { ifAssetError, whyUnreadable } from '../../runtime/errors.ts'
import { digestOfFile } from '../../runtime/files/digest.ts'
import { CODINGS, compareFile, withoutCodingExtension } from '../../runtime/files/codings.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import { isCompressibleType } from '../../runtime/http/fields.ts'
import type { Problem } from '../../runtime/app/extra.ts'
import { faultOfDelta } from '../deltas/write-deltas.ts'
import { groupBy } from '../../runtime/lists.ts'
import { splitDelta, versionKey } from '../deltas/delta-format.ts'
import { openDirectory, type BuiltDirectory } from '../deltas/directory.ts'
import { KEPT_LIST } from '../vite/kept-files.ts'
import { findBuild, keptIn, requireList, type BuildFiles } from './build.ts'

export interface CheckedCopies {
  /** The number of compressed copies and other representations. */
  readonly copies: number
  /** The number of copies that this Node cannot decompress, so they were not compared. */
  readonly unread: number
  /** The faults of files; none if no file is missing and every one is intact. */
  readonly problems: readonly Problem[]
}

/** The report on a directory. The paths of problems are relative to it. */
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
  const kept = await keptProblems(built, build).catch(
    ifAssetError(({ message }) => [{ path: KEPT_LIST, message: `cannot be used: ${message}` }])
  )
  const { problems, ...counts } = await checkFiles(built.path, [...built.files])
  return {
    directory: built.path,
    ...(build && { files: build.paths.size }),
    ...counts,
    problems: [...missing, ...kept, ...problems]
  }
}

async function missingIn({ path: top }: BuiltDirectory, build: BuildFiles) {
  const message = `is missing, and ${pathFrom(top, build.manifest)} names it`
  const missing = await inParallel([...build.paths].toSorted(), CONCURRENCY, async path =>
    (await statOf(join(top, path)))?.isFile() ? [] : [{ path, message }]
  )
  return missing.flat()
}

async function keptProblems(built: BuiltDirectory, build?: BuildFiles): Promise<Problem[]> {
  if (build) await requireList(built, build)
  const kept = [...(await keptIn(built))].filter(([file]) => !build?.paths.has(file))
  const check = async ([path, { digest }]: (typeof kept)[number]) => {
    if (!built.files.has(path)) return [{ path, message: `is missing, ${KEEP_AGAIN}` }]
    const isIntact = !digest || (await digestOfFile(join(built.path, path))) === digest
    return isIntact ? [] : [{ path, message: `is damaged, ${KEEP_AGAIN}` }]
  }
  return (await inParallel(kept, CONCURRENCY, each => check(each).catch(unread(each[0])))).flat()
}

const KEEP_AGAIN =
  "and was kept from an earlier build: run 'npx koa-fresh-assets keep' with that build again"

const unread = (path: string) => (error: unknown) => [{ path, message: whyUnreadable(error) }]

/** Checks the copies and deltas in a directory that may contain anything. */
export async function checkFiles(
  top: string,
  all: readonly string[],
  isChecked = (_path: string) => true
): Promise<CheckedCopies> {
  const versions = groupBy(all, versionKey)
  const files = new Set(all.filter(isChecked))
  const check = async (path: string): Promise<Checked[]> => {
    const original = originalOf(path)
    // The original may be a link.
    const isAlone =
      original !== path && !files.has(original) && !(await statOf(join(top, original)))
    if (splitDelta(path)) {
      const others = (versions.get(versionKey(original) ?? '') ?? []).map(each => join(top, each))
      const [delta, target] = [join(top, path), join(top, original)]
      const message = isAlone ? NO_ORIGINAL : await faultOfDelta(delta, target, others)
      return [{ path, message }]
    }
    const orphan = isAlone && !isArchive(original, files) ? [{ path, message: NO_ORIGINAL }] : []
    const copies = CODINGS.filter(({ extension }) => files.has(path + extension))
    return [...(await compareCopies(top, path, copies)), ...orphan]
  }
  const found = await inParallel([...files], CONCURRENCY, at => check(at).catch(unread(at)))
  const checked = found.flat().toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return {
    copies: checked.length,
    unread: checked.filter((each: Checked) => each.isUnread).length,
    problems: checked.flatMap(({ path, message }) => (message ? { path, message } : []))
  }
}

/** Returns the path of the file from which a compressed copy or a delta was made; any other path is unchanged. */
export const originalOf = (path: string) => splitDelta(path)?.name ?? withoutCodingExtension(path)

interface Checked {
  readonly path: string
  readonly message: string | undefined
  /** True if this Node lacks the coding. */
  readonly isUnread?: boolean
}

async function compareCopies(top: string, path: string, codings: typeof CODINGS) {
  const file = join(top, path)
  const stats = codings.length > 0 ? await statOf(file) : undefined
  if (!stats) return []
  const original = { size: Number(stats.size), digest: await digestOfFile(file) }
  return inParallel(codings, CODINGS.length, async coding => {
    const copy = path + coding.extension
    const comparison = await compareFile(original, join(top, copy), coding).catch(whyUnreadable)
    const isUnread = comparison === undefined || comparison === 'unsupported'
    const message = isUnread ? undefined : (FAULTS[comparison] ?? comparison)
    return { path: copy, message, isUnread }
  })
}

const FAULTS: Partial<Record<string, string>> = {
  equal: '',
  different: 'does not decompress to the original',
  damaged: 'cannot be decompressed'
}
const NO_ORIGINAL = 'has no original, so it is not needed: remove it'

/** Tells whether a gzip file is an archive: `sitemap.xml.gz` is one, unless a `.br` is beside it. */
function isArchive(original: string, known: ReadonlySet<string>): boolean {
  const others = CODINGS.filter(({ name }) => name !== 'gzip')
  const isCopied = others.some(({ extension }) => known.has(original + extension))
  return !isCompressibleType(original) || !isCopied
}
