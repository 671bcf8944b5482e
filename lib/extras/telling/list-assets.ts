// Lists every asset: those that can be published, and those that have been.
import { relative } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { AssetError } from '../../errors.ts'
import { CODINGS } from '../../files/codings.ts'
import { SEAL_BYTES } from '../deltas/delta-format.ts'
import { statOf } from '../../files/disk.ts'
import { savingsOf, type DeltaSavings } from '../deltas/write-deltas.ts'
import { listPublished, type PublishedFile } from '../../assets/building/directory.ts'
import { listOwn } from '../../assets/inventory/own.ts'
import type { ManifestEntry } from '../../assets/building/manifest/manifest.ts'
import { readManifest } from '../../assets/building/manifest/read-manifest.ts'
import { manifestFile, publicFile } from '../../assets/settings/public-directory.ts'
import type { Site } from '../../assets/parts.ts'
import type { Settings } from '../../assets/settings/settings.ts'
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
  /** What the deltas to the target save; undefined when there is none. */
  readonly deltas?: DeltaSavings | undefined
}

/** @throws AssetError for a broken manifest */
export async function listAssets(settings: Site): Promise<ListedAsset[]> {
  if (!settings.servesPublic) return []
  const published = await lastManifest(settings)
  const own = await listOwn(settings, await loadSources(settings, warnOnce()), published)
  const places = new Map(own.map(({ path, place }) => [path, place]))
  const { deltas } = await listPublished(settings)
  return inParallel(own, CONCURRENCY, async ({ path, place, entry }) => {
    // A source map belongs to a source.
    const { source } = place ?? places.get(path.replace(/\.map$/, '')) ?? {}
    const beside = entry && deltas.get(decodeURIComponent(entry.target))
    const savings = beside && (await savingsAt(settings, entry, beside))
    return {
      path,
      source: source ? relative(settings.root, source.file) : (entry?.source ?? ''),
      target: entry?.target,
      size: entry?.size,
      ...(savings && { deltas: savings })
    }
  })
}

const CONCURRENCY = 16

async function savingsAt(
  settings: Settings,
  { target, size }: ManifestEntry,
  deltas: readonly PublishedFile[]
): Promise<DeltaSavings> {
  const file = publicFile(settings, decodeURIComponent(target))
  const sizeOf = async (path: string) => Number((await statOf(path))?.size ?? Infinity)
  const copies = await Promise.all(CODINGS.map(({ extension }) => sizeOf(file + extension)))
  const insteadOf = Math.min(size, ...copies)
  const sizes = await Promise.all(deltas.map(delta => sizeOf(delta.file)))
  return savingsOf(sizes.map(stored => ({ size: stored - SEAL_BYTES, insteadOf })))
}

async function lastManifest(settings: Settings): Promise<ReadonlyMap<string, ManifestEntry>> {
  try {
    return (await readManifest(manifestFile(settings))).assets
  } catch (error) {
    if (error instanceof AssetError && error.code === 'manifest-missing') return new Map()
    throw error
  }
}
