// Lists the URL paths of the files that pages name by URLs with the option `host`.
import { realpathOf, statOf } from '../../runtime/files/disk.ts'
import { withoutCodingExtension } from '../../runtime/files/codings.ts'
import { excluderOf } from '../../runtime/files/paths.ts'
import { splitDelta } from '../deltas/delta-format.ts'
import { requestableFiles } from '../deltas/directory.ts'
import { readNames } from '../../runtime/urls/read-manifest.ts'
import { listOwn } from '../telling/own-assets.ts'
import type { Project } from '../../runtime/app/parts.ts'
import { isMounted, locate } from '../../runtime/serving/request.ts'
import { manifestFile } from '../../runtime/settings/public-directory.ts'
import { withSources } from '../../publishing/sources/sources.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'
import { warnOnce } from '../../runtime/errors.ts'

/** Paths are encoded, and do not include compressed copies and other representations. */
export async function listPublishedPaths(project: Project): Promise<readonly string[]> {
  return [...new Set([...(await ownPaths(project)), ...(await mountPaths(project))])]
}

/** Assets have the names that are in pages. */
async function ownPaths(project: Project): Promise<readonly string[]> {
  if (project.apps.length === 0) return []
  const { assets } = await readNames(manifestFile(project))
  const own = await withSources(project, warnOnce(), sources => listOwn(project, sources, assets))
  return own.flatMap(({ path, entry }) => {
    const wanted = locate(path, project)
    const isFingerprinted = typeof wanted === 'object' && wanted.app.fingerprint
    return isFingerprinted ? (entry?.target ?? []) : path
  })
}

async function mountPaths({ mounts }: Project): Promise<readonly string[]> {
  const paths: string[] = []
  for (const mount of mounts) {
    // URLs of the host lead only to files that a manifest names, and to those that these load.
    if (mount.manifest === undefined) continue
    const top = await realpathOf(mount.dir)
    if (top === undefined || !(await statOf(top))?.isDirectory()) continue
    const all = await requestableFiles(top)
    const names = new Set(all)
    const isExcluded = excluderOf(mount.exclude ?? [])
    for (const name of all) {
      const path = `${mount.urlPath}/${name}`
      const original = withoutCodingExtension(name)
      const isCopy = original !== name && names.has(original)
      if (isCopy || splitDelta(name) || isExcluded(name) || !isMounted(path, mount)) continue
      paths.push(encodePath(path))
    }
  }
  return paths
}
