// Publishes on request with fingerprints: a page may ask for any name, so every asset is brought up to date before the
// page is rendered. The manifest is in memory.
import { inParallel, oneAtATime } from '../../../concurrency.ts'
import { published } from '../../../diagnostics.ts'
import { AssetError, CompileError } from '../../../errors.ts'
import { outsidePlace, wouldBeInPlace } from '../../../files/containment.ts'
import { errorCode, stampOf, statOf } from '../../../files/disk.ts'
import { asPublishError } from '../../../files/writing/atomic-write.ts'
import type { Project } from '../../parts.ts'
import { assetPath } from '../../settings/app-settings.ts'
import { publicFile } from '../../settings/public-directory.ts'
import type { AppSettings, Settings } from '../../settings/settings.ts'
import type { Sources } from '../../sources/sources.ts'
import { splitFingerprint } from '../../urls/fingerprint.ts'
import { Builder, type BuildResult } from '../builder.ts'
import { Manifest } from '../manifest/manifest.ts'
import { entriesOf, publishedPath, type Assets, type Built } from '../listed-assets.ts'
import { commitAll, SourceEdited, writeAsset } from '../write-asset.ts'
import {
  publishingOf,
  sourcedNameIn,
  type Publisher,
  hasSameTargets,
  MtimeIndex,
  withdraw
} from './publisher.ts'

// Bounds the number of open files.
const CONCURRENCY = 16
/** The number of builds of a source that is edited while it is published. */
const MAX_ATTEMPTS = 3

export class Fingerprints implements Publisher {
  manifest = new Manifest(new Map())
  /** The index has no limit: entries that have no source are removed from it. */
  readonly index = new MtimeIndex(Infinity)
  readonly #settings: Settings
  readonly #sources: Sources
  readonly #forget: (path: string) => void
  readonly #builder: Builder
  /** The last build without failures. */
  #built: BuildResult | undefined
  /** The last good version of each asset. */
  #assets: Assets = new Map()
  #failures: ReadonlyMap<string, AssetError> = new Map()
  #generation: number | undefined

  /** @param forget receives the URL path of each file that is removed */
  constructor(
    settings: Project,
    sources: Sources,
    warn: (message: string) => void,
    forget: (path: string) => void
  ) {
    this.#settings = settings
    this.#sources = sources
    this.#forget = forget
    const only = (app: AppSettings) => publishingOf(app) === 'fingerprints'
    this.#builder = new Builder(settings, sources, { warn, index: this.index, only })
  }

  get version(): string {
    return this.manifest.version
  }

  /** False once a source may have been added or removed, as far as is known without a stat. */
  get isCurrent(): boolean {
    if (this.#generation === undefined) return true
    return this.#generation === this.#sources.generation && this.#sources.isCurrent
  }

  async isFixed(app: AppSettings, name: string): Promise<boolean> {
    const plain = splitFingerprint(name)?.name
    return plain !== undefined && (await this.#sources.of(app).find(plain)) !== undefined
  }

  async publish(app: AppSettings, name: string): Promise<undefined> {
    const sourced = await sourcedNameIn(this.#sources, app, name)
    // Refreshing checks every asset: not worth it for a name that has no source and never had one.
    const names = [name, splitFingerprint(name)?.name ?? name]
    if (sourced === undefined && !names.some(each => this.#assets.has(assetPath(app, each)))) return
    const path = assetPath(app, sourced ?? name)
    const entry = this.index.peek(path)
    // Files that were removed or changed meanwhile are written again.
    if (entry && !(await hasSameTargets(entry))) (this.index.peek(path) ?? entry).targets = []
    await this.refresh()
    const failure = this.failureOf(path)
    if (failure) throw failure
  }

  failureOf(path: string): AssetError | undefined {
    return this.#failures.get(path)
  }

  readonly refresh = oneAtATime(async () => {
    const { generation } = this.#sources
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      await this.#build()
      // A source that was edited or removed meanwhile is built again.
      if (![...this.#failures.values()].some(isOutdated)) break
    }
    this.#generation = generation
  })

  async #build(): Promise<void> {
    const startedAt = performance.now()
    const built = await this.#builder.all()
    const failures = new Map(built.failures.map(({ path, error }) => [path, error]))
    const isCurrent = ({ path, digest }: Built) =>
      this.#assets.get(path)?.digest === digest && this.index.peek(path)?.targets.length !== 0
    const changed = [...built.assets.values()].filter(asset => !isCurrent(asset))
    await inParallel(changed, CONCURRENCY, async asset => {
      try {
        await this.#write(asset, startedAt)
      } catch (error) {
        const failure = asPublishError(this.#settings, asset.path, error)
        if (!(failure instanceof AssetError)) throw failure
        failures.set(asset.path, failure)
      }
    })
    this.#failures = failures
    const isSame = built === this.#built
    this.#built = failures.size === 0 ? built : undefined
    if (!isSame || failures.size > 0) await this.#take(built)
  }

  /**
   * Takes over the result of a build: an asset that failed keeps its last good version; the files of removed assets
   * are removed.
   */
  async #take({ assets, inViews }: BuildResult): Promise<void> {
    const isBroken = ([path]: readonly [string, Built]) => this.#failures.has(path)
    const kept = [...this.#assets].filter(isBroken)
    const good = [...assets].filter(each => !isBroken(each))
    const gone = [...this.#assets].filter(each => !isBroken(each) && !assets.has(each[0]))
    await inParallel(gone, CONCURRENCY, async ([path, asset]) => {
      const entry = this.index.peek(path)
      if (entry) await withdraw(entry, this.#settings.place)
      this.#forget(path)
      this.#forget(publishedPath(asset))
    })
    this.#assets = new Map([...kept, ...good])
    for (const path of this.index.keys()) if (!this.#assets.has(path)) this.index.delete(path)
    const entries = entriesOf(this.#assets.values())
    const manifest = new Manifest(entries, { inViews }).prepare(this.#settings.apps)
    // An unchanged manifest keeps its indexes.
    if (manifest.version !== this.manifest.version) this.manifest = manifest
  }

  async #write(built: Built, startedAt: number): Promise<void> {
    const { place } = this.#settings
    const { path, source } = built
    const file = publicFile(this.#settings, path)
    if (!(await wouldBeInPlace(place, file))) throw outsidePlace(place, file)
    const { replacements } = await writeAsset(this.#settings, built)
    await commitAll(replacements)
    const at = performance.now()
    const publication = { path, source: source.file, duration: at - startedAt }
    if (published.hasSubscribers) published.publish(publication)
    const entry = this.index.peek(path)
    if (!entry) return
    const files = [file, publicFile(this.#settings, publishedPath(built))]
    const stats = await Promise.all(files.map(statOf))
    const targets = files.flatMap((path, at) => {
      const stamp = stats[at]
      return stamp ? [{ path, stamp: stampOf(stamp) }] : []
    })
    // If a target was removed at once, no target is recorded, so all of them are written again.
    if (targets.length < files.length) targets.length = 0
    Object.assign(entry, { targets, published: { ...publication, at } })
  }
}

/** Tells whether an asset could not be written because its source has changed since it was built. */
function isOutdated(error: unknown): boolean {
  if (error instanceof CompileError) return false
  const { cause } = error as { cause?: unknown }
  return error instanceof SourceEdited || errorCode(cause) === 'ENOENT'
}
