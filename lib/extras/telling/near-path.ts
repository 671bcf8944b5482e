// Finds the path that a mistyped one most likely stands for, among all assets, the files of bundles, and the files
// beside it.
import { readdir } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { undefinedIfMissing } from '../../runtime/files/disk.ts'
import { nearest, nearestPath } from '../../runtime/check-options.ts'
import { publishingIn } from '../../publishing/building/on-request.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { isMounted, locate } from '../../runtime/serving/request.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'
import type { ListedMount } from './listed-mounts.ts'
import { listOwn } from './own-assets.ts'

/** @param path is decoded */
export async function nearPath(
  pipeline: Pipeline,
  listed: readonly ListedMount[],
  path: string
): Promise<string | undefined> {
  const { settings, sources } = publishingIn(pipeline)
  const published = settings.apps.flatMap(app => [...(pipeline.namesOf(app)?.assets ?? [])])
  const own = await listOwn(settings, sources, new Map(published))
  const bundled = listed.flatMap(({ files }) => files.map(file => file.path))
  const known = [...own.map(each => each.path), ...bundled, ...(await beside(pipeline, path))]
  const asked = encodePath(path)
  const shortestFirst = known.toSorted((a, b) => a.length - b.length)
  // Paths that differ in their leading folders only may be more than a few edits apart.
  return nearest(asked, known) ?? nearestPath(posix.basename(asked), shortestFirst)
}

/** Lists the files that would be sent from the folder of a path. */
async function beside(pipeline: Pipeline, path: string): Promise<string[]> {
  const folder = posix.dirname(path)
  const folders = placesOf(pipeline.settings, path).map(({ urlPath, dir }) =>
    join(dir, dirname(path.slice(urlPath.length)))
  )
  const names = await Promise.all(
    folders.map(async each => (await undefinedIfMissing(readdir(each))) ?? [])
  )
  const paths = names.flat().map(name => encodePath(posix.join(folder, name)))
  const near = nearest(encodePath(path), paths)
  const wanted = near === undefined ? undefined : locate(near, pipeline.settings)
  return typeof wanted === 'object' && (await pipeline.has(wanted)) ? [encodePath(wanted.path)] : []
}

function placesOf({ mounts, servesPublic, publicDir }: Settings, path: string) {
  const covering = mounts.filter(mount => mount.isServed && isMounted(path, mount))
  return [...covering, ...(servesPublic ? [{ urlPath: '', dir: publicDir }] : [])]
}
