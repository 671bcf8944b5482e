// What there is: the project's own assets, those that have a source and those that only a manifest has; and the mounts,
// with the files that what built them names, as they are on disk now.
import { join, relative } from 'node:path'
import { firstAnswer, inParallel } from '../../concurrency.ts'
import { CODINGS } from '../../files/codings.ts'
import { statOf } from '../../files/disk.ts'
import { excluderOf } from '../../files/globs.ts'
import type { ManifestEntries, ManifestEntry } from '../building/manifest/manifest.ts'
import { sourcedNameIn } from '../building/on-request/app-files.ts'
import { listPlaces, type Place } from '../building/places.ts'
import type { NamedFile, Site } from '../parts.ts'
import type { Pipeline } from '../pipeline.ts'
import { locate, rawPath } from '../serving/request-path.ts'
import { assetPath } from '../settings/app-settings.ts'
import type { Settings } from '../settings/settings.ts'
import type { Sources } from '../sources/sources.ts'
import { encodePath, withoutBase } from '../urls/canonical-path.ts'

export interface OwnAsset {
  /** The plain URL path, encoded. */
  readonly path: string
  /** Undefined where the source is gone, and for what was made together with another asset, as source maps are. */
  readonly place: Place | undefined
  /** Relative to the project root; as in the manifest when the source no longer exists. */
  readonly source: string
  /** Undefined for what is not in the manifest. */
  readonly entry: ManifestEntry | undefined
}

/** All of them, in the order of paths. @param published by plain URL path */
export async function listOwn(
  settings: Settings,
  sources: Sources,
  published: ManifestEntries
): Promise<OwnAsset[]> {
  const listed = await listPlaces(settings, sources)
  const places = new Map(listed.map(place => [encodePath(place.path), place]))
  const paths = new Set([...places.keys(), ...published.keys()])
  return [...paths].toSorted().map(path => {
    const [place, entry] = [places.get(path), published.get(path)]
    // A source map belongs to a source.
    const { file } = (place ?? places.get(path.replace(/\.map$/, '')))?.source ?? {}
    const source = file === undefined ? (entry?.source ?? '') : relative(settings.root, file)
    return { path, place, source, entry }
  })
}

/** The path that a path, a URL or a name stands for; a name, as a view writes it, belongs to the app at `/`, the last one. */
export function pathOf(asked: string, { apps, base }: Settings): string {
  if (/^(?:\/|https?:\/\/)/i.test(asked)) return withoutBase(rawPath(asked), base)
  return encodePath(`${apps.at(-1)?.urlPrefix ?? ''}/${asked}`)
}

/** The plain URL path, decoded, of the asset of a path or a name, with a fingerprint or without. */
export async function ownPath({ settings, sources }: Pipeline, asked: string) {
  const wanted = locate(pathOf(asked, settings), settings)
  if (typeof wanted !== 'object' || wanted.app === settings.publicApp) return undefined
  const { app, name } = wanted
  const sourced = await sourcedNameIn(sources, app, name)
  const source = sourced === undefined ? undefined : await sources.of(app).find(sourced)
  return source && assetPath(app, source.name)
}

export interface ListedMount {
  readonly mount: string
  readonly directory: string
  /** Undefined for none, and where a dev server takes its place. */
  readonly manifest: string | undefined
  /** Why the manifest says nothing. */
  readonly problem: string | undefined
  readonly files: readonly ListedFile[]
}

export interface ListedFile extends Omit<NamedFile, 'file'> {
  /** By coding, `identity` first: of the file and of its compressed copies, in bytes. Empty: it is missing. */
  readonly sizes: Readonly<Record<string, number>>
}

const CONCURRENCY = 16

/** With paths relative to the project root. */
export function listMounts({ mounts, root, env, extras }: Site): Promise<ListedMount[]> {
  return inParallel(mounts, 1, async mount => {
    const { urlPath, dir, exclude = [] } = mount
    const facts = await firstAnswer(extras, extra => extra.facts?.(mount, env))
    const { manifest, problem, files = [] } = facts ?? {}
    const isExcluded = excluderOf(exclude)
    const served = files.filter(({ file }) => !isExcluded(file))
    return {
      mount: urlPath || '/',
      directory: relative(root, dir),
      manifest: manifest === undefined ? undefined : relative(root, manifest),
      problem,
      files: await inParallel(served, CONCURRENCY, async ({ file, ...named }) => {
        return { ...named, sizes: await sizesOf(join(dir, file)) }
      })
    }
  })
}

/** Of a file and of its compressed copies. */
async function sizesOf(file: string): Promise<ListedFile['sizes']> {
  const all = [{ name: 'identity', extension: '' }, ...CODINGS].map(async coding => {
    const stats = await statOf(file + coding.extension)
    return stats?.isFile() ? { [coding.name]: Number(stats.size) } : {}
  })
  const sizes: Record<string, number> = Object.assign({}, ...(await Promise.all(all)))
  return 'identity' in sizes ? sizes : {}
}
