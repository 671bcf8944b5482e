// Publishes all assets for production: builds, compresses and writes them, and the manifest last.
import { dirname, join } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { AssetError } from '../../errors.ts'
import { outsidePlace, wouldBeInPlace } from '../../files/containment.ts'
import { lock, type Lock } from '../../files/writing/lock.ts'
import { rethrowAsPublishError } from '../../files/writing/publish-error.ts'
import { sweep, sweepTree } from '../../files/writing/temporary.ts'
import { abortSignal, callback, check, flag, type Expectation } from '../../options.ts'
import { warnOnce } from '../../warn-once.ts'
import { loadMinifier } from '../rendering/minify.ts'
import { manifestFile } from '../settings/manifest-file.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import { publicFile } from '../settings/public-directory.ts'
import { settleForPrecompile, type AppSettings, type Settings } from '../settings/settings.ts'
import { Sources } from '../sources/sources.ts'
import { Builder, type BuilderOptions } from './builder.ts'
import type { Assets } from './built.ts'
import { listPlaces } from './places.ts'
import { reportOn, type PrecompileReport } from './precompile-report.ts'
import { publishBuild } from './writing/publish-build.ts'

export type { DeltaReport, DeltaSavings } from './deltas/deltas.ts'
export type { PrecompileReport } from './precompile-report.ts'

export interface Progress {
  /** `compile` comes first and changes nothing in `public`. */
  readonly stage: 'compile' | 'write'
  /** Assets that have passed this stage. */
  readonly done: number
  /** All assets of this stage. */
  readonly total: number
  /** The plain URL path of the latest asset, decoded: `/assets/app.css`. */
  readonly path: string
}

export interface PrecompileOptions {
  /** Called after each asset of each stage. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Overrides the option `minify` of every app. Default: each app's own. */
  readonly minify?: boolean | undefined
  /**
   * Aborting it rejects with its reason, and the previous manifest and its files stay. The final
   * renames are not interrupted.
   */
  readonly signal?: AbortSignal | undefined
  /** Receives each warning once. Default: `console.warn`. */
  readonly warn?: ((message: string) => void) | undefined
}

/** Lists every error of a precompile; nothing was published. `code` is `precompile-failed`. */
export class PrecompileError extends AssetError {
  override name = 'PrecompileError'
  /** In the order of URL paths. */
  readonly problems: readonly AssetError[]

  constructor(problems: readonly AssetError[]) {
    const list = problems.map(problem => `\n- ${problem.message}`).join('')
    const errors = problems.length === 1 ? '1 error' : `${problems.length} errors`
    super('precompile-failed', `Precompile failed with ${errors}; nothing was published${list}`)
    this.problems = problems
  }
}

const OPTIONS = {
  onProgress: callback,
  minify: flag,
  signal: abortSignal,
  warn: callback
} satisfies Record<keyof PrecompileOptions, Expectation>

const CONCURRENCY = 8
/** The age of temporary files that a precompile removes: no other one writes, and a request takes less. */
const LEFT_MS = 60_000

/**
 * Publishes the assets of all apps and third-party directories into `public`: under plain names, under
 * fingerprinted names, and with compressed copies (`.br`, `.zst`, `.gz`) where they are smaller; what
 * changed also with deltas (`.dcz`) from its last three versions, on Node 22.19, 24.6 and newer. Files that are up to date are not written again, and fingerprinted files of earlier deploys stay; see
 * `clean`. Plain names and the manifest `public/assets.json` are replaced together at the end.
 *
 * @param options those of `koaAssets`; here `env` defaults to `NODE_ENV`, else `production`, `compile`
 *   and `fingerprint` to true, and `missing` to `error`
 * @throws TypeError for an invalid option of either argument
 * @throws PrecompileError that lists every broken source; nothing was published
 * @throws AssetError with the code `precompile-empty` when there are no assets, `precompile-busy` while
 *   another precompile is running, or `publish-failed` when a file cannot be written
 * @example
 * const { assets, seconds } = await precompile({ root: import.meta.dirname }, { minify: true })
 */
export async function precompile(
  options: KoaAssetsOptions = {},
  precompileOptions: PrecompileOptions = {}
): Promise<PrecompileReport> {
  const startedAt = performance.now()
  check(precompileOptions, OPTIONS)
  const run = new Run(settleForPrecompile(options), precompileOptions)
  return { ...(await run.start()), seconds: (performance.now() - startedAt) / 1000 }
}

class Run {
  readonly #settings: Settings
  readonly #options: PrecompileOptions
  readonly #sources: Sources
  readonly #warn: (message: string) => void

  constructor(settings: Settings, options: PrecompileOptions) {
    this.#settings = settings
    this.#options = options
    this.#warn = warnOnce(options.warn)
    this.#sources = new Sources(settings, this.#warn)
  }

  async start() {
    const { prefix } = this.#settings
    const directory = publicFile(this.#settings, prefix)
    this.#options.signal?.throwIfAborted()
    await this.#requireAssets()
    const minifierOf = await this.#loadMinifiers()
    await this.#requireInPublic([directory])
    const held = await lock(directory, this.#warn).catch(
      rethrowAsPublishError(this.#settings, prefix)
    )
    try {
      await Promise.all([sweep(dirname(directory)), sweepTree(directory, LEFT_MS)])
      return await this.#publish(await this.#build(minifierOf), held)
    } finally {
      await held.release()
    }
  }

  /** Otherwise a run in the wrong directory would leave an empty `public` there. */
  async #requireAssets(): Promise<void> {
    const { root, apps } = this.#settings
    const places = await listPlaces(this.#settings, this.#sources)
    if (places.length > 0) return
    if (apps.length === 0) {
      const message = 'there is nothing to precompile: this project has no assets of its own'
      throw new AssetError('precompile-empty', message)
    }
    const searched = new Set(apps.flatMap(app => this.#sources.of(app).directories))
    throw new AssetError(
      'precompile-empty',
      `no assets found in ${[...searched].join(', ')}: create apps/web/assets or assets in ${root}, or set root or apps`
    )
  }

  async #loadMinifiers() {
    const { root, apps } = this.#settings
    const isMinified = (app: AppSettings) => this.#options.minify ?? app.minify
    const minifier = apps.some(isMinified) ? await loadMinifier(root, this.#warn) : undefined
    return (app: AppSettings) => (isMinified(app) ? minifier : undefined)
  }

  async #build(minifierOf: BuilderOptions['minifierOf']): Promise<Assets> {
    const builder = new Builder(this.#settings, this.#sources, {
      minifierOf,
      warn: this.#warn,
      signal: this.#options.signal,
      onProgress: this.#progress('compile')
    })
    const { assets, problems } = await builder.all()
    if (problems.length > 0) throw new PrecompileError(problems.map(({ error }) => error))
    const files = Array.from(assets.keys(), path => publicFile(this.#settings, path))
    await this.#requireInPublic(files.map(file => dirname(file)))
    return assets
  }

  async #publish(assets: Assets, held: Lock) {
    const { entries, before, ...counts } = await publishBuild(this.#settings, assets, {
      lock: held,
      signal: this.#options.signal,
      onProgress: this.#progress('write')
    })
    return { manifest: manifestFile(this.#settings), ...reportOn(entries, before), ...counts }
  }

  #progress(stage: Progress['stage']) {
    return (done: number, total: number, path: string) =>
      this.#options.onProgress?.({ stage, done, total, path })
  }

  /** Nothing is written at all when a symbolic link leads any of these directories out of `public`. */
  async #requireInPublic(directories: readonly string[]): Promise<void> {
    const distinct = [...new Set(directories)].toSorted()
    const problems = await inParallel(distinct, CONCURRENCY, async directory => {
      const isInPlace = await wouldBeInPlace(this.#settings.place, join(directory, 'any'))
      return isInPlace ? [] : outsidePlace(this.#settings.place, directory)
    })
    if (problems.flat().length > 0) throw new PrecompileError(problems.flat())
  }
}
