// Fingerprints without precompiling: builds all assets and keeps their manifest in memory. Which names a
// page will ask for is not known in advance, so every asset is brought up to date before it is rendered.
import { inParallel, oneAtATime } from '../../concurrency.ts'
import { AssetError, CompileError } from '../../errors.ts'
import { outsidePlace, wouldBeInPlace } from '../../files/containment.ts'
import { errorCode, removeFile } from '../../files/disk.ts'
import { asPublishError } from '../../files/writing/publish-error.ts'
import type { Replacement } from '../../files/writing/replacement.ts'
import { build, type BuildResult } from '../building/build.ts'
import type { Assets, Built } from '../building/built.ts'
import { entriesOf } from '../building/manifest/entries.ts'
import { Manifest } from '../building/manifest/manifest.ts'
import { hasDigest, SourceEdited, writeAsset } from '../building/writing/write-asset.ts'
import { publicFile } from '../settings/public-directory.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Sources } from '../sources/sources.ts'
import { withFingerprint } from '../urls/fingerprint.ts'
import { LiveDrafts } from './live-drafts.ts'
import { Publications } from './publications.ts'

// Bounds the number of open files.
const CONCURRENCY = 16
/** For a source that is edited while it is published. */
const MAX_ATTEMPTS = 3

export function isLive({ compile, fingerprint }: AppSettings): boolean {
  return compile && fingerprint
}

export class LiveBuild {
  /** Brings every asset up to date. */
  readonly refresh = oneAtATime(() => this.#refresh())
  readonly #settings: Settings
  readonly #sources: Sources
  readonly #warn: (message: string) => void
  readonly #forget: (path: string) => void
  readonly #publications: Publications
  readonly #drafts: LiveDrafts
  #assets: Assets = new Map()
  #problems: ReadonlyMap<string, AssetError> = new Map()
  #manifest = new Manifest(new Map())
  #generation: number | undefined

  /** @param forget receives the URL path of each file that is removed */
  constructor(
    settings: Settings,
    sources: Sources,
    warn: (message: string) => void,
    forget: (path: string) => void,
    publications = new Publications()
  ) {
    this.#settings = settings
    this.#sources = sources
    this.#warn = warn
    this.#forget = forget
    this.#publications = publications
    this.#drafts = new LiveDrafts(() => this.#generationNow())
  }

  /** Stays the same object until something that it contains changes. */
  get manifest(): Manifest {
    return this.#manifest
  }

  /** Whether no source was added or removed since the last `refresh`, as far as is known without a stat. */
  get isCurrent(): boolean {
    if (this.#generation === undefined) return true
    if (this.#generation !== this.#generationNow()) return false
    return this.#settings.apps.every(app => this.#sources.of(app).isCurrent)
  }

  /** The reason why the asset at this plain path cannot be published. */
  problemOf(path: string): AssetError | undefined {
    return this.#problems.get(path)
  }

  /** Whether an asset is published at this plain path; its source may have been removed since. */
  has(path: string): boolean {
    return this.#assets.has(path)
  }

  /** Writes the files of an asset again if they were removed or changed. */
  async restore(path: string): Promise<void> {
    const asset = this.#assets.get(path)
    if (!asset) return
    try {
      await this.#write(asset)
    } catch (error) {
      if (!isOutdated(error)) throw asPublishError(this.#settings, path, error)
      await this.refresh()
    }
  }

  #generationNow(): number {
    return this.#settings.apps.reduce((sum, app) => sum + this.#sources.of(app).generation, 0)
  }

  async #refresh(): Promise<void> {
    const generation = this.#generationNow()
    const built = await this.#buildCurrent()
    const assets = await this.#replace(built.assets)
    this.#drafts.keepOnly(assets)
    this.#generation = generation
    // An unchanged manifest keeps its version and its indexes.
    if (!isSame(this.#assets, assets)) this.#manifest = new Manifest(entriesOf(assets.values()))
    this.#assets = assets
  }

  /** Builds and writes again when a source was edited or removed in between. */
  async #buildCurrent(): Promise<BuildResult> {
    const options = { warn: this.#warn, only: isLive, drafts: this.#drafts }
    for (let attempt = 1; ; attempt++) {
      const startedAt = performance.now()
      const built = await build(this.#settings, this.#sources, options)
      this.#problems = await this.#publish(built, startedAt)
      const problems = [...this.#problems.values()]
      if (attempt === MAX_ATTEMPTS || !problems.some(isOutdated)) return built
    }
  }

  /** Writes the assets that have changed, and returns the problems of all. */
  async #publish(
    { assets, problems }: BuildResult,
    startedAt: number
  ): Promise<ReadonlyMap<string, AssetError>> {
    const all = new Map(problems.map(({ path, error }) => [path, error]))
    const changed = [...assets.values()].filter(
      ({ path, digest }) => this.#assets.get(path)?.digest !== digest
    )
    await inParallel(changed, CONCURRENCY, async asset => {
      const { path, source } = asset
      try {
        await this.#write(asset)
        const duration = performance.now() - startedAt
        this.#publications.add({ path, source: source.file, duration })
      } catch (error) {
        const problem = asPublishError(this.#settings, path, error)
        if (!(problem instanceof AssetError)) throw problem
        all.set(path, problem)
      }
    })
    return all
  }

  /** An asset with a problem keeps its last good version; the files of removed assets are removed. */
  async #replace(assets: Assets): Promise<Assets> {
    const isBroken = ([path]: readonly [string, Built]) => this.#problems.has(path)
    const kept = [...this.#assets].filter(isBroken)
    const good = [...assets].filter(each => !isBroken(each))
    const gone = [...this.#assets].filter(each => !isBroken(each) && !assets.has(each[0]))
    await inParallel(gone, CONCURRENCY, ([, asset]) => this.#withdraw(asset))
    return new Map([...kept, ...good])
  }

  /** Leaves files that someone else has replaced, and fingerprinted files of earlier versions. */
  async #withdraw(built: Built): Promise<void> {
    const { path, digest } = built
    for (const each of new Set([path, withFingerprint(path, digest)])) {
      const file = publicFile(this.#settings, each)
      const isOurs = await hasDigest(file, built)
      if (isOurs && (await wouldBeInPlace(this.#settings.place, file))) await removeFile(file)
      this.#forget(each)
    }
  }

  async #write(built: Built): Promise<void> {
    const settings = this.#settings
    const file = publicFile(settings, built.path)
    if (!(await wouldBeInPlace(settings.place, file))) throw outsidePlace(settings.place, file)
    const replacements: Replacement[] = []
    await writeAsset(settings, built, replacements)
    for (const replacement of replacements) await replacement.commit()
  }
}

/** Whether an asset could not be written because its source is not what it was when it was built. */
function isOutdated(error: unknown): boolean {
  if (error instanceof CompileError) return false
  const { cause } = error as { cause?: unknown }
  return error instanceof SourceEdited || [error, cause].some(each => errorCode(each) === 'ENOENT')
}

/** Whether both have the same manifest. */
function isSame(one: Assets, other: Assets): boolean {
  if (one.size !== other.size) return false
  return [...one].every(([path, { digest, from, source }]) => {
    const twin = other.get(path)
    return twin?.digest === digest && twin.from === from && twin.source.path === source.path
  })
}
