// Lists the project's own assets, and mounts with the files that manifests name, and finds the state of an asset.
import { join } from 'node:path'
import { listAssets } from '../../publishing/building/assets.ts'
import { NEVER, type IndexEntry } from '../../publishing/building/mtime-index.ts'
import { errorReport } from '../../publishing/error-page.ts'
import { Renderer } from '../../publishing/rendering/renderer.ts'
import type { Sourced } from '../../publishing/sources/snapshot.ts'
import { asPublishError } from '../../publishing/writing/write.ts'
import type { Sources } from '../../publishing/sources/sources.ts'
import type { Problem } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { publishingIn } from '../../publishing/building/on-request.ts'
import { inParallel } from '../../runtime/concurrency.ts'
import { AssetError, reasonOf, whyUnreadable } from '../../runtime/errors.ts'
import { CODINGS } from '../../runtime/files/codings.ts'
import { checksumsOf, digestOfFile } from '../../runtime/files/digest.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import { excluderOf, pathFrom } from '../../runtime/files/paths.ts'
import { locate, rawPath } from '../../runtime/serving/request.ts'
import { assetPath } from '../../runtime/settings/apps.ts'
import { publicFile } from '../../runtime/settings/public-directory.ts'
import type { MountSettings, Settings } from '../../runtime/settings/settings.ts'
import { encodePath, withoutBase } from '../../runtime/urls/spelling.ts'
import type { AssetsByPath } from '../../runtime/urls/manifest.ts'
import { namedBy, withoutQuery } from '../vite/manifests/bundle.ts'
import { addressAt, readBundle } from '../vite/manifests/read-bundle.ts'

/** Lists all assets that have a source or are only in the manifest, in the order of paths. */
export async function listOwn(settings: Settings, sources: Sources, published: AssetsByPath) {
  const listed = await withoutPackages(listAssets(settings, sources), error => {
    if (published.size === 0 || settings.apps.some(app => !app.fingerprint)) throw error
    return []
  })
  const places = new Map(listed.map(place => [encodePath(place.path), place]))
  const paths = new Set([...places.keys(), ...published.keys()])
  return [...paths].toSorted().map(path => {
    const [place, entry] = [places.get(path), published.get(path)]
    // A source map belongs to a source.
    const { file } = (place ?? places.get(path.replace(/\.map$/, '')))?.source ?? {}
    const source = file === undefined ? (entry?.source ?? '') : pathFrom(settings.root, file)
    return { path, source, entry }
  })
}

/** Handles unusable packages: a production server has the files made of them by precompile, but rarely the packages. */
export function withoutPackages<T, U>(work: Promise<T>, otherwise: (error: AssetError) => U) {
  return work.catch((error: unknown) => {
    if (!(error instanceof AssetError) || error.code !== 'package-unusable') throw error
    return otherwise(error)
  })
}

/** Returns the path of a path, a URL or a name; a name belongs to the app at `/`, the last one. */
export function pathOf(asked: string, { apps, base }: Settings): string {
  if (/^(?:\/|https?:\/\/)/i.test(asked)) return withoutBase(rawPath(asked), base)
  return encodePath(`${apps.at(-1)?.urlPrefix ?? ''}/${asked}`)
}

/** Returns the decoded plain URL path of the asset of a path or a name, with or without a fingerprint. */
export async function ownPath(pipeline: Pipeline, asked: string) {
  const { settings, sources, sourced } = publishingIn(pipeline)
  const wanted = locate(pathOf(asked, settings), settings)
  if (typeof wanted !== 'object' || wanted.app === settings.publicApp) return undefined
  const { app, name } = wanted
  const sourcedName = await sourced(app, name)
  const source = sourcedName === undefined ? undefined : await sources.of(app).find(sourcedName)
  return source && assetPath(app, source.name)
}

export type ListedMount = Awaited<ReturnType<typeof listMounts>>[number]

export function listMounts({ mounts, root, env }: Settings) {
  return inParallel(mounts, 1, async mount => {
    const { urlPath, dir, manifest } = mount
    const named = await filesOf(mount, env).catch(whyUnreadable)
    return {
      mount: urlPath || '/',
      directory: pathFrom(root, dir),
      manifest: manifest === undefined ? undefined : pathFrom(root, manifest),
      problem: typeof named === 'string' ? named : undefined,
      files: typeof named === 'string' ? [] : named
    }
  })
}

export function faultsOf({ mount, manifest, problem, files }: ListedMount, remedy = ''): Problem[] {
  if (problem !== undefined) return [{ path: mount, message: `has no build: ${problem}` }]
  const missing = files.filter(({ sizes }) => sizes['identity'] === undefined)
  const message = `is missing, and ${manifest} names it${remedy}`
  return missing.map(({ path }) => ({ path, message }))
}

async function filesOf(mount: MountSettings, env: string) {
  const { manifest, urlPath, dir, exclude = [] } = mount
  if (manifest === undefined) return []
  const read = await readSnapshot(manifest)
  if (!read) {
    const hint = env === 'development' ? ', unless its dev server is running' : ''
    throw new AssetError('manifest-missing', `there is no ${manifest}: build first${hint}`)
  }
  const bundle = readBundle(read.bytes, { ...mount, manifest })
  const sources = new Map(Array.from(bundle.sources, ([name, file]) => [file, name]))
  const tags = Array.from(bundle.entries, ([name, load]) => [name, namedBy(load())] as const)
  const isExcluded = excluderOf(exclude)
  const served = [...bundle.files].filter(file => !isExcluded(withoutQuery(file)))
  return inParallel(served.toSorted(), 16, async file => ({
    path: addressAt(urlPath, file).path,
    /** The name by which pages ask for its source; undefined if the manifest gives none. */
    source: sources.get(file),
    entries: tags.flatMap(([name, files]) => (files.has(file) ? name : [])),
    sizes: await sizesOf(join(dir, withoutQuery(file)))
  }))
}

/** Returns the sizes of a file (`identity`, the first) and of its copies, by coding; none for a missing file. */
async function sizesOf(file: string): Promise<Readonly<Record<string, number>>> {
  const all = [{ name: 'identity', extension: '' }, ...CODINGS].map(async coding => {
    const stats = await statOf(file + coding.extension)
    return stats?.isFile() ? { [coding.name]: Number(stats.size) } : {}
  })
  const sizes: Record<string, number> = Object.assign({}, ...(await Promise.all(all)))
  return 'identity' in sizes ? sizes : {}
}

export type Verdict = Pick<Reading, 'reason'> & {
  readonly state: Awaited<ReturnType<typeof stateOf>>
}

export interface Reading extends Pick<IndexEntry, 'source' | 'generation' | 'inputs'> {
  readonly problems: readonly string[]
  /** The plain URL paths, decoded, of the assets to which it refers. */
  readonly refersTo: readonly string[]
  /** The digest of the bytes under plain names; undefined for an asset that cannot be published. */
  readonly digest?: string
  /** The reason why it cannot be published: `apps/web/assets/app.css.scss:1:4: expected "}".` */
  readonly reason?: string | undefined
}

export async function readSource(pipeline: Pipeline, asset: Sourced): Promise<Reading> {
  const { settings, sources } = publishingIn(pipeline)
  const { path, source } = asset
  const { generation } = sources
  const broken = { source: source.file, generation: NEVER, inputs: [], refersTo: [] }
  const reasonFor = async (error: AssetError) => {
    const { location, reason } = await errorReport(error, settings)
    return [location, reason].filter(Boolean).join(': ')
  }
  try {
    const renderer = new Renderer(settings, sources)
    const draft = await renderer.draft(asset)
    if (!draft) throw new Error(`${source.file} was removed, or is not a regular file`)
    const { found, errors, warnings } = await renderer.resolveAll(draft)
    const paths = found.flatMap(to => (to ? assetPath(to.app, to.source.name) : []))
    const { inputs, isSettled } = draft
    const { digest } = await checksumsOf(renderer.plain(draft, found), [])
    return {
      source: source.file,
      generation: isSettled ? generation : NEVER,
      inputs,
      refersTo: [...new Set(paths)],
      problems: [...warnings, ...errors.map(({ message }) => message)],
      ...(errors[0] ? { reason: await reasonFor(errors[0]) } : { digest })
    }
  } catch (caught) {
    const error = asPublishError(settings, path, caught)
    if (!(error instanceof AssetError)) return { ...broken, problems: [reasonOf(error)] }
    const reason = await reasonFor(error)
    return { ...broken, problems: [reason], reason }
  }
}

/** Returns the state. The next request publishes an `outdated` or `unpublished` asset; a `broken` one cannot be. */
export async function stateOf(pipeline: Pipeline, { app, path }: Sourced, { digest }: Reading) {
  if (digest === undefined && (app.compile || !app.fingerprint)) return 'broken'
  if (app.fingerprint)
    return pipeline.namesOf(app)?.assets.has(encodePath(path)) ? 'published' : 'unpublished'
  const file = publicFile(pipeline.settings, path)
  if (!(await statOf(file))?.isFile()) return 'unpublished'
  return (await digestOfFile(file)) === digest ? 'published' : 'outdated'
}

export async function verdictOn(pipeline: Pipeline, asset: Sourced): Promise<Verdict> {
  const reading = await readSource(pipeline, asset)
  return { state: await stateOf(pipeline, asset, reading), reason: reading.reason }
}
