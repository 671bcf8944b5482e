// Checks what a project serves: its own assets, and the builds in its mounts.
import { inParallel } from '../../runtime/concurrency.ts'
import { whyUnreadable } from '../../runtime/errors.ts'
import { checksumsOf, INTEGRITY_ALGORITHMS } from '../../runtime/files/digest.ts'
import { sameBytes } from '../../runtime/files/open-file.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { faultsOf, listMounts, type ListedMount } from '../telling/list.ts'
import { isMounted } from '../../runtime/serving/request.ts'
import { manifestFile, publicFile } from '../../runtime/settings/public-directory.ts'
import type { MountSettings } from '../../runtime/settings/settings.ts'
import type { Problem, Project } from '../../runtime/app/extra.ts'
import { encodeAsImported, encodePath, splitFingerprint } from '../../runtime/urls/spelling.ts'
import { withSources } from '../../publishing/sources/sources.ts'
import { sum } from '../../runtime/lists.ts'
import type { Asset } from '../../runtime/urls/manifest.ts'
import { readNames, REMEDY } from '../../runtime/urls/read-manifest.ts'
import { requestableFiles } from '../deltas/directory.ts'
import { checkFiles, originalOf, type CheckedCopies } from './copies.ts'

export interface VerifyReport {
  /** The absolute path of the manifest; with `apps: false` there is none. */
  readonly manifest: string
  readonly assets: number
  /** The copies in mounts, if there are any, and the number of files that the manifests of builds there name. */
  readonly mounts?: Omit<CheckedCopies, 'problems'> & { readonly files: number }
  /** The faults of files; none if every file is intact. */
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

/** @param isNeeded false if the front end may be built after the project's own assets */
async function verifyMount(mount: MountSettings, listed?: ListedMount, isNeeded = false) {
  const { urlPath, dir } = mount
  const found = await verifyBelow(dir, urlPath, path => isMounted(path, mount), encodeAsImported)
  const isTold = listed && (listed.problem === undefined || found || isNeeded)
  const { copies = 0, unread = 0, problems = [] } = found ?? {}
  const faults = isTold ? faultsOf(listed) : []
  return { copies, unread, files: listed?.files.length ?? 0, problems: [...faults, ...problems] }
}

/** Checks the copies and deltas of a directory below a URL path; undefined if it has no files. */
async function verifyBelow(
  dir: string,
  urlPath: string,
  isChecked: (path: string) => boolean,
  encode: typeof encodePath
) {
  const files = await requestableFiles(dir).catch(whyUnreadable)
  if (typeof files === 'string')
    return { copies: 0, unread: 0, problems: [{ path: urlPath || '/', message: files }] }
  if (files.length === 0) return undefined
  const found = await checkFiles(dir, files, path => isChecked(`${urlPath}/${path}`))
  const at = (problem: Problem) => ({ ...problem, path: encode(`${urlPath}/${problem.path}`) })
  return { ...found, problems: found.problems.map(at) }
}

async function verifyAssets(settings: Project) {
  const { assets } = await readNames(manifestFile(settings))
  const intact = new Set<string>()
  const check = async ([path, entry]: [string, Asset]): Promise<Problem[]> => {
    const [target, name] = [decodeURIComponent(entry.target), decodeURIComponent(path)]
    const [file, plain] = [publicFile(settings, target), publicFile(settings, name)]
    const message = await faultOfTarget(file, path, entry).catch(whyUnreadable)
    if (message !== undefined) return [{ path: entry.target, message }]
    intact.add(target)
    const isSame = target === name || (await sameBytes(file, plain).catch(whyUnreadable))
    if (isSame !== true) {
      const isThere = (await statOf(plain)) !== undefined
      return [{ path, message: isSame || (isThere ? writtenSince(entry.target) : MISSING) }]
    }
    intact.add(name)
    return []
  }
  const faults = await inParallel([...assets], CONCURRENCY, check)
  const { prefix } = settings
  const isChecked = (path: string) => {
    const original = originalOf(path)
    // `data.json.gz` may be an asset itself.
    return intact.has(original) && (original === path || !assets.has(encodePath(path)))
  }
  const copies = await verifyBelow(publicFile(settings, prefix), prefix, isChecked, encodePath)
  const problems = [await unpublishedIn(settings), ...faults, copies?.problems ?? []].flat()
  return { assets: assets.size, problems }
}

/** Finds sources that no precompile publishes, on a machine that has the sources. */
async function unpublishedIn(settings: Project): Promise<Problem[]> {
  const silent = () => undefined
  const all = await withSources(settings, silent, sources =>
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
  // Without fingerprints, the target is the plain name.
  if (target !== path && sums.digest !== fingerprint) return 'does not match its fingerprint'
  const isIntact = integrity.every(hash => sums.integrity.includes(hash))
  return isIntact ? undefined : 'does not match its integrity in the manifest'
}

const MISSING = `is missing: copy it again, or ${REMEDY}`

const writtenSince = (target: string) =>
  `differs from ${target}: a development server has written it since (stop it first), or the manifest is that of another release: ${REMEDY}`
