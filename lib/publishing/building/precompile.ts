// Publishes all assets for production: builds, compresses and writes them, and the manifest last.
import { dirname, join } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { AssetError, PrecompileError, warnOnce } from '../../runtime/errors.ts'
import { outsidePlace, wouldBeInPlace } from '../../runtime/files/containment.ts'
import { lock } from '../writing/lock.ts'
import { rethrowAsPublishError, sweep, sweepTree } from '../writing/write.ts'
import { withUnsaved } from '../writing/unsaved.ts'
import { abortSignal, callback, check, type Expectation } from '../../runtime/check-options.ts'
import type { Project } from '../../runtime/app/extra.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import {
  PRECOMPILE_EXTRAS,
  type PrecompileOptions,
  type PrecompileReport,
  type PrecompileRows,
  type PrecompileExtras,
  type Progress
} from '../../runtime/settings/extra-options.ts'
import { manifestFile, publicFile } from '../../runtime/settings/public-directory.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { type Sources, withSources } from '../sources/sources.ts'
import { Builder } from './builder.ts'
import { listAssets } from './assets.ts'
import { publishBuild, reportOn, rowsOf } from './publish.ts'

const OPTIONS = {
  onProgress: callback,
  signal: abortSignal,
  warn: callback
} satisfies Record<Exclude<keyof PrecompileOptions, keyof PrecompileExtras>, Expectation>

const CONCURRENCY = 8
/** The age, in milliseconds, at which temporary files are removed: no other precompile runs, and requests take less. */
const LEFT_MS = 60_000

export async function precompile(settings: Project, precompileOptions: PrecompileOptions = {}) {
  check(precompileOptions, { ...OPTIONS, ...PRECOMPILE_EXTRAS })
  const warn = warnOnce(precompileOptions.warn)
  return withSources(settings, warn, sources =>
    publishAll(settings, sources, { ...precompileOptions, warn })
  )
}

async function publishAll(
  settings: Project,
  sources: Sources,
  precompileOptions: PrecompileOptions & { readonly warn: (message: string) => void }
): Promise<PrecompileReport> {
  const startedAt = performance.now()
  const { signal, onProgress, warn } = precompileOptions
  const { prefix, apps, extras } = settings
  const directory = publicFile(settings, prefix)
  const progressOf = (stage: Progress['stage']) => (done: number, total: number, path: string) =>
    onProgress?.({ stage, done, total, path })
  signal?.throwIfAborted()
  if (apps.length === 0) {
    const rest = { compressedBytes: 0, kept: 0, seconds: 0 }
    const none = { ...reportOn(new Map(), new Map()), ...(await rowsOf<PrecompileRows>([])) }
    return { manifest: manifestFile(settings), ...none, ...rest }
  }
  const found = extras.map(async each => each.transform?.(settings, precompileOptions, warn))
  const transforms = (await Promise.all(found)).filter(each => each !== undefined)
  const listed = await listAssets(settings, sources)
  const unpublished = apps.flatMap(app => sources.of(app).unpublished())
  if (listed.length + unpublished.length === 0) throw noAssets(settings, sources)
  await requireInPublic(settings, [directory])
  const held = await lock(directory, warn).catch(rethrowAsPublishError(settings, prefix))
  try {
    await sweep(dirname(directory))
    const there = await sweepTree(directory, LEFT_MS)
    const made = extras.map(async extra => extra.bundler?.(settings, sources, transforms))
    const bundlers = (await Promise.all(made)).filter(each => each !== undefined)
    const building = { bundlers, transforms, warn, signal, onProgress: progressOf('compile') }
    const builder = new Builder(settings, sources, building)
    const { assets, inViews, failures } = await builder.all(listed)
    const errors = [...unpublished, ...failures].map(({ error }) => error)
    if (errors.length > 0) throw new PrecompileError(errors)
    const files = Array.from(assets.keys(), path => publicFile(settings, path))
    await requireInPublic(settings, files.map(dirname))
    const written = extras.map(async each => (await each.keptIndex?.written(settings)) ?? [])
    const left = there.flatMap(entry => {
      const path = `${prefix}/${pathFrom(directory, join(entry.parentPath, entry.name))}`
      return entry.isFile() && sources.has(path) ? [path] : []
    })
    left.push(...(await Promise.all(written)).flat())
    const writing = { left, lock: held, signal, onProgress: progressOf('write') }
    const report = await withUnsaved(unsaved =>
      publishBuild(settings, { assets, inViews }, { ...writing, unsaved })
    )
    const seconds = (performance.now() - startedAt) / 1000
    const joined = bundlers.map(each => each.report() as Partial<PrecompileRows>)
    const rows = await rowsOf<Partial<PrecompileRows>>(transforms)
    return Object.assign(report, ...joined, rows, { seconds, manifest: manifestFile(settings) })
  } finally {
    await held.release()
  }
}

/** Makes the error for a run without assets: one in the wrong directory would leave an empty `public` there. */
function noAssets({ root, apps }: Settings, sources: Sources): AssetError {
  const searched = new Set(apps.flatMap(app => sources.of(app).directories))
  const message = `no assets found in ${[...searched].join(', ')}: create apps/web/assets or assets in ${root}, or set root or apps`
  return new AssetError('precompile-empty', message)
}

/** @throws PrecompileError, before anything is written, if a symbolic link leads a directory out of `public` */
async function requireInPublic({ place }: Settings, directories: readonly string[]): Promise<void> {
  const distinct = [...new Set(directories)].toSorted()
  const outside = await inParallel(distinct, CONCURRENCY, async directory => {
    const isInPlace = await wouldBeInPlace(place, join(directory, 'any'))
    return isInPlace ? [] : outsidePlace(place, directory)
  })
  if (outside.flat().length > 0) throw new PrecompileError(outside.flat())
}
