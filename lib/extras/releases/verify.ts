// Checks what a project serves: its own assets, the directories of its mounts, and the compressed copies and other
// representations beside any files.
import { join } from 'node:path'
import { inParallel, once } from '../../runtime/concurrency.ts'
import {
  checksumsOf,
  INTEGRITY_ALGORITHMS,
  digestOfFile,
  isSameDigest
} from '../../runtime/files/digest.ts'
import {
  CODINGS,
  withoutCodingExtension,
  compareFile,
  type Coding
} from '../../runtime/files/codings.ts'
import { sameBytes } from '../../runtime/files/open-file.ts'
import { realpathOf, statOf } from '../../runtime/files/disk.ts'
import { isCompressibleType } from '../../runtime/http/fields.ts'
import { checkDirectory } from './build.ts'
import { listMounts } from '../telling/listed-mounts.ts'
import { isMounted } from '../../runtime/serving/request-path.ts'
import { manifestFile } from '../../runtime/settings/public-directory.ts'
import type { Problem, Project } from '../../runtime/app/parts.ts'
import { canonicalSegments, encodeAsImported, encodePath, splitFingerprint } from '../../runtime/urls/spelling.ts'
import { withSources } from '../../publishing/sources/sources.ts'
import type { ManifestEntry } from '../../runtime/urls/manifest.ts'
import { readManifest, REMEDY } from '../../runtime/urls/read-manifest.ts'
import { faultOfDelta } from '../deltas/delta-faults.ts'
import { splitDelta } from '../deltas/delta-format.ts'
import {
  groupBy,
  listPublished,
  openDirectory,
  requestableFiles,
  versionKey
} from '../deltas/directory.ts'
import { namedWithoutBase } from './without-base.ts'

export interface VerifyReport {
  /** The absolute path of the manifest; with `apps: false` there is none. */
  readonly manifest: string
  /** The number of assets in the manifest. */
  readonly assets: number
  /** The files of mounts, if there are any. */
  readonly mounts?: {
    /** The number of files that their manifests name. */
    readonly files: number
    /** The number of compressed copies and other representations in their directories. */
    readonly copies: number
    /** The number of copies that this Node cannot decompress, so they were not compared. */
    readonly unread: number
  }
  /** The faults of files; none when every file is intact. */
  readonly problems: readonly Problem[]
}

export interface VerifyCopiesReport {
  /** The real path of the directory. */
  readonly directory: string
  /** The number of compressed copies in it. */
  readonly copies: number
  /** The number of copies that this Node cannot decompress, so they were not compared. */
  readonly unread: number
  /** The number of files that the manifest of a build in it names; undefined if there is none. */
  readonly files?: number
  /**
   * The faults of files, with paths relative to the directory; none when no file is missing and every copy is intact.
   */
  readonly problems: readonly Problem[]
}

const CONCURRENCY = 8

export async function verify(settings: Project): Promise<VerifyReport> {
  const own =
    settings.apps.length > 0
      ? await verifyAssets(settings)
      : { manifest: manifestFile(settings), assets: 0, problems: [] }
  if (settings.mounts.length === 0) return own
  const { problems, ...mounts } = await verifyMounts(settings)
  return { ...own, mounts, problems: [...own.problems, ...problems] }
}

async function verifyMounts(settings: Project) {
  const problems: Problem[] = []
  let [files, copies, unread] = [0, 0, 0]
  const listed = await listMounts(settings)
  for (const [at, mount] of settings.mounts.entries()) {
    const { urlPath, dir } = mount
    const { problem, manifest, files: named = [] } = listed[at] ?? {}
    const top = await realpathOf(dir)
    const isMade = top !== undefined && (await statOf(top))?.isDirectory() === true
    files += named.length
    // The front end may be built after the project's own assets.
    if (problem !== undefined && (isMade || settings.apps.length === 0)) {
      problems.push({ path: urlPath || '/', message: `has no build: ${problem}` })
    }
    for (const { path, sizes } of named) {
      const isMissing = sizes['identity'] === undefined
      if (isMissing) problems.push({ path, message: `is missing, and ${manifest} names it` })
    }
    if (!isMade) continue
    problems.push(...(await namedWithoutBase(mount, named)))
    const all = await requestableFiles(top)
    const own = all.filter(path => isMounted(`${urlPath}/${path}`, mount))
    const found = await copiesIn(top, own)
    copies += found.copies
    unread += found.unread
    for (const { path, message } of found.problems) {
      problems.push({ path: encodeAsImported(`${urlPath}/${path}`), message })
    }
  }
  return { files, copies, unread, problems }
}

/**
 * Compares the files in `public` with the manifest.
 * @throws AssetError with the code `manifest-missing` or `manifest-broken`
 */
async function verifyAssets(settings: Project) {
  const manifest = manifestFile(settings)
  const { assets } = await readManifest(manifest)
  const { versions, deltas } = await listPublished(settings)
  const check = async ([path, entry]: [string, ManifestEntry]): Promise<Checked[]> => {
    const { target } = entry
    const [file, plain] = [target, path].map(each => {
      const segments = canonicalSegments(each)
      return Array.isArray(segments) ? join(settings.publicDir, ...segments) : undefined
    })
    if (file === undefined || plain === undefined) {
      return [{ path, fault: `is not a valid request path, or its target ${target} is not` }]
    }
    const fault = await faultOfTarget(file, path, entry)
    if (fault !== undefined) return [{ path: target, fault }]
    // `data.json.gz` may be an asset itself.
    const isCopy = (extension: string) => !assets.has(path + extension)
    const copies = await checkCopies(target, file, isCopy)
    if (target === path) return copies
    const targetPath = decodeURIComponent(target)
    const known = versions.get(splitFingerprint(targetPath)?.name ?? '') ?? []
    const others = (deltas.get(targetPath) ?? []).map(async delta => {
      const earlier = known.filter(({ digest }) => digest === delta.digest)
      const older = earlier.map(version => version.file)
      return { path: encodePath(delta.path), fault: await faultOfDelta(delta.file, file, older) }
    })
    const found = [...copies, ...(await Promise.all(others))]
    if (await sameBytes(file, plain)) return [...found, ...(await checkCopies(path, plain, isCopy))]
    const isThere = (await statOf(plain)) !== undefined
    return [...found, { path, fault: isThere ? writtenSince(target) : MISSING }]
  }
  const checked = await inParallel([...assets], CONCURRENCY, check)
  const problems = [...(await unpublishedIn(settings)), ...problemsIn(checked.flat())]
  return { manifest, assets: assets.size, problems }
}

/** Finds what no precompile publishes, on a machine that has the sources. */
async function unpublishedIn(settings: Project): Promise<Problem[]> {
  const all = await withSources(
    settings,
    () => undefined,
    sources =>
      inParallel(settings.apps, CONCURRENCY, async app => {
        await sources.of(app).refresh()
        return sources.of(app).unpublished()
      })
  )
  return all.flat().map(({ path, error }) => ({
    path: encodePath(path),
    message: `has no file: ${error.message}`
  }))
}

export async function verifyCopies(directory: string): Promise<VerifyCopiesReport> {
  const built = await openDirectory(directory)
  const { files, problems: ofBuild } = await checkDirectory(built)
  const { problems: faults, ...copies } = await copiesIn(built.path, [...built.files])
  const problems = [...ofBuild, ...faults]
  return { directory: built.path, ...(files !== undefined && { files }), ...copies, problems }
}

/**
 * Compares the compressed copies, and the deltas, in a directory that may contain anything.
 * @param top is its real path
 * @param files are the paths of those in it, relative to it
 */
async function copiesIn(
  top: string,
  files: readonly string[]
): Promise<Omit<VerifyCopiesReport, 'directory' | 'files'>> {
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
      const fault = isAlone ? NO_ORIGINAL : await faultOfDelta(file, join(top, original), others)
      return [{ path, fault }]
    }
    const copies = await checkCopies(path, file, extension => known.has(path + extension))
    const isOrphan = isAlone && !isArchive(original, known)
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
  /** Says what is wrong with a copy, to be read after its path: `is missing`. */
  readonly fault: string | undefined
  /** True if it was not checked: this Node lacks the coding. */
  readonly isUnread?: boolean
}

function problemsIn(checked: readonly Checked[]): Problem[] {
  return checked.flatMap(({ path, fault }) =>
    fault === undefined ? [] : [{ path, message: fault }]
  )
}

/** Checks the compressed copies that exist. They are optional, but an existing one is served. */
async function checkCopies(
  path: string,
  file: string,
  isCopy: (extension: string) => boolean
): Promise<Checked[]> {
  const original = await statOf(file)
  if (!original) return []
  const digest = once(() => digestOfFile(file))
  const check = async (coding: Coding): Promise<Checked[]> => {
    const { extension } = coding
    const stats = isCopy(extension) ? await statOf(file + extension) : undefined
    if (!stats) return []
    const found = (fault?: string) => [{ path: path + extension, fault }]
    if (!stats.isFile()) return found('is not a file')
    const expected = { size: Number(original.size), digest: await digest() }
    const comparison = await compareFile(expected, file + extension, coding)
    const fault = comparison && FAULTS[comparison]
    const isUnread = comparison !== 'equal' && fault === undefined
    return [{ path: path + extension, fault, isUnread }]
  }
  return (await Promise.all(CODINGS.map(check))).flat()
}

const FAULTS = {
  equal: undefined,
  unsupported: undefined,
  different: 'does not decompress to the original',
  damaged: 'cannot be decompressed'
}
const MISSING = `is missing: copy it again, or ${REMEDY}`
const NO_ORIGINAL = 'has no original, so it is not needed: remove it'

function writtenSince(target: string): string {
  return `differs from ${target}: a development server has written it since, or the manifest is that of another release: ${REMEDY}`
}

/** Archives have the format of gzip as well: `sitemap.xml.gz` is one, unless a `.br` is beside it. */
function isArchive(original: string, known: ReadonlySet<string>): boolean {
  const others = CODINGS.filter(({ name }) => name !== 'gzip')
  const isCopied = others.some(({ extension }) => known.has(original + extension))
  return !isCompressibleType(original) || !isCopied
}

async function faultOfTarget(file: string, path: string, entry: ManifestEntry) {
  const { target, size, integrity } = entry
  const stats = await statOf(file)
  if (!stats) return MISSING
  if (!stats.isFile()) return 'is not a file'
  if (Number(stats.size) !== size) return `has size ${stats.size}, not ${size}`
  const algorithms = INTEGRITY_ALGORITHMS.filter(name =>
    integrity.some(hash => hash.startsWith(`${name}-`))
  )
  const sums = await checksumsOf({ copyOf: file }, algorithms)
  const fingerprint = splitFingerprint(decodeURIComponent(target))?.digest
  // The target is the plain name where there are no fingerprints.
  if (target !== path && !isSameDigest(sums.digest, fingerprint))
    return 'does not match its fingerprint'
  const isIntact = integrity.every(hash => sums.integrity.includes(hash))
  return isIntact ? undefined : 'does not match its integrity in the manifest'
}
