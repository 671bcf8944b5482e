// Explains in which mounts a path is looked for, what their manifests tell of it, and why there is no file.
import { digestOfFile, isSameDigest } from '../../runtime/files/digest.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { excluderOf, pathFrom } from '../../runtime/files/paths.ts'
import type { ListedMount } from './listed-mounts.ts'
import { fallbackAt } from '../../runtime/serving/missing.ts'
import { isMounted, locate, type Wanted } from '../../runtime/serving/request.ts'
import { publicFile } from '../../runtime/settings/public-directory.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { splitFingerprint } from '../../runtime/urls/spelling.ts'

/** Returns the URL path of a bundle's file by the name of its source, or of an entry; undefined for other names. */
export function fileNamed(name: string, listed: readonly ListedMount[]): string | undefined {
  const files = listed.flatMap(each => each.files)
  const found =
    files.find(({ source }) => source === name) ??
    files.find(({ entries }) => entries.includes(name))
  return found?.path
}

/** Describes the mounts in which a path is looked for, and what their manifests say about it. */
export function mountsFinding(settings: Settings, path: string, listed: readonly ListedMount[]) {
  const { root, mounts, servesPublic } = settings
  const wanted = locate(path, settings)
  const isCovering = mounts.map(each => typeof wanted === 'object' && isMounted(wanted.path, each))
  const covering = mounts.filter((_, at) => isCovering[at])
  const places = covering
    .filter(({ isServed }) => isServed)
    .map(({ urlPath }) => `the mount ${urlPath || '/'}`)
  if (places.length > 0 && servesPublic) places.push('public')
  const without = covering.length === 0 ? 'none has this path' : "left to the bundler's dev server"
  const details = mounts.map(({ urlPath, dir, isServed, excludedPrefix, exclude = [] }, at) => {
    const from = isServed ? pathFrom(root, dir) : "the bundler's dev server"
    const below =
      isCovering[at] && typeof wanted === 'object' && wanted.path.slice(urlPath.length + 1)
    const isExcluded = below && excluderOf(exclude)(below)
    const apps = excludedPrefix ? `, except ${excludedPrefix}/…, which the apps publish` : ''
    return `${urlPath}/…: ${from}${apps}${isExcluded ? ', but exclude leaves this path out' : ''}`
  })
  const told = listed.filter((_, at) => isCovering[at]).flatMap(mount => detailsOf(mount, path))
  return { finding: places.join(', then ') || without, details: [...details, ...told] }
}

function detailsOf({ manifest, problem, files }: ListedMount, path: string): string[] {
  if (problem !== undefined) return [problem]
  if (manifest === undefined) return []
  const file = files.find(each => each.path === path)
  if (!file) return [`${manifest} does not name it`]
  const { source, entries, usedBy, sizes } = file
  const details = [`${manifest} names it${source === undefined ? '' : `, made from ${source}`}`]
  if (!('identity' in sizes)) details.push('it is missing on disk: build again')
  for (const entry of entries) {
    const tags = files.filter(each => each.entries.includes(entry))
    details.push(`the tags of ${entry}: ${tags.map(each => each.path).join(', ')}`)
  }
  if (usedBy.length > 0) details.push(`used by ${usedBy.join(', ')}, whose tags do not include it`)
  return details
}

/** Says why there is no file for a request. */
export async function whyNoFile(settings: Settings, wanted: Wanted): Promise<string> {
  const { app, name, path, mounts } = wanted
  if (!settings.servesPublic) return `no mount has ${path}`
  const file = publicFile(settings, path)
  const stats = await statOf(file)
  const shown = pathFrom(settings.root, file)
  if (!stats && mounts.length > 0) return `no mount has ${path}, and ${shown} does not exist`
  if (!stats) return `${shown} does not exist`
  if (!stats.isFile()) return `${shown} is not a file`
  const fingerprint = app === settings.publicApp ? undefined : splitFingerprint(name)
  return fingerprint && !isSameDigest(await digestOfFile(file), fingerprint.digest)
    ? `${shown} does not match its fingerprint, and is not served`
    : `${shown} is a symbolic link that may not be followed (option symlinks)`
}

/** Says what happens to a request for which there is no file. @param path is encoded, as in the request */
export function goesOn(settings: Settings, path: string, storing = ''): string {
  const shell = fallbackAt(path, settings)
  const got = shell && `; a navigation that remains a 404 gets ${shell.wanted?.path ?? 'a page'}`
  return `passed to the next middleware${storing}${got ?? ''}`
}
