// Lists the mounts, with the files that their bundlers' manifests name, as they are on disk now.
import { join, relative } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { AssetError } from '../../errors.ts'
import { CODINGS } from '../../files/codings.ts'
import { statOf } from '../../files/disk.ts'
import { readSnapshot } from '../../files/open-file.ts'
import type { Bundle } from '../bundles/bundle.ts'
import { addressAt, readBundle, withoutQuery } from '../bundles/mounted-bundle.ts'
import type { MountSettings, Settings } from '../settings/settings.ts'
import { groupBy } from '../building/published-files.ts'

/** A file that a manifest names. */
export interface MountedFile {
  /** The URL path, as tags have it: `/static/assets/main-CZTearZk.js`. */
  readonly path: string
  /** The name of its source, as pages write it; undefined where the manifest gives none. */
  readonly source: string | undefined
  /** The entries whose tags include it. */
  readonly entries: readonly string[]
  /** Other entries that use it, such as by a dynamic import, as far as the manifest tells. */
  readonly usedBy: readonly string[]
  /** By coding, `identity` first: sizes of the file and of its compressed copies, in bytes. Empty: it is missing. */
  readonly sizes: Readonly<Record<string, number>>
}

export interface ListedMount {
  /** The URL path: `/static`, or `/`. */
  readonly mount: string
  /** Relative to the project root. */
  readonly directory: string
  /** Relative to the project root; undefined for none, and where a dev server takes its place. */
  readonly manifest: string | undefined
  /** Why the manifest says nothing. */
  readonly problem?: string | undefined
  /** Sorted by path; empty without a manifest. */
  readonly files: readonly MountedFile[]
}

export function listMounts({ mounts, root, env }: Settings): Promise<ListedMount[]> {
  return inParallel(mounts, 1, async mount => {
    const { urlPath, dir, manifest } = mount
    const listed = {
      mount: urlPath || '/',
      directory: relative(root, dir),
      manifest: manifest === undefined ? undefined : relative(root, manifest)
    }
    try {
      return { ...listed, files: await filesOf(mount, env) }
    } catch (error) {
      if (!(error instanceof AssetError)) throw error
      return { ...listed, problem: error.message, files: [] }
    }
  })
}

const CONCURRENCY = 16

/** @throws AssetError for a manifest that is missing or broken */
async function filesOf(
  { urlPath, dir, manifest }: MountSettings,
  env: string
): Promise<MountedFile[]> {
  if (manifest === undefined) return []
  const read = await readSnapshot(manifest)
  if (!read) {
    const hint = env === 'development' ? ', unless its dev server is running' : ''
    throw new AssetError('manifest-missing', `there is no ${manifest}: build first${hint}`)
  }
  const bundle = readBundle(read.bytes, { urlPath, dir, manifest })
  const sources = new Map(Array.from(bundle.sources, ([name, file]) => [file, name]))
  const { entries, usedBy } = namesByFile(bundle)
  return inParallel([...bundle.files].toSorted(), CONCURRENCY, async file => ({
    path: addressAt(urlPath, file).path,
    source: sources.get(file),
    entries: entries.get(file) ?? [],
    usedBy: (usedBy.get(file) ?? []).filter(name => !entries.get(file)?.includes(name)),
    sizes: await sizesOf(join(dir, withoutQuery(file)))
  }))
}

function namesByFile({ entries, usedBy }: Bundle) {
  const names = [...entries.keys()]
  const inTags = (name: string) => (entries.get(name) ?? []).map(({ file }) => file)
  const byFile = (filesOf: (name: string) => readonly string[]) => {
    const pairs = names.flatMap(name => [...new Set(filesOf(name))].map(file => ({ file, name })))
    return new Map(
      Array.from(
        groupBy(pairs, ({ file }) => file),
        ([file, group]) => [file, group.map(({ name }) => name)]
      )
    )
  }
  return { entries: byFile(inTags), usedBy: byFile(usedBy ?? (() => [])) }
}

async function sizesOf(file: string): Promise<Readonly<Record<string, number>>> {
  const all = [{ name: 'identity', extension: '' }, ...CODINGS]
  const sizes = all.map(async ({ name, extension }) => {
    const stats = await statOf(file + extension)
    return stats?.isFile() ? ([[name, Number(stats.size)]] as const) : []
  })
  const found = (await Promise.all(sizes)).flat()
  return found[0]?.[0] === 'identity' ? Object.fromEntries(found) : {}
}
