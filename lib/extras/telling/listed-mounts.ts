// Lists the mounts, with the files that the manifests of their builds name, as they are on disk now.
import { join } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { AssetError } from '../../runtime/errors.ts'
import { CODINGS } from '../../runtime/files/codings.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { excluderOf, pathFrom } from '../../runtime/files/paths.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import type { MountSettings, Settings } from '../../runtime/settings/settings.ts'
import { namedBy, withoutQuery } from '../vite/manifests/bundle.ts'
import { addressAt, readBundle } from '../vite/manifests/read-bundle.ts'

export interface ListedMount {
  readonly mount: string
  readonly directory: string
  /** The bundler's manifest; undefined if there is none, and where a dev server stands in for it. */
  readonly manifest: string | undefined
  /** Says why the manifest cannot be read. */
  readonly problem: string | undefined
  /** The files in the order of their paths. */
  readonly files: readonly ListedFile[]
}

export interface ListedFile {
  /** The URL path in tags: `/static/assets/main-CZTearZk.js`. */
  readonly path: string
  /** The name by which pages ask for its source; undefined where the manifest gives none. */
  readonly source: string | undefined
  /** The entries whose tags include the file. */
  readonly entries: readonly string[]
  /** Other entries that use it, such as by a dynamic import, as far as the manifest tells. */
  readonly usedBy: readonly string[]
  /**
   * The sizes in bytes of the file (`identity`, the first) and of its copies, by coding. Empty: the file is missing.
   */
  readonly sizes: Readonly<Record<string, number>>
}

const CONCURRENCY = 16

/** The paths are relative to the project root. */
export function listMounts({ mounts, root, env }: Settings): Promise<ListedMount[]> {
  return inParallel(mounts, 1, async mount => {
    const { urlPath, dir, manifest } = mount
    const listed = {
      mount: urlPath || '/',
      directory: pathFrom(root, dir),
      manifest: manifest === undefined ? undefined : pathFrom(root, manifest),
      problem: undefined,
      files: []
    }
    if (manifest === undefined) return listed
    try {
      return { ...listed, files: await filesOf({ ...mount, manifest }, env) }
    } catch (error) {
      if (!(error instanceof AssetError)) throw error
      return { ...listed, problem: error.message }
    }
  })
}

/** @throws AssetError for a manifest that is missing or broken */
async function filesOf(
  mount: MountSettings & { readonly manifest: string },
  env: string
): Promise<ListedFile[]> {
  const { manifest, urlPath, dir, exclude = [] } = mount
  const read = await readSnapshot(manifest)
  if (!read) {
    const hint = env === 'development' ? ', unless its dev server is running' : ''
    throw new AssetError('manifest-missing', `there is no ${manifest}: build first${hint}`)
  }
  const bundle = readBundle(read.bytes, mount)
  const sources = new Map(Array.from(bundle.sources, ([name, file]) => [file, name]))
  const uses = Array.from(bundle.entries, ([name, load]) => {
    return { name, tags: namedBy(load()), all: new Set(bundle.usedBy?.(name)) }
  })
  const namesWhere = (test: (use: (typeof uses)[number]) => boolean) =>
    uses.filter(test).map(({ name }) => name)
  const isExcluded = excluderOf(exclude)
  const served = [...bundle.files].filter(file => !isExcluded(withoutQuery(file)))
  return inParallel(served.toSorted(), CONCURRENCY, async file => ({
    path: addressAt(urlPath, file).path,
    source: sources.get(file),
    entries: namesWhere(({ tags }) => tags.has(file)),
    usedBy: namesWhere(({ tags, all }) => all.has(file) && !tags.has(file)),
    sizes: await sizesOf(join(dir, withoutQuery(file)))
  }))
}

/** Returns the sizes of a file and of its compressed copies. */
async function sizesOf(file: string): Promise<ListedFile['sizes']> {
  const all = [{ name: 'identity', extension: '' }, ...CODINGS].map(async coding => {
    const stats = await statOf(file + coding.extension)
    return stats?.isFile() ? { [coding.name]: Number(stats.size) } : {}
  })
  const sizes: Record<string, number> = Object.assign({}, ...(await Promise.all(all)))
  return 'identity' in sizes ? sizes : {}
}
