// Publishes a build: fingerprinted files first, then plain names and the manifest together.
import { inParallel } from '../../runtime/concurrency.ts'
import { errorCode, undefinedIfMissing, statOf } from '../../runtime/files/disk.ts'
import { wouldBeInPlace } from '../../runtime/files/containment.ts'
import type { Lock } from '../writing/lock.ts'
import {
  rethrowAsPublishError,
  prepareReplacement,
  touch,
  type Replacement
} from '../writing/write.ts'
import {
  manifestApps,
  type ManifestApps,
  manifestFile,
  publicFile
} from '../../runtime/settings/public-directory.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import type { Project } from '../../runtime/app/parts.ts'
import type { Unsaved } from '../writing/write.ts'
import type { BuildResult } from './builder.ts'
import { entriesOf, publishedPath, type Built } from './assets.ts'
import type { PrecompileRows } from '../../runtime/settings/extra-options.ts'
import type { ManifestEntries } from '../../runtime/urls/manifest.ts'
import { readEntries } from '../../runtime/urls/read-manifest.ts'
import { commitAll, discardAll, writeAsset, type WrittenAsset } from './write-asset.ts'

export interface PublishOptions {
  readonly lock: Lock
  readonly unsaved: Unsaved
  readonly signal: AbortSignal | undefined
  readonly onProgress: (done: number, total: number, path: string) => void
}

// Compression runs on the thread pool, four at a time.
const CONCURRENCY = 8
/** This many renames run at once: a thread that finds the next call waiting need not be woken. */
const RENAMES = 64

/**
 * Until the final commit, a failure of any kind leaves the manifest, the files it names, and the plain
 * names as they were.
 */
export async function publishBuild(
  settings: Project,
  { assets, inViews }: Pick<BuildResult, 'assets' | 'inViews'>,
  { signal, lock, unsaved, onProgress }: PublishOptions
) {
  const path = `${settings.prefix}.json`
  const failed = rethrowAsPublishError(settings, path)
  const before = await readEntries(manifestFile(settings), true).catch(failed)
  const save = () => unsaved.save().catch(failed)
  const extras = before.size > 0 ? settings.extras : []
  const writers = await Promise.all(
    extras.flatMap(extra => extra.deltaWriter?.(settings, before, unsaved) ?? [])
  )
  const prepared = new Map<string, WrittenAsset>()
  let done = 0
  const write = async (built: Built): Promise<void> => {
    const written = await writeAsset(settings, built, assets, { unsaved })
    prepared.set(built.path, written)
    const { app, size, digest, path: plain } = built
    const file = { path: publishedPath(built), plain, size, digest }
    for (const writer of app.fingerprint ? writers : []) {
      await writer.write({ ...file, smallest: written.smallest })
    }
    onProgress(++done, assets.size, built.path)
  }
  const writeOne = (built: Built) => write(built).catch(rethrowAsPublishError(settings, built.path))
  const commit = (at: string, replacements: readonly Replacement[]) =>
    commitAll(replacements).catch(rethrowAsPublishError(settings, at))
  const manifest: Replacement[] = []
  try {
    await inParallel([...assets.values()], CONCURRENCY, writeOne, signal)
    signal?.throwIfAborted()
    const entries = entriesOf(assets.values())
    manifest.push(await prepareManifest(settings, { entries, inViews }, unsaved).catch(failed))
    // Files are on the disk before any name leads to them: after a power loss a page finds the files that the manifest
    // names.
    await save()
    const kept = await touchSuperseded(settings, before, entries)
    signal?.throwIfAborted()
    await lock.check()
    await withSignalsDeferred(async () => {
      await inParallel([...prepared], RENAMES, ([at, { replacements }]) => commit(at, replacements))
      await save()
      await commit(path, manifest)
      // The mtime of the manifest tells when the last build was, whether or not that has changed anything.
      if (!manifest[0]?.isNew) await touch(manifestFile(settings), BigInt(Date.now()) * 1_000_000n)
      await save()
    })
    const compressedBytes = sum(Array.from(prepared.values(), ({ smallest }) => smallest))
    const isWritten = (plain: string) => prepared.get(decodeURIComponent(plain))?.isNew === true
    return {
      ...reportOn(entries, before, isWritten),
      compressedBytes,
      kept,
      ...(await rowsOf<PrecompileRows>(writers))
    }
  } catch (error) {
    const plain = Array.from(prepared.values(), ({ replacements }) => replacements)
    await inParallel([...plain, manifest], CONCURRENCY, discardAll)
    throw error
  }
}

function prepareManifest(
  settings: Settings,
  { entries, inViews }: { entries: ManifestEntries } & Pick<BuildResult, 'inViews'>,
  unsaved: Unsaved
): Promise<Replacement> {
  const text = serialize(entries, manifestApps(settings.apps), inViews)
  return prepareReplacement(manifestFile(settings), Buffer.from(text), { unsaved })
}

/** Keys are sorted: identical sources give an identical file. */
export function serialize(
  assets: ManifestEntries,
  apps?: ManifestApps,
  inViews: readonly string[] = []
): string {
  const sorted = [...assets].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const some = inViews.length > 0 ? inViews : undefined
  const whole = { version: 1, apps, inViews: some, assets: Object.fromEntries(sorted) }
  return `${JSON.stringify(whole, undefined, 2)}\n`
}

/**
 * Sets the change time of files that the manifest no longer names: open pages still ask for them, and
 * `clean` counts from there. No one can set a change time to a chosen value.
 *
 * @returns how many of them exist
 */
async function touchSuperseded(
  settings: Settings,
  before: ManifestEntries,
  entries: ManifestEntries
): Promise<number> {
  const current = new Set(Array.from(entries.values(), ({ target }) => target))
  const superseded = [...before.values()].filter(({ target }) => !current.has(target))
  const found = await inParallel(superseded, CONCURRENCY, async ({ target }) => {
    const file = publicFile(settings, decodeURIComponent(target))
    const stats = await statOf(file)
    if (!stats?.isFile() || !(await wouldBeInPlace(settings.place, file))) return []
    await undefinedIfMissing(touch(file, stats.mtimeNs, settings.place)).catch(unlessUnreadable)
    return [file]
  })
  return found.flat().length
}

/** Another user's file keeps its change time. */
function unlessUnreadable(error: unknown): void {
  if (errorCode(error) !== 'EACCES') throw error
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
  entries: ManifestEntries,
  before: ManifestEntries,
  isWritten = (_path: string) => false
) {
  const paths = [...entries.keys()].toSorted()
  const isChanged = (path: string) =>
    before.get(path)?.target !== entries.get(path)?.target || isWritten(path)
  const sized = Array.from(entries, ([path, { size }]) => ({ path, size }))
  return {
    assets: entries.size,
    bytes: sum(sized.map(({ size }) => size)),
    largest: sized.toSorted((a, b) => b.size - a.size).slice(0, 5),
    changes: {
      added: paths.filter(path => !before.has(path)),
      changed: paths.filter(path => before.has(path) && isChanged(path)),
      removed: [...before.keys()].filter(path => !entries.has(path)).toSorted()
    }
  }
}

/** Returns the rows that extras add to a report. */
export async function rowsOf<Rows>(
  reporting: readonly { report(): Promise<object> }[]
): Promise<Rows> {
  return Object.assign({}, ...(await Promise.all(reporting.map(each => each.report()))))
}

export function sum(numbers: Iterable<number>): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}
