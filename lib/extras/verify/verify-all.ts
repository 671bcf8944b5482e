// Checks everything that a project serves: its own assets, and the directories of its mounts.
import { realpathOf, statOf } from '../../files/disk.ts'
import { requestableFiles } from '../../assets/building/directory.ts'
import { copiesIn, verifyAssets } from './verify.ts'
import { manifestFile } from '../../assets/settings/public-directory.ts'
import type { Problem, Site } from '../../assets/parts.ts'
import { isMounted } from '../../assets/serving/request-path.ts'
import { encodeAsImported } from '../../assets/urls/canonical-path.ts'
import { listMounts } from '../../assets/inventory/listed-mounts.ts'

export interface VerifyReport {
  /** Absolute path of the manifest; with `apps: false` there is none. */
  readonly manifest: string
  /** The number of assets in the manifest. */
  readonly assets: number
  /** Undefined without mounts. */
  readonly mounts?: {
    /** The number of files that their manifests name. */
    readonly files: number
    /** The number of compressed copies and other representations in their directories. */
    readonly copies: number
    /** The number of copies that this Node cannot decompress, so they were not compared. */
    readonly unread: number
  }
  /** Empty when every file is intact. */
  readonly problems: readonly Problem[]
}

export async function verify(settings: Site): Promise<VerifyReport> {
  const own =
    settings.apps.length > 0
      ? await verifyAssets(settings)
      : { manifest: manifestFile(settings), assets: 0, problems: [] }
  if (settings.mounts.length === 0) return own
  const { problems, ...mounts } = await verifyMounts(settings)
  return { ...own, mounts, problems: [...own.problems, ...problems] }
}

async function verifyMounts(settings: Site) {
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
    const all = await requestableFiles(top)
    const own = all.filter(path => isMounted(`${urlPath}/${path}`, mount))
    const found = await copiesIn(top, own, settings.extras)
    copies += found.copies
    unread += found.unread
    for (const { path, message } of found.problems) {
      problems.push({ path: encodeAsImported(`${urlPath}/${path}`), message })
    }
  }
  return { files, copies, unread, problems }
}
