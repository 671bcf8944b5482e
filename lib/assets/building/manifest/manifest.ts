// Maps the names that pages ask for to the files that are served.
import { atOnce, type Sliced } from '../../../concurrency.ts'
import { AssetError } from '../../../errors.ts'
import { digestOf } from '../../../files/digest.ts'
import { assetPath, type AppSettings } from '../../settings/app-settings.ts'
import { encodePath } from '../../urls/encode.ts'
import { digestOfEntries, type Entry, type ManifestEntries, type ManifestEntry } from './entries.ts'
import { NameIndex } from './name-index.ts'

type AppAddress = Pick<AppSettings, 'name' | 'urlPrefix'>

export class Manifest {
  readonly assets: ManifestEntries
  readonly #file: string | undefined
  readonly #kept: Manifest | undefined
  #version: string | undefined
  readonly #indexes = new Map<string, NameIndex>()

  /**
   * @param file undefined for a manifest that is in memory only
   * @param kept entries of earlier manifests, for names that this one does not have
   */
  constructor(assets: ManifestEntries, file?: string, kept?: Manifest) {
    this.assets = assets
    this.#file = file
    this.#kept = kept
  }

  /** Changes with anything that a page may refer to. */
  get version(): string {
    return (this.#version ??= atOnce(this.#digest()))
  }

  /** The same manifest with entries of an earlier one, for names that it does not have. */
  keeping(entries: readonly Entry[]): Manifest {
    const kept = entries.length > 0 ? new Manifest(new Map(entries)) : undefined
    return new Manifest(this.assets, this.#file, kept)
  }

  /** Its own entries, then those that it keeps. */
  *entries(): Generator<Entry> {
    yield* this.assets
    if (this.#kept) yield* this.#kept.entries()
  }

  /**
   * The entry of a name or, with the option `tails`, of a tail.
   * @throws AssetError for an unknown name: it shows the manifest and the nearest name
   */
  entry(app: AppSettings, name: string): Entry {
    const entry = this.find(app, name)
    if (entry) return entry
    const near = this.#indexOf(app).nearest(name)
    const hint = near === undefined ? '' : `; did you mean '${near}'?`
    const where = this.#file ?? 'the manifest in memory'
    throw new AssetError('asset-unknown', `${assetPath(app, name)} is not in ${where}${hint}`)
  }

  find(app: AppSettings, name: string): Entry | undefined {
    const path = encodePath(assetPath(app, name))
    const exact = this.assets.get(path)
    if (exact) return [path, exact]
    return (
      (app.tails ? this.#indexOf(app).findTail(name) : undefined) ?? this.#kept?.find(app, name)
    )
  }

  /** @param path the plain URL path, encoded */
  at(path: string): ManifestEntry | undefined {
    return this.assets.get(path) ?? this.#kept?.at(path)
  }

  /** Prepares indexes and version in advance, so that no page waits for them. */
  *preparing(apps: readonly AppAddress[]): Sliced<void> {
    for (const app of apps) yield* this.#indexing(app)
    if (this.#kept) yield* this.#kept.preparing(apps)
    this.#version ??= yield* this.#digest()
  }

  #indexOf(app: AppAddress): NameIndex {
    return this.#indexes.get(app.name) ?? atOnce(this.#indexing(app))
  }

  *#indexing({ name, urlPrefix }: AppAddress): Sliced<NameIndex> {
    const index = this.#indexes.get(name) ?? (yield* NameIndex.making(this.assets, urlPrefix))
    this.#indexes.set(name, index)
    return index
  }

  *#digest(): Sliced<string> {
    const own = yield* digestOfEntries(this.assets)
    return this.#kept ? digestOf(`${own} ${this.#kept.version}`) : own
  }
}
