// What the mounts, and the manifests of their bundlers, say about a path or a name.
import { relative } from 'node:path'
import { isMounted, locate } from '../serving/request-path.ts'
import type { Settings } from '../settings/settings.ts'
import type { ListedMount } from './list-mounts.ts'

/** The URL path of a bundle's file by the name of its source, or of an entry; undefined for other names. */
export function fileNamed(name: string, listed: readonly ListedMount[]): string | undefined {
  const files = listed.flatMap(each => each.files)
  const found =
    files.find(({ source }) => source === name) ??
    files.find(({ entries }) => entries.includes(name))
  return found?.path
}

/** In which mounts a path is looked for, and what the manifests say about it. */
export function mountsFinding(
  settings: Settings,
  path: string,
  listed: readonly ListedMount[]
): [finding: string, details: readonly string[]] {
  const { root, mounts, servesPublic } = settings
  const wanted = locate(path, settings)
  const covering = mounts.filter(each => typeof wanted === 'object' && isMounted(wanted.path, each))
  const places = covering
    .filter(({ dev }) => dev === undefined)
    .map(({ urlPath }) => `the mount ${urlPath || '/'}`)
  if (places.length > 0 && servesPublic) places.push('public')
  const without = covering.length === 0 ? 'none has this path' : "left to the bundler's dev server"
  const details = mounts.map(({ urlPath, dir, dev, published }) => {
    const from = dev === undefined ? relative(root, dir) : "the bundler's dev server"
    return `${urlPath}/…: ${from}${published ? `, except ${published}/…, which the apps publish` : ''}`
  })
  const isCovering = ({ mount }: ListedMount) =>
    covering.some(({ urlPath }) => (urlPath || '/') === mount)
  const told = listed.filter(isCovering).flatMap(each => detailsOf(each, path))
  return [places.join(', then ') || without, [...details, ...told]]
}

function detailsOf({ manifest, problem, files }: ListedMount, path: string): string[] {
  if (problem !== undefined) return [problem]
  if (manifest === undefined) return []
  const file = files.find(each => each.path === path)
  if (!file) return [`${manifest} does not name it`]
  const { source, entries, usedBy, sizes } = file
  const details = [`${manifest} names it${source === undefined ? '' : `, made from ${source}`}`]
  if (Object.keys(sizes).length === 0) details.push('it is missing on disk: build again')
  for (const entry of entries) {
    const tags = files.filter(each => each.entries.includes(entry))
    details.push(`the tags of ${entry}: ${tags.map(each => each.path).join(', ')}`)
  }
  if (usedBy.length > 0) details.push(`used by ${usedBy.join(', ')}, whose tags do not include it`)
  return details
}
