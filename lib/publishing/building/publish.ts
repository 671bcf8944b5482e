// Publishes a build, fingerprinted files first, then plain names and the manifest together, and reports what changed.
import type { Project } from '../../runtime/app/extra.ts'
import { inParallel } from '../../runtime/concurrency.ts'
import { sum } from '../../runtime/lists.ts'
import { removeInPlace, wouldBeInPlace } from '../../runtime/files/containment.ts'
import { errorCode, undefinedIfMissing, statOf } from '../../runtime/files/disk.ts'
import type { PrecompileRows } from '../../runtime/settings/extra-options.ts'
import { manifestFile, publicFile } from '../../runtime/settings/public-directory.ts'
import type { AssetsByPath } from '../../runtime/urls/manifest.ts'
import { readAssets } from '../../runtime/urls/read-manifest.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'
import type { Lock } from '../writing/lock.ts'
import {
  prepareReplacement,
  rethrowAsPublishError,
  touch,
  type Replacement
} from '../writing/write.ts'
import type { Unsaved } from '../writing/unsaved.ts'
import { namesOf, publishedPath, type Built } from './assets.ts'
import type { BuildResult } from './builder.ts'
import { commitAll, discardAll, writeAsset, type WrittenAsset } from './write-asset.ts'

interface PublishOptions {
  /** The paths of the files that development may have published. */
  readonly left: readonly string[]
  readonly lock: Lock
  readonly unsaved: Unsaved
  readonly signal: AbortSignal | undefined
  readonly onProgress: (done: number, total: number, path: string) => void
}

// Compression runs on the thread pool, four at a time.
const CONCURRENCY = 8
/** The number of renames at a time: a thread that finds the next call waiting need not be woken. */
const RENAMES = 64

/** Until the final commit, a failure leaves the manifest, the files it names, and the plain names as they were. */
export async function publishBuild(
  settings: Project,
  { assets, inViews }: Omit<BuildResult, 'failures'>,
  { left, signal, lock, unsaved, onProgress }: PublishOptions
) {
  const [path, file] = [`${settings.prefix}.json`, manifestFile(settings)]
  const failed = rethrowAsPublishError(settings, path)
  const before = await readAssets(file, true).catch(failed)
  const names = namesOf(assets, { apps: settings.apps, inViews })
  const save = () => unsaved.save().catch(failed)
  const extras = before.size > 0 ? settings.extras : []
  const made = extras.flatMap(extra => extra.deltas?.writer(settings, before, unsaved) ?? [])
  const writers = await Promise.all(made)
  const written = new Map<string, WrittenAsset>()
  let done = 0
  const write = async (built: Built) => {
    const rethrow = rethrowAsPublishError(settings, built.path)
    const result = await writeAsset(settings, built, assets, { unsaved }).catch(rethrow)
    const { app, asset, digest, path: plain } = built
    const { smallest } = result
    written.set(plain, result)
    const entry = { path: publishedPath(built), plain, size: asset.size, digest, smallest }
    for (const writer of app.fingerprint ? writers : []) await writer.write(entry).catch(rethrow)
    onProgress(++done, assets.size, plain)
  }
  const commit = (at: string, replacements: readonly Replacement[]) =>
    commitAll(replacements).catch(rethrowAsPublishError(settings, at))
  const manifest: Replacement[] = []
  try {
    await inParallel([...assets.values()], CONCURRENCY, write, signal)
    signal?.throwIfAborted()
    const text = Buffer.from(`${JSON.stringify(names, undefined, 2)}\n`)
    manifest.push(await prepareReplacement(file, text, { unsaved }).catch(failed))
    // The files are saved before the manifest that names them, so that pages find them after a power loss.
    await save()
    const kept = await touchSuperseded(settings, before, names.assets)
    signal?.throwIfAborted()
    await lock.check()
    await withSignalsDeferred(async () => {
      await inParallel([...written], RENAMES, ([at, { replacements }]) => commit(at, replacements))
      await save()
      await commit(path, manifest)
      // The mtime of the manifest is the time of the last build, whether or not it changed anything.
      if (!manifest[0]?.isNew) await touch(file, BigInt(Date.now()) * 1_000_000n)
      await save()
    })
    // A module that is now part of another file has left its own behind. Pages may refer to files of the last manifest.
    const useless = left.filter(at => !assets.has(at) && !before.has(encodePath(at)))
    const drop = (at: string) => removeInPlace(settings.place, publicFile(settings, at))
    await inParallel(useless, CONCURRENCY, drop).catch(failed)
    const isWritten = (plain: string) => written.get(decodeURIComponent(plain))?.isNew === true
    return {
      ...reportOn(names.assets, before, isWritten),
      compressedBytes: sum(Array.from(written.values(), ({ smallest }) => smallest)),
      kept,
      ...(await rowsOf<PrecompileRows>(writers))
    }
  } catch (error) {
    const plain = Array.from(written.values(), ({ replacements }) => replacements)
    await inParallel([...plain, manifest], CONCURRENCY, discardAll)
    throw error
  }
}

// Renews the change time of files that the manifest no longer names: open pages still request them, and `clean` counts
// their age from that time, which nobody can set to a chosen value. Resolves to the number of those that exist.
async function touchSuperseded(settings: Project, before: AssetsByPath, now: AssetsByPath) {
  const current = new Set(Array.from(now.values(), ({ target }) => target))
  const superseded = [...before.values()].filter(({ target }) => !current.has(target))
  const found = await inParallel(superseded, CONCURRENCY, async ({ target }) => {
    const file = publicFile(settings, decodeURIComponent(target))
    const stats = await statOf(file)
    if (!stats?.isFile() || !(await wouldBeInPlace(settings.place, file))) return []
    await undefinedIfMissing(touch(file, stats.mtimeNs, settings.place)).catch((error: unknown) => {
      // Another user's file keeps its change time.
      if (errorCode(error) !== 'EACCES') throw error
    })
    return [file]
  })
  return found.flat().length
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Renames and removals are not interrupted: a signal that nobody else listens to is sent again afterwards. */
async function withSignalsDeferred(work: () => Promise<void>): Promise<void> {
  const unhandled = SIGNALS.filter(name => process.listenerCount(name) === 0)
  let received: NodeJS.Signals | undefined
  const defer = (signal: NodeJS.Signals) => void (received = signal)
  for (const name of unhandled) process.on(name, defer)
  try {
    await work()
  } finally {
    for (const name of unhandled) process.off(name, defer)
    if (received) process.kill(process.pid, received)
  }
}

export function reportOn(
  now: AssetsByPath,
  before: AssetsByPath,
  isWritten = (_path: string) => false
) {
  const paths = [...now.keys()].toSorted()
  const isChanged = (path: string) =>
    before.get(path)?.target !== now.get(path)?.target || isWritten(path)
  const sized = Array.from(now.values(), ({ path, size }) => ({ path, size }))
  return {
    assets: now.size,
    bytes: sum(sized.map(({ size }) => size)),
    largest: sized.toSorted((a, b) => b.size - a.size).slice(0, 5),
    changes: {
      added: paths.filter(path => !before.has(path)),
      changed: paths.filter(path => before.has(path) && isChanged(path)),
      removed: [...before.keys()].filter(path => !now.has(path)).toSorted()
    }
  }
}

export async function rowsOf<Rows>(by: readonly { report?(): Promise<object> }[]): Promise<Rows> {
  return Object.assign({}, ...(await Promise.all(by.flatMap(each => each.report?.() ?? []))))
}
