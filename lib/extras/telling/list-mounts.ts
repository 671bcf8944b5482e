// Lists the mounts, with the files that their bundlers' manifests name, as they are on disk now, and tells what
// they say about a path.
import { join, relative } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { AssetError } from '../../errors.ts'
import { CODINGS } from '../../files/codings.ts'
import { statOf } from '../../files/disk.ts'
import { excluderOf } from '../../files/globs.ts'
import { readSnapshot } from '../../files/open-file.ts'
import { namedBy } from '../bundles/manifests/bundle.ts'
import { addressAt, readBundle, withoutQuery } from '../bundles/manifests/read-bundle.ts'
import { isMounted, locate } from '../../assets/serving/request-path.ts'
import type { MountSettings, Settings } from '../../assets/settings/settings.ts'

export type ListedMount = Awaited<ReturnType<typeof listMounts>>[number]

/** With paths relative to the project root. */
export function listMounts({ mounts, root, env }: Settings) {
  return inParallel(mounts, 1, async mount => {
    const { urlPath, dir, manifest } = mount
    const listed = {
      mount: urlPath || '/',
      directory: relative(root, dir),
      /** Undefined for none, and where a dev server takes its place. */
      manifest: manifest === undefined ? undefined : relative(root, manifest)
    }
    try {
      return { ...listed, problem: undefined, files: await filesOf(mount, env) }
    } catch (error) {
      if (!(error instanceof AssetError)) throw error
      // Why the manifest says nothing.
      return { ...listed, problem: error.message, files: [] }
    }
  })
}

const CONCURRENCY = 16

/** The files that a manifest names, sorted by path. @throws AssetError for a manifest that is missing or broken */
async function filesOf({ urlPath, dir, manifest, exclude = [] }: MountSettings, env: string) {
  if (manifest === undefined) return []
  const read = await readSnapshot(manifest)
  if (!read) {
    const hint = env === 'development' ? ', unless its dev server is running' : ''
    throw new AssetError('manifest-missing', `there is no ${manifest}: build first${hint}`)
  }
  const bundle = readBundle(read.bytes, { urlPath, dir, manifest })
  const sources = new Map(Array.from(bundle.sources, ([name, file]) => [file, name]))
  const uses = Array.from(bundle.entries, ([name, load]) => {
    const tags = namedBy(load())
    return { name, tags, all: new Set(bundle.usedBy?.(name)) }
  })
  const namesWhere = (test: (use: (typeof uses)[number]) => boolean) =>
    uses.filter(test).map(({ name }) => name)
  const isExcluded = excluderOf(exclude)
  const served = [...bundle.files].filter(file => !isExcluded(withoutQuery(file)))
  return inParallel(served.toSorted(), CONCURRENCY, async file => ({
    /** The URL path, as tags have it: `/static/assets/main-CZTearZk.js`. */
    path: addressAt(urlPath, file).path,
    /** The name of its source, as pages write it; undefined where the manifest gives none. */
    source: sources.get(file),
    /** The entries whose tags include it. */
    entries: namesWhere(({ tags }) => tags.has(file)),
    /** Other entries that use it, such as by a dynamic import, as far as the manifest tells. */
    usedBy: namesWhere(({ tags, all }) => all.has(file) && !tags.has(file)),
    sizes: await sizesOf(join(dir, withoutQuery(file)))
  }))
}

/** By coding, `identity` first: of the file and of its compressed copies, in bytes. Empty: it is missing. */
async function sizesOf(file: string): Promise<Readonly<Record<string, number>>> {
  const all = [{ name: 'identity', extension: '' }, ...CODINGS].map(async coding => {
    const stats = await statOf(file + coding.extension)
    return stats?.isFile() ? { [coding.name]: Number(stats.size) } : {}
  })
  const sizes: Record<string, number> = Object.assign({}, ...(await Promise.all(all)))
  return 'identity' in sizes ? sizes : {}
}

/** The URL path of a bundle's file by the name of its source, or of an entry; undefined for other names. */
export function fileNamed(name: string, listed: readonly ListedMount[]): string | undefined {
  const files = listed.flatMap(each => each.files)
  const found =
    files.find(({ source }) => source === name) ??
    files.find(({ entries }) => entries.includes(name))
  return found?.path
}

/** In which mounts a path is looked for, and what the manifests say about it. */
export function mountsFinding(settings: Settings, path: string, listed: readonly ListedMount[]) {
  const { root, mounts, servesPublic } = settings
  const wanted = locate(path, settings)
  const isCovering = mounts.map(each => typeof wanted === 'object' && isMounted(wanted.path, each))
  const covering = mounts.filter((_, at) => isCovering[at])
  const places = covering
    .filter(({ dev }) => dev === undefined)
    .map(({ urlPath }) => `the mount ${urlPath || '/'}`)
  if (places.length > 0 && servesPublic) places.push('public')
  const without = covering.length === 0 ? 'none has this path' : "left to the bundler's dev server"
  const details = mounts.map(({ urlPath, dir, dev, published, exclude = [] }, at) => {
    const from = dev === undefined ? relative(root, dir) : "the bundler's dev server"
    const below =
      isCovering[at] && typeof wanted === 'object' && wanted.path.slice(urlPath.length + 1)
    const isExcluded = below && excluderOf(exclude)(below)
    const apps = published ? `, except ${published}/…, which the apps publish` : ''
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
