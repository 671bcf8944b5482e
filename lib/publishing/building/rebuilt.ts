// Publishes on request with fingerprints: a page may ask for any name, so if a source has changed, everything is built
// again, as by a precompile. The names are in memory.
import type { Project } from '../../runtime/app/extra.ts'
import { inParallel, oneAtATime } from '../../runtime/concurrency.ts'
import { published } from '../../runtime/diagnostics.ts'
import { CompileError, ifAssetError, type AssetError, type Warn } from '../../runtime/errors.ts'
import { outsidePlace, wouldBeInPlace } from '../../runtime/files/containment.ts'
import { errorCode, stampOf, statOf } from '../../runtime/files/disk.ts'
import { assetPath } from '../../runtime/settings/apps.ts'
import { publicFile } from '../../runtime/settings/public-directory.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import { Names } from '../../runtime/urls/manifest.ts'
import { splitFingerprint } from '../../runtime/urls/spelling.ts'
import type { Sources } from '../sources/sources.ts'
import { rethrowAsPublishError } from '../writing/write.ts'
import { namesOf, publishedPath, type Assets, type Built } from './assets.ts'
import { Builder, type BuildResult } from './builder.ts'
import { hasSameTargets, MtimeIndex, withdraw } from './mtime-index.ts'
import { commitAll, SourceEdited, writeAsset } from './write-asset.ts'

// Bounds the number of open files.
const CONCURRENCY = 16
const MAX_ATTEMPTS = 3

export class Rebuilt {
  names = new Names({ assets: [] })
  /** The index has no limit, as entries without a source are removed. */
  readonly index = new MtimeIndex(Infinity)
  readonly #settings: Project
  readonly #sources: Sources
  readonly #forget: (path: string) => void
  readonly #builder: Builder
  #built: BuildResult | undefined
  /** The last good version of each asset. */
  #assets: Assets = new Map()
  #generation: number | undefined

  constructor(settings: Project, sources: Sources, warn: Warn, forget: (path: string) => void) {
    this.#settings = settings
    this.#sources = sources
    this.#forget = forget
    const only = ({ compile, fingerprint }: AppSettings) => compile && fingerprint
    this.#builder = new Builder(settings, sources, { warn, index: this.index, only })
  }

  get version(): string {
    return this.names.version
  }

  get isCurrent(): boolean {
    if (this.#generation === undefined) return true
    return this.#generation === this.#sources.generation && this.#sources.isCurrent
  }

  /** @param sourced the name that has the source; undefined for a name that has none, or none any more */
  async publish(app: AppSettings, name: string, sourced: string | undefined): Promise<undefined> {
    const path = assetPath(app, sourced ?? name)
    const names = [name, splitFingerprint(name)?.name ?? name]
    // Building everything is not worth it for a name that never had a source.
    if (sourced === undefined && !names.some(each => this.#assets.has(assetPath(app, each)))) return
    const entry = this.index.peek(path)
    // Files that were removed or changed meanwhile are written again.
    if (entry && !(await hasSameTargets(entry))) (this.index.peek(path) ?? entry).targets = []
    await this.refresh()
    const failure = this.names.failures.get(path)
    if (failure) throw failure
  }

  readonly refresh = oneAtATime(async () => {
    const { generation } = this.#sources
    // A source that was edited or removed meanwhile is built again.
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const failures = await this.#build()
      if (![...failures.values()].some(isOutdated)) break
    }
    this.#generation = generation
  })

  async #build(): Promise<ReadonlyMap<string, AssetError>> {
    const startedAt = performance.now()
    const built = await this.#builder.all()
    const failures = new Map(built.failures.map(({ path, error }) => [path, error]))
    const changed = [...built.assets.values()].filter(({ path, digest }) => {
      const hasNone = this.index.peek(path)?.targets.length === 0
      return hasNone || this.#assets.get(path)?.digest !== digest
    })
    await inParallel(changed, CONCURRENCY, async asset => {
      const rethrow = rethrowAsPublishError(this.#settings, asset.path)
      const failed = ifAssetError(error => void failures.set(asset.path, error))
      await this.#write(asset, startedAt).catch(rethrow).catch(failed)
    })
    if (built !== this.#built || failures.size > 0) await this.#take(built, failures)
    this.#built = failures.size === 0 ? built : undefined
    return failures
  }

  /** Uses the result of a build: a failed asset keeps its last good version, and a target goes with its source. */
  async #take({ assets, inViews }: BuildResult, failures: ReadonlyMap<string, AssetError>) {
    const hasFailed = ([path]: readonly [string, Built]) => failures.has(path)
    const last = [...this.#assets].filter(hasFailed)
    const good = [...assets].filter(each => !hasFailed(each))
    const gone = [...this.#assets].filter(each => !hasFailed(each) && !assets.has(each[0]))
    await inParallel(gone, CONCURRENCY, async ([path, asset]) => {
      const entry = this.index.peek(path)
      if (entry) await withdraw(entry, this.#settings.place)
      this.#forget(path)
      this.#forget(publishedPath(asset))
    })
    this.#assets = new Map([...last, ...good])
    for (const path of this.index.keys()) if (!this.#assets.has(path)) this.index.delete(path)
    const { apps } = this.#settings
    this.names = namesOf(this.#assets, { apps, inViews, failures }).prepare()
  }

  async #write(built: Built, startedAt: number): Promise<void> {
    const { place } = this.#settings
    const { path, source } = built
    const files = [path, publishedPath(built)].map(each => publicFile(this.#settings, each))
    const [plain = ''] = files
    if (!(await wouldBeInPlace(place, plain))) throw outsidePlace(place, plain)
    await commitAll((await writeAsset(this.#settings, built)).replacements)
    const duration = performance.now() - startedAt
    if (published.hasSubscribers) published.publish({ path, source: source.file, duration })
    const seen = (await Promise.all(files.map(statOf))).flatMap((each, at) =>
      each ? { path: files[at] ?? '', stamp: stampOf(each) } : []
    )
    const entry = this.index.peek(path)
    // If one of the files was removed at once, both are written again.
    if (entry) entry.targets = seen.length < files.length ? [] : seen
  }
}

/** Tells whether an asset could not be written because its source has changed since it was built. */
const isOutdated = (error: AssetError) =>
  error instanceof SourceEdited ||
  (!(error instanceof CompileError) && errorCode(error.cause) === 'ENOENT')
