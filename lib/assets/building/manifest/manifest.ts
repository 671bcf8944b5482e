// Maps the names that pages ask for to the files that are served.
import { AssetError } from '../../../errors.ts'
import { digestOf, SetDigester } from '../../../files/digest.ts'
import { assetPath, type AppSettings } from '../../settings/app-settings.ts'
import { encodePath } from '../../urls/encode.ts'
import type { Entry, ManifestEntries, ManifestEntry } from './entries.ts'
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
    return (this.#version ??= this.#digest())
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
  prepare(apps: readonly AppAddress[]): void {
    for (const app of apps) this.#indexOf(app)
    this.#kept?.prepare(apps)
    this.#version ??= this.#digest()
  }

  #indexOf({ name, urlPrefix }: AppAddress): NameIndex {
    const index = this.#indexes.get(name) ?? new NameIndex(this.assets, urlPrefix)
    this.#indexes.set(name, index)
    return index
  }

  /** Independent of the order of entries. */
  #digest(): string {
    const digester = new SetDigester()
    for (const entry of this.assets) digester.add(JSON.stringify(entry))
    const own = digester.finish()
    return this.#kept ? digestOf(`${own} ${this.#kept.version}`) : own
  }
}
