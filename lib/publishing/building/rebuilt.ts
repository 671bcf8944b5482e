// Publishes on request with fingerprints: a page may ask for any name, so everything is built again, as by a precompile,
// when a source has changed. The manifest is in memory.
import { inParallel, oneAtATime } from '../../runtime/concurrency.ts'
import { published } from '../../runtime/diagnostics.ts'
import { AssetError } from '../../runtime/errors.ts'
import { outsidePlace, wouldBeInPlace } from '../../runtime/files/containment.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { asPublishError } from '../writing/write.ts'
import type { Project } from '../../runtime/app/parts.ts'
import { assetPath } from '../../runtime/settings/app-settings.ts'
import { publicFile } from '../../runtime/settings/public-directory.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import type { Sources } from '../sources/sources.ts'
import { splitFingerprint } from '../../runtime/urls/spelling.ts'
import { Builder } from './builder.ts'
import { Manifest } from '../../runtime/urls/manifest.ts'
import { entriesOf, type Built } from './assets.ts'
import { commitAll, writeAsset } from './write-asset.ts'
import { MtimeIndex } from './index.ts'
import { publishingOf, sourcedNameIn, type Publisher } from '../../runtime/app/publisher.ts'

// Bounds the number of open files.
const CONCURRENCY = 16

export class Fingerprints implements Publisher {
  manifest = new Manifest(new Map())
  /** The index has no limit: entries that have no source are removed from it. */
  readonly index = new MtimeIndex(Infinity)
  readonly #settings: Project
  readonly #sources: Sources
  readonly #builder: Builder
  /** The last good version of each asset. */
  #assets: ReadonlyMap<string, Built> = new Map()
  #failures: ReadonlyMap<string, AssetError> = new Map()
  #generation: number | undefined

  constructor(settings: Project, sources: Sources, warn: (message: string) => void) {
    this.#settings = settings
    this.#sources = sources
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
    if (sourced === undefined) return
    const path = assetPath(app, sourced)
    // Somebody has removed it.
    if (!(await statOf(publicFile(this.#settings, assetPath(app, name))))) this.#forget(path)
    await this.refresh()
    const failure = this.failureOf(path)
    if (failure) throw failure
  }

  failureOf(path: string): AssetError | undefined {
    return this.#failures.get(path)
  }

  #forget(path: string): void {
    this.#assets = new Map([...this.#assets].filter(([each]) => each !== path))
  }

  readonly refresh = oneAtATime(async () => {
    const { generation } = this.#sources
    const startedAt = performance.now()
    const { assets, inViews, failures } = await this.#builder.all()
    const failed = new Map(failures.map(({ path, error }) => [path, error]))
    const changed = [...assets.values()].filter(
      ({ path, digest }) => this.#assets.get(path)?.digest !== digest
    )
    await inParallel(changed, CONCURRENCY, async built => {
      try {
        await this.#write(built, startedAt)
      } catch (error) {
        const failure = asPublishError(this.#settings, built.path, error)
        if (!(failure instanceof AssetError)) throw failure
        failed.set(built.path, failure)
      }
    })
    const isSame = changed.length === 0 && assets.size === this.#assets.size
    const wasWhole = this.#failures.size === 0
    this.#failures = failed
    this.#generation = generation
    if (isSame && failed.size === 0 && wasWhole) return
    const last = [...this.#assets].filter(([path]) => failed.has(path))
    this.#assets = new Map([...last, ...[...assets].filter(([path]) => !failed.has(path))])
    for (const path of this.index.keys()) if (!this.#assets.has(path)) this.index.delete(path)
    const entries = entriesOf(this.#assets.values())
    const manifest = new Manifest(entries, { inViews }).prepare(this.#settings.apps)
    // An unchanged manifest keeps its indexes.
    if (manifest.version !== this.manifest.version) this.manifest = manifest
  })

  async #write(built: Built, startedAt: number): Promise<void> {
    const { place } = this.#settings
    const { path, source } = built
    const file = publicFile(this.#settings, path)
    if (!(await wouldBeInPlace(place, file))) throw outsidePlace(place, file)
    await commitAll((await writeAsset(this.#settings, built)).replacements)
    const at = performance.now()
    const publication = { path, source: source.file, duration: at - startedAt }
    if (published.hasSubscribers) published.publish(publication)
    const entry = this.index.peek(path)
    if (entry) entry.published = { ...publication, at }
  }
}
