// Compares what is published with the manifest, and the compressed copies and deltas beside any files.
import { join } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { checksumsOf, INTEGRITY_ALGORITHMS, digestOfFile } from '../../files/digest.ts'
import { CODINGS, withoutCodingExtension, compareFile, type Coding } from '../../files/codings.ts'
import { splitDelta } from '../../files/delta-format.ts'
import { sameBytes } from '../../files/open-file.ts'
import { statOf } from '../../files/disk.ts'
import { isCompressibleType } from '../../http/fields.ts'
import { manifestFile } from '../settings/manifest-file.ts'
import type { Settings } from '../settings/settings.ts'
import { canonicalSegments } from '../urls/canonical-path.ts'
import { encodePath } from '../urls/encode.ts'
import { splitFingerprint, withFingerprint } from '../urls/fingerprint.ts'
import { faultOfDelta, keyOf } from './write-deltas.ts'
import type { ManifestEntry } from './manifest/manifest.ts'
import { readManifest, REMEDY } from './manifest/read-manifest.ts'
import { groupBy, listPublished } from './published-files.ts'

/** A file that is not as it should be. */
export interface VerifyProblem {
  /** The URL path of the file, `/assets/app-<32 hex>.css.br`; in a directory, its path there. */
  readonly path: string
  /** What is wrong, to be read after the path: `is missing`. */
  readonly message: string
}

export interface VerifyCopiesReport {
  /** Real path of the directory. */
  readonly directory: string
  /** The number of compressed copies in it. */
  readonly copies: number
  /** The number of copies that this Node cannot decompress, so they were not compared. */
  readonly unread: number
  /** The number of files that the bundler's manifest in it names; undefined without one. */
  readonly files?: number
  /** Paths are relative to the directory. Empty when no file is missing and every copy is intact. */
  readonly problems: readonly VerifyProblem[]
}

const CONCURRENCY = 8

/**
 * Compares the files in `public` with the manifest.
 * @throws AssetError with the code `manifest-missing` or `manifest-broken`
 */
export async function verifyAssets(settings: Settings) {
  const manifest = manifestFile(settings)
  const { assets } = await readManifest(manifest)
  const published = await listPublished(settings)
  const fileAt = (path: string): string | undefined => {
    const segments = canonicalSegments(path)
    return Array.isArray(segments) ? join(settings.publicDir, ...segments) : undefined
  }
  // `data.json.gz` may be an asset of its own.
  const checkCopiesOf = (path: string, file: string) =>
    checkCopies(path, file, extension => !assets.has(path + extension))
  const checkDeltasOf = (target: string, file: string) => {
    const path = decodeURIComponent(target)
    const plain = splitFingerprint(path)?.name ?? path
    const deltas = (published.deltas.get(path) ?? []).map(async delta => {
      const older = fileAt(encodePath(withFingerprint(plain, delta.digest)))
      const fault = await faultOfDelta(delta.file, delta.digest, file, older)
      return { path: encodePath(delta.path), fault }
    })
    return Promise.all(deltas)
  }
  const check = async ([path, entry]: [string, ManifestEntry]): Promise<Checked[]> => {
    const { target } = entry
    const [file, plain] = [fileAt(target), fileAt(path)]
    if (file === undefined || plain === undefined) {
      return [{ path, fault: `is not a valid request path, or its target ${target} is not` }]
    }
    const fault = await faultOfTarget(file, path, entry)
    if (fault !== undefined) return [{ path: target, fault }]
    const copies = await checkCopiesOf(target, file)
    if (target === path) return copies
    const beside = [...copies, ...(await checkDeltasOf(target, file))]
    if (await sameBytes(file, plain)) return [...beside, ...(await checkCopiesOf(path, plain))]
    const isThere = (await statOf(plain)) !== undefined
    return [...beside, { path, fault: isThere ? writtenSince(target) : MISSING }]
  }
  const checked = await inParallel([...assets], CONCURRENCY, check)
  return { manifest, assets: assets.size, problems: problemsIn(checked.flat()) }
}

/**
 * Compares the compressed copies and deltas in a directory that may contain anything.
 * @param top its real path
 * @param files in it, relative to it
 */
export async function copiesIn(
  top: string,
  files: readonly string[]
): Promise<Omit<VerifyCopiesReport, 'directory' | 'files'>> {
  const known = new Set(files)
  const versions = groupBy(files, keyOf)
  const check = async (path: string): Promise<Checked[]> => {
    const file = join(top, path)
    const delta = splitDelta(path)
    if (delta) {
      const original = join(top, delta.name)
      if (!(await statOf(original))) return [{ path, fault: NO_ORIGINAL }]
      const others = versions.get(keyOf(delta.name) ?? '') ?? []
      const earlier = await fileWith(
        delta.digest,
        others.map(other => join(top, other))
      )
      const fault = await faultOfDelta(file, delta.digest, original, earlier)
      return [{ path, fault: fault ?? (earlier === undefined ? NO_EARLIER : undefined) }]
    }
    const copies = await checkCopies(path, file, extension => known.has(path + extension))
    // The original may be a link.
    const isOrphan =
      mayBeOrphan(path, known) && !(await statOf(join(top, withoutCodingExtension(path))))
    return isOrphan ? [...copies, { path, fault: NO_ORIGINAL }] : copies
  }
  const checked = (await inParallel(files, CONCURRENCY, check)).flat()
  return {
    copies: checked.length,
    unread: checked.filter(({ isUnread }) => isUnread).length,
    problems: problemsIn(checked).toSorted((a, b) => (a.path < b.path ? -1 : 1))
  }
}

interface Checked {
  readonly path: string
  /** What is wrong with it, to be read after its path: `is missing`. */
  readonly fault: string | undefined
  /** Whether it was not checked: this Node lacks the coding. */
  readonly isUnread?: boolean
}

function problemsIn(checked: readonly Checked[]): VerifyProblem[] {
  return checked.flatMap(({ path, fault }) =>
    fault === undefined ? [] : [{ path, message: fault }]
  )
}

/** Of the compressed copies that exist. They are optional, but an existing one is served. */
async function checkCopies(
  path: string,
  file: string,
  isCopy: (extension: string) => boolean
): Promise<Checked[]> {
  const original = await statOf(file)
  if (!original) return []
  const check = async (coding: Coding): Promise<Checked[]> => {
    const stats = await statOf(file + coding.extension)
    if (!stats) return []
    const found = (fault?: string, isUnread = false) => [
      { path: path + coding.extension, fault, isUnread }
    ]
    if (!stats.isFile()) return found('is not a file')
    if (stats.mtimeNs < original.mtimeNs) {
      return found('is older than the original, so it is not served')
    }
    const expected = { size: Number(original.size), digest: await digest() }
    const comparison = await compareFile(expected, file + coding.extension, coding)
    if (comparison === 'different') return found('does not decompress to the original')
    if (comparison === 'damaged') return found('cannot be decompressed')
    return found(undefined, comparison !== 'equal')
  }
  let known: Promise<string> | undefined
  const digest = () => (known ??= digestOfFile(file))
  const codings = CODINGS.filter(({ extension }) => isCopy(extension))
  return (await Promise.all(codings.map(check))).flat()
}

const MISSING = `is missing: copy it again, or ${REMEDY}`

function writtenSince(target: string): string {
  return `differs from ${target}, as when a development server has written it since: ${REMEDY}`
}

const NO_EARLIER =
  'starts from a version that is not beside it, so it is never sent: keep that file, or remove the delta'
const NO_ORIGINAL = 'has no original, so it is not needed: remove it'

async function fileWith(digest: string, files: readonly string[]): Promise<string | undefined> {
  for (const file of files) if ((await digestOfFile(file)) === digest) return file
  return undefined
}

/** Unlike the others, gzip is a format for archives as well: `sitemap.xml.gz` is one, unless a `.br` is beside it. */
function mayBeOrphan(path: string, known: ReadonlySet<string>): boolean {
  const original = withoutCodingExtension(path)
  if (original === path || known.has(original) || !isCompressibleType(original)) return false
  const others = CODINGS.filter(({ name }) => name !== 'gzip')
  return others.some(({ extension }) => known.has(original + extension))
}

async function faultOfTarget(file: string, path: string, entry: ManifestEntry) {
  const { target, size, integrity } = entry
  const stats = await statOf(file)
  if (!stats) return MISSING
  if (!stats.isFile()) return 'is not a file'
  if (Number(stats.size) !== size) return `has size ${stats.size}, not ${size}`
  // The algorithm of an unknown hash does not matter: it differs in any case.
  const algorithms = integrity.map(
    hash => INTEGRITY_ALGORITHMS.find(name => hash.startsWith(`${name}-`)) ?? 'sha256'
  )
  const sums = await checksumsOf({ copyOf: file }, algorithms)
  const fingerprint = splitFingerprint(decodeURIComponent(target))?.digest
  // Without fingerprints the target is the plain name.
  if (target !== path && sums.digest !== fingerprint) return 'does not match its fingerprint'
  const isIntact = sums.integrity.every((hash, at) => hash === integrity[at])
  return isIntact ? undefined : 'does not match its integrity in the manifest'
}
