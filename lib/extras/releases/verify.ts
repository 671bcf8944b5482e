// Checks what a project serves: its own assets, and the builds in its mounts.
import { join } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { checksumsOf, INTEGRITY_ALGORITHMS, isSameDigest } from '../../runtime/files/digest.ts'
import { sameBytes } from '../../runtime/files/open-file.ts'
import { bytesOf, realpathOf, statOf } from '../../runtime/files/disk.ts'
import { listMounts, type ListedFile, type ListedMount } from '../telling/listed-mounts.ts'
import { isMounted } from '../../runtime/serving/request.ts'
import { manifestFile, publicFile } from '../../runtime/settings/public-directory.ts'
import type { MountSettings } from '../../runtime/settings/settings.ts'
import type { Problem, Project } from '../../runtime/app/parts.ts'
import { encodeAsImported, encodePath } from '../../runtime/urls/spelling.ts'
import { withSources } from '../../publishing/sources/sources.ts'
import { sum } from '../../publishing/building/publish.ts'
import { splitFingerprint } from '../../runtime/urls/spelling.ts'
import type { Asset } from '../../runtime/urls/manifest.ts'
import { readNames, REMEDY } from '../../runtime/urls/read-manifest.ts'
import { faultOfDelta } from '../deltas/delta-faults.ts'
import { listPublished, requestableFiles } from '../deltas/directory.ts'
import { checkCopies, checkFiles, problemsIn, type Checked, type CheckedCopies } from './copies.ts'

export interface VerifyReport {
  /** The absolute path of the manifest; with `apps: false` there is none. */
  readonly manifest: string
  /** The number of assets in the manifest. */
  readonly assets: number
  /** The copies in mounts, if there are any, and the number of files that the manifests of builds there name. */
  readonly mounts?: Omit<CheckedCopies, 'problems'> & { readonly files: number }
  /** The faults of files; none when every file is intact. */
  readonly problems: readonly Problem[]
}

const CONCURRENCY = 8

export async function verify(settings: Project): Promise<VerifyReport> {
  const { apps, mounts } = settings
  const manifest = manifestFile(settings)
  const own = apps.length > 0 ? await verifyAssets(settings) : { assets: 0, problems: [] }
  if (mounts.length === 0) return { manifest, ...own }
  const listed = await listMounts(settings)
  const reports = await inParallel([...mounts.entries()], 1, ([at, mount]) =>
    verifyMount(mount, listed[at], apps.length === 0)
  )
  const total = (name: 'files' | 'copies' | 'unread') => sum(reports.map(each => each[name]))
  return {
    manifest,
    assets: own.assets,
    mounts: { files: total('files'), copies: total('copies'), unread: total('unread') },
    problems: [own, ...reports].flatMap(each => each.problems)
  }
}

/** @param isNeeded false where the front end may be built after the project's own assets */
async function verifyMount(
  mount: MountSettings,
  listed: ListedMount | undefined,
  isNeeded: boolean
) {
  const { urlPath, dir } = mount
  const { problem, manifest, files = [] } = listed ?? {}
  const top = await realpathOf(dir)
  const isMade = top !== undefined && (await statOf(top))?.isDirectory() === true
  const missing = files.filter(({ sizes }) => sizes['identity'] === undefined)
  const problems: Problem[] = missing.map(({ path }) => ({
    path,
    message: `is missing, and ${manifest} names it`
  }))
  if (problem !== undefined && (isMade || isNeeded)) {
    problems.unshift({ path: urlPath || '/', message: `has no build: ${problem}` })
  }
  if (!isMade) return { files: files.length, copies: 0, unread: 0, problems }
  const all = await requestableFiles(top)
  const own = all.filter(path => isMounted(`${urlPath}/${path}`, mount))
  const found = await checkFiles(top, own)
  const faults = found.problems.map(({ path, message }) => ({
    path: encodeAsImported(`${urlPath}/${path}`),
    message
  }))
  problems.push(...(await namedWithoutBase(mount, files)), ...faults)
  return { ...found, files: files.length, problems }
}

/**
 * Compares the files in `public` with the manifest.
 * @throws AssetError with the code `manifest-missing` or `manifest-broken`
 */
async function verifyAssets(settings: Project) {
  const { assets } = await readNames(manifestFile(settings))
  const { versions, deltas } = await listPublished(settings)
  const check = async ([path, entry]: [string, Asset]): Promise<Checked[]> => {
    const { target } = entry
    const targetPath = decodeURIComponent(target)
    const file = publicFile(settings, targetPath)
    const plain = publicFile(settings, decodeURIComponent(path))
    const message = await faultOfTarget(file, path, entry)
    if (message !== undefined) return [{ path: target, message }]
    // `data.json.gz` may be an asset itself.
    const isCopy = (extension: string) => !assets.has(path + extension)
    const copies = await checkCopies(target, file, isCopy)
    if (target === path) return copies
    const known = versions.get(splitFingerprint(targetPath)?.name ?? '') ?? []
    const others = (deltas.get(targetPath) ?? []).map(async delta => {
      const earlier = known.filter(({ digest }) => digest === delta.digest)
      const older = earlier.map(version => version.file)
      return { path: encodePath(delta.path), message: await faultOfDelta(delta.file, file, older) }
    })
    const found = [...copies, ...(await Promise.all(others))]
    if (await sameBytes(file, plain)) return [...found, ...(await checkCopies(path, plain, isCopy))]
    const isThere = (await statOf(plain)) !== undefined
    return [...found, { path, message: isThere ? writtenSince(target) : MISSING }]
  }
  const checked = await inParallel([...assets], CONCURRENCY, check)
  const problems = [...(await unpublishedIn(settings)), ...problemsIn(checked.flat())]
  return { assets: assets.size, problems }
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

async function faultOfTarget(file: string, path: string, entry: Asset) {
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

const MISSING = `is missing: copy it again, or ${REMEDY}`

function writtenSince(target: string): string {
  return `differs from ${target}: a development server has written it since, or the manifest is that of another release: ${REMEDY}`
}

const TEXT = /\.(?:[cm]?js|css)$/
// An absolute path is written as a string, or in `url()`.
const ABSOLUTE = /["'`(](\/[^"'`()\s\\?#]+)/g

/** Returns one problem for each file that a bundler wrote for another base, and which names another file by it. */
async function namedWithoutBase(
  { base, dir, urlPath }: MountSettings,
  files: readonly ListedFile[]
): Promise<Problem[]> {
  if (base === '') return []
  const paths = new Set(files.map(({ path }) => path))
  const texts = files.filter(({ path }) => TEXT.test(path))
  const problems = await inParallel(texts, CONCURRENCY, async ({ path }) => {
    const file = join(dir, decodeURIComponent(path).slice(urlPath.length))
    const text = String((await bytesOf(file)) ?? '')
    const named = Array.from(text.matchAll(ABSOLUTE), ([, url = '']) => url)
    const wrong = named.find(url => paths.has(url))
    if (wrong === undefined) return []
    const message = `names ${wrong}, which is at ${base}${wrong}: build with that base, as freshAssets({ base: '${base}', … }) does`
    return [{ path, message }]
  })
  return problems.flat()
}
