// The whole tree at once, for production: built, compressed, written, and the manifest last.
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { AssetError } from '../../errors.ts'
import { once, warnOnce } from '../../warn-once.ts'
import { build, listPlaces, type Problem } from './build.ts'
import { ifThere } from '../../files/disk.ts'
import { openLastBuild } from './last-build/last-build.ts'
import { lock } from '../../files/writing/lock.ts'
import { manifestFile } from '../settings/manifest-file.ts'
import { loadMinifier } from '../rendering/minify.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import { reportOn, type PrecompileReport } from './precompile-report.ts'
import { publishBuild } from './writing/publish-build.ts'
import { settleForPrecompile, type AppSettings, type Settings } from '../settings/settings.ts'
import { Sources } from '../sources/sources.ts'
import { outsidePublic, wouldBeInPublic } from '../../files/containment.ts'
import { sweep } from '../../files/writing/temporary.ts'
import { inParallel } from '../../concurrency.ts'
import { rethrowAsPublishError } from '../../files/writing/publish-error.ts'

export type { PrecompileReport } from './precompile-report.ts'

export interface Progress {
  readonly stage: 'compile' | 'write'
  readonly done: number
  readonly total: number
  /** The URL path of the asset that was done last. */
  readonly path: string
}

export interface PrecompileOptions {
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Beats the option `minify` of every app. */
  readonly minify?: boolean | undefined
  /** Aborting it rejects with its reason; the old manifest and its files stay. */
  readonly signal?: AbortSignal | undefined
  /** Hears of what is no error, each thing once. Default: `console.warn`. */
  readonly warn?: ((message: string) => void) | undefined
}

/** Everything that is wrong, at once. */
export class PrecompileError extends AssetError {
  override name = 'PrecompileError'
  readonly problems: readonly AssetError[]

  constructor(problems: readonly AssetError[]) {
    const list = problems.map(problem => `\n- ${problem.message}`).join('')
    const errors = problems.length === 1 ? '1 error' : `${problems.length} errors`
    super('precompile-failed', `precompile failed with ${errors}; nothing was published${list}`)
    this.problems = problems
  }
}

const CONCURRENCY = 8

/**
 * Publishes every asset of every app and third-party directory under plain and checksum names, with
 * compressed copies, and writes the manifest last. What earlier deploys published stays.
 *
 * @throws TypeError for a wrong option; PrecompileError that lists every broken source, in which case
 *   nothing was changed; AssetError when there is no asset, when the disk refuses, or when another
 *   precompile is under way
 */
export async function precompile(
  options: KoaAssetsOptions = {},
  { onProgress, minify, signal, warn: say }: PrecompileOptions = {}
): Promise<PrecompileReport> {
  const startedAt = performance.now()
  const settings = settleForPrecompile(options)
  const directory = join(settings.publicDir, settings.prefix)
  const warn = say ? once(say) : warnOnce()
  signal?.throwIfAborted()
  const sources = new Sources(settings, warn)
  await refuseEmpty(settings, sources)
  const minifies = (app: AppSettings) => minify ?? app.minify
  const minifier = settings.apps.some(minifies) ? await loadMinifier(settings.root) : undefined
  await refuseToLeave(settings, [join(directory, 'any')])
  const held = await lock(directory).catch(rethrowAsPublishError(settings, settings.prefix))
  try {
    await sweepAll(directory)
    const progress = (stage: Progress['stage']) => (done: number, total: number, path: string) =>
      onProgress?.({ stage, done, total, path })
    const last = await openLastBuild(settings, sources, minifies)
    const { assets, problems } = await build(settings, sources, {
      ...last,
      minifierOf: app => (minifies(app) ? minifier : undefined),
      warn,
      signal,
      onProgress: progress('compile')
    })
    if (problems.length > 0) throw new PrecompileError(inOrder(problems))
    await refuseToLeave(
      settings,
      Array.from(assets.keys(), path => join(settings.publicDir, path))
    )
    const work = { last, lock: held, signal, onProgress: progress('write') }
    const { entries, before, compressedBytes } = await publishBuild(settings, assets, work)
    await last.save()
    const seconds = (performance.now() - startedAt) / 1000
    const manifest = manifestFile(settings)
    return { manifest, ...reportOn(entries, before), compressedBytes, seconds }
  } finally {
    await held.release()
  }
}

/** Most likely it was started in the wrong directory, and would leave an empty public there. */
async function refuseEmpty(settings: Settings, sources: Sources): Promise<void> {
  const places = await listPlaces(settings, sources)
  if (places.length > 0) return
  const searched = new Set(settings.apps.flatMap(app => sources.of(app).directories))
  throw new AssetError(
    'precompile-empty',
    `no asset was found in ${[...searched].join(', ')}: create apps/web/assets or assets in ${settings.root}, or say with root or apps where the assets are`
  )
}

/** The order in which they were found is chance. */
function inOrder(problems: readonly Problem[]): AssetError[] {
  const sorted = problems.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return sorted.map(({ error }) => error)
}

/** Nothing is written where a link leads out of public, and nothing at all when any of it would be. */
async function refuseToLeave(settings: Settings, files: readonly string[]): Promise<void> {
  const folders = [...new Set(files.map(file => dirname(file)))].toSorted()
  const problems = await inParallel(folders, CONCURRENCY, async folder =>
    (await wouldBeInPublic(settings, join(folder, 'any'))) ? [] : outsidePublic(settings, folder)
  )
  if (problems.flat().length > 0) throw new PrecompileError(problems.flat())
}

/** Removes what a killed run left behind, in every folder. */
async function sweepAll(directory: string): Promise<void> {
  const entries = await ifThere(readdir(directory, { withFileTypes: true, recursive: true }))
  const folders = (entries ?? []).filter(entry => entry.isDirectory())
  const paths = folders.map(folder => join(folder.parentPath, folder.name))
  await inParallel([directory, join(directory, '..'), ...paths], CONCURRENCY, sweep)
}
