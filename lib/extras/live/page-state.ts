// Finds what the live channel tells a page: the versions of its parts, and which are broken.
import { join } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { AssetError, CompileError, ifAssetError } from '../../runtime/errors.ts'
import { digestOf } from '../../runtime/files/digest.ts'
import type { Stamp } from '../../runtime/files/disk.ts'
import {
  isFileObservation,
  observe,
  recheck,
  type FileObservation
} from '../../publishing/sources/observation.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import { withSlashes } from '../../runtime/files/paths.ts'
import { errorReport, type ErrorReport } from '../../publishing/error-page.ts'
import { publishingIn } from '../../publishing/building/on-request.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { isBelow, locate } from '../../runtime/serving/request.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { Tree } from '../../publishing/sources/tree.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'
import { bundlesIn } from '../vite/bundles.ts'
import { iconsIn } from '../media/media.ts'

/** A page compares the version of each part with the one that it has. */
export interface Part {
  /** The plain URL path of an asset, encoded; for other parts, a name that is not a path. */
  readonly key: string
  /** Null while an asset cannot be published. */
  readonly version: string | null
  /** The time of the change, in milliseconds since 1970. */
  readonly changedAt: number
  /** The URL path by which the page requested the asset. */
  readonly path?: string
  /** The URL path by which it is requested now. */
  readonly url?: string
}

export type LinkedReport = ErrorReport & { readonly link?: string | undefined }

export interface AssetState {
  readonly part: Part
  readonly inputs?: readonly string[]
  readonly problem?: LinkedReport
  readonly isOfPackage?: boolean
}

/** The members with which the running part of another extra tells pages more. */
export interface Following {
  /** Called with the states of used assets before pages are told. @param paths of pages that were told before */
  look(states: ReadonlyMap<string, AssetState | undefined>, paths: ReadonlySet<string>): void
  /** The tick of the latest edit; a page is told what has happened since the tick that it knows. */
  readonly tick: number
  /** Set by the channel, and called when there is news other than an edit. */
  onNews?: () => void
  /** Returns JSON values to tell a page besides the state; undefined if nothing happened. */
  since(tick: number): object | undefined
}

export const followingIn = (running: readonly object[]): Following | undefined =>
  running.flatMap(each => ('following' in each ? (each.following as Following) : []))[0]

/** Brings an asset up to date like a request. A path that is not served, and a file of a build, have no state. */
export async function stateOf(pipeline: Pipeline, path: string): Promise<AssetState | undefined> {
  const { settings } = pipeline
  const { base } = settings
  const wanted = isBelow(path, base) && locate(path.slice(base.length), settings)
  if (typeof wanted !== 'object') return undefined
  // A module of an earlier build is looked up in packages; if these cannot be built, `stateOfPackages` reports it.
  const plain = await pipeline.plain(wanted).catch(ifAssetError(() => undefined))
  if (!plain) return undefined
  const key = encodePath(plain.path)
  return orBroken({ key, changedAt: 0, path, url: base + key }, settings, async () => {
    const file = await pipeline.current(plain)
    if (!file) return undefined
    const [{ etag: version, stamp }] = file.variants
    if (isBuilt(pipeline, plain.path, stamp)) return undefined
    // An edit counts from when the source was saved; the asset may have been published for this very page.
    const publishing = publishingIn(pipeline)
    const inputs = publishing.indexed(plain.path)?.inputs ?? []
    const stamps = inputs.flatMap(each => (isFileObservation(each) ? each.stamp : []))
    const times = stamps.length > 0 ? stamps : [stamp]
    const changedAt = Math.max(...times.map(({ mtimeNs }) => Number(mtimeNs / 1_000_000n)))
    const part = { key, version, changedAt, path, url: base + pipeline.addressOf(plain) }
    const { source } = publishing.sources.of(plain.app).chosen(plain.name)
    const isOfPackage = source?.specifiers !== undefined
    return { part, inputs: inputs.map(each => each.path), isOfPackage }
  })
}

/** Returns the state that `make` makes; if it fails, one without a version. */
function orBroken(
  part: Omit<Part, 'version'>,
  settings: Settings,
  make: () => Promise<AssetState | undefined>
) {
  const broken = async (error: AssetError): Promise<AssetState> => {
    const problem = { ...(await errorReport(error, settings)), link: linkTo(error, settings) }
    return { part: { ...part, version: null }, problem }
  }
  return make().catch(ifAssetError(broken))
}

// The parts of icons have no URL, as only a reload shows a change. Pages are told of all, as none says which it has.
export function statesOfIcons(pipeline: Pipeline): Promise<(AssetState | undefined)[]> {
  const { settings, running } = pipeline
  return inParallel([...iconsIn(running)], CONCURRENCY, async icon => {
    const state = await stateOf(pipeline, settings.base + icon.path)
    if (!state) return undefined
    const { key, version, changedAt } = state.part
    const part = { key: `icon in pages: ${key}`, version, changedAt }
    return orBroken(part, settings, async () => {
      // A half-written file is a problem, and reloads no page.
      if (!state.problem) icon.read()
      return { ...state, part }
    })
  })
}

/** Builds edited packages again, like a page, and returns the state if that fails; modules have states of their own. */
export const stateOfPackages = (pipeline: Pipeline): Promise<AssetState | undefined> =>
  orBroken({ key: 'packages', changedAt: 0 }, pipeline.settings, async () => {
    await Promise.all(publishingIn(pipeline).dependencies.map(async each => each.refresh?.(0)))
    return undefined
  })

/** Tells whether a build wrote a file: pages are told of a build as a whole, as its files are written one by one. */
const isBuilt = ({ running }: Pipeline, path: string, stamp: Stamp) =>
  bundlesIn(running)?.followed.some(
    each => isBelow(path, each.urlPath) && each.hasBuilt(path.slice(each.urlPath.length + 1), stamp)
  )

/** Returns a link such as `vscode://file/srv/app/apps/web/assets/stylesheets/app.css.scss:3:7`. */
function linkTo(error: AssetError, { live }: Settings): string | undefined {
  if (!live?.editor || !(error instanceof CompileError)) return undefined
  const { file, line = 1, column = 1 } = error.location
  const path = encodePath(withSlashes(file))
  return `${live.editor}://file${path.startsWith('/') ? '' : '/'}${path}:${line}:${column}`
}

const CONCURRENCY = 16

type Watched = FileObservation & { readonly text: string }

/** Returns one part for all files of the option `live.watch`, whose version survives a restart. */
export function watchedFiles({ live, symlinks }: Settings, onEvent: () => void) {
  const trees = (live?.watch ?? []).map(directory => new Tree(directory, symlinks, onEvent))
  let seen: ReadonlyMap<string, Watched> = new Map()
  return async () => {
    await Promise.all(trees.map(tree => tree.refresh()))
    const files = trees.flatMap(tree =>
      [...tree.files(true)].map(path => join(tree.directory, path))
    )
    const looks = await inParallel(files, CONCURRENCY, async path => {
      const known = seen.get(path)
      const same = known && (await recheck(known))
      if (same) return same
      const readAt = Date.now()
      const read = await readSnapshot(path)
      return read ? { ...observe(path, read, readAt), text: digestOf(read.bytes) } : []
    })
    const found = looks.flat()
    seen = new Map(found.map(each => [each.path, each]))
    const texts = found.map(({ path, text }) => `${text} ${path}\n`).toSorted()
    const times = found.map(({ stamp }) => Number(stamp.mtimeNs / 1_000_000n))
    const changedAt = times.reduce((last, time) => Math.max(last, time), 0)
    return { key: 'live.watch', version: digestOf(texts.join('')), changedAt }
  }
}
