// Lists every asset: those that can be published, and those that have been.
import { relative } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { AssetError } from '../../errors.ts'
import { listOwn } from '../../assets/inventory/own.ts'
import type { ManifestEntry } from '../../assets/building/manifest/manifest.ts'
import { readManifest } from '../../assets/building/manifest/read-manifest.ts'
import { manifestFile } from '../../assets/settings/public-directory.ts'
import type { Cell, Column, Site } from '../../assets/parts.ts'
import { loadSources } from '../../assets/sources/sources.ts'
import { warnOnce } from '../../printable.ts'

export interface ListedAsset {
  /** The plain URL path: `/assets/app.css`. */
  readonly path: string
  /** Relative to the project root; as in the manifest when the source no longer exists. */
  readonly source: string
  /** The URL path of the fingerprinted file; undefined until it is precompiled. */
  readonly target: string | undefined
  /** Of the target, in bytes. */
  readonly size: number | undefined
  /** What columns of extras say, by their names. */
  readonly cells: Readonly<Record<string, Cell>>
}

/** @throws AssetError for a broken manifest */
export async function listAssets(
  settings: Site,
  columns: readonly Column[]
): Promise<ListedAsset[]> {
  if (!settings.servesPublic) return []
  const published = await lastManifest(settings)
  const own = await listOwn(settings, await loadSources(settings, warnOnce()), published)
  const places = new Map(own.map(({ path, place }) => [path, place]))
  return inParallel(own, CONCURRENCY, async ({ path, place, entry }) => {
    // A source map belongs to a source.
    const { source } = place ?? places.get(path.replace(/\.map$/, '')) ?? {}
    const cells: Record<string, Cell> = {}
    for (const column of columns) {
      const cell = entry && (await column.of(entry))
      if (cell) cells[column.name] = cell
    }
    return {
      path,
      source: source ? relative(settings.root, source.file) : (entry?.source ?? ''),
      target: entry?.target,
      size: entry?.size,
      cells
    }
  })
}

const CONCURRENCY = 16

async function lastManifest(settings: Site): Promise<ReadonlyMap<string, ManifestEntry>> {
  try {
    return (await readManifest(manifestFile(settings))).assets
  } catch (error) {
    if (error instanceof AssetError && error.code === 'manifest-missing') return new Map()
    throw error
  }
}
