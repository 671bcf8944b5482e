// Maps the names that pages ask for to the files that are served; public/assets.json keeps it.
import { AssetError } from '../errors.ts'
import { digestOf } from '../files/digest.ts'
import { composed } from '../files/paths.ts'
import { didYouMean, nearestPath } from '../check-options.ts'
import type { Details, Imports } from '../app/parts.ts'
import { assetPath, ofApp, type AppSettings } from '../settings/app-settings.ts'
import { encodePath, meetsNames, tailsOf } from './spelling.ts'

/**
 * The manifest entry of an asset; its key is its plain URL path, `/assets/app.css`. In JSON an undefined member is
 * absent.
 */
export interface ManifestEntry extends Imports, Details {
  /** The URL path of the fingerprinted file. */
  readonly target: string
  /** The path of the source in its directory: `stylesheets/app.css.scss`. */
  readonly source: string
  /** The Subresource Integrity hashes; none when that is off. */
  readonly integrity: readonly string[]
  /** The size in bytes. */
  readonly size: number
  /** The position of its source directory in the search order; undefined for the app's own. */
  readonly from?: number | undefined
  /** The bare specifiers that resolve to it; undefined if it belongs to no package. */
  readonly specifiers?: readonly string[] | undefined
  /** The plain URL paths of the assets that were bundled into it; undefined for one that has its source alone. */
  readonly sources?: readonly string[] | undefined
}

/** The entries by plain URL path. */
export type ManifestEntries = ReadonlyMap<string, ManifestEntry>

export type Entry = readonly [path: string, entry: ManifestEntry]

/** The number of names up to which the nearest one is searched for, as a page waits for that. */
const MAX_COMPARED = 10_000

interface AppNames {
  readonly all: readonly string[]
  /** The entries by tail; undefined: several assets of one source directory share the tail. */
  readonly tails: ReadonlyMap<string, Entry | undefined>
  /** The names of all folders. */
  readonly folders: ReadonlySet<string>
}

/** Maps the paths of bundled assets to the path of the asset that contains them. */
export function holdersOf(entries: ManifestEntries): ReadonlyMap<string, string> {
  const parts = Array.from(entries, ([path, { sources = [] }]) =>
    sources.filter(source => !entries.has(source)).map(source => [source, path] as const)
  )
  return new Map(parts.flat())
}

/** Returns why there is no file of that name, and what to do. */
export function partOf(holder: string): string {
  return `it is part of ${holder}; what a view names that the option views finds is a file of its own after precompile`
}

interface MoreOfManifest {
  /** The words by which errors name it. */
  readonly file?: string | undefined
  readonly inViews?: readonly string[]
  readonly kept?: Iterable<Entry>
  /** Why assets could not be published, by plain URL path, decoded. */
  readonly failures?: ReadonlyMap<string, AssetError>
}

export class Manifest {
  readonly assets: ManifestEntries
  /** The entries, with those of earlier manifests for names that this one does not have. */
  readonly entries: ManifestEntries
  /** The specifiers by which inline scripts of views import assets. */
  readonly inViews: readonly string[]
  readonly failures: ReadonlyMap<string, AssetError>
  readonly #file: string | undefined
  #version: string | undefined
  readonly #names = new Map<string, AppNames>()
  /** All apps, once it is prepared for them. */
  #apps: readonly AppSettings[] = []

  /** @param more its `file` is undefined for a manifest that is in memory only */
  constructor(assets: ManifestEntries, more: MoreOfManifest = {}) {
    const { file, inViews = [], kept = [], failures = new Map() } = more
    this.assets = assets
    this.entries = new Map([...assets, ...kept])
    this.inViews = inViews
    this.failures = failures
    this.#file = file
  }

  /** A digest that changes with anything that a page may refer to; it is independent of the order of entries. */
  get version(): string {
    if (this.#version !== undefined) return this.#version
    const entries = Array.from(this.entries, entry => JSON.stringify(entry))
    return (this.#version = digestOf([...entries.toSorted(), ...this.inViews].join('\n')))
  }

  /**
   * Finds the entry of a name or, with the option `tails`, of a tail.
   * @param apps all apps, one of which may have the name instead
   * @throws AssetError for an unknown name: it names the manifest, and the nearest name or the app that has it; the
   * failure of an asset that could not be published
   */
  entry(app: AppSettings, name: string, apps: readonly AppSettings[]): Entry {
    const entry = this.find(app, name)
    if (entry) return entry
    const failure = this.failures.get(assetPath(app, name))
    if (failure) throw failure
    const whole = holdersOf(this.entries).get(encodePath(assetPath(app, name)))
    const other = apps.find(each => this.find(each, name))
    const near = nearestPath(name, this.namesOf(app).slice(0, MAX_COMPARED))
    const guess = near === undefined ? '' : `; ${didYouMean(name, near)}`
    const elsewhere = other ? `; ${ofApp(other.name)}` : guess
    const hint = whole === undefined ? elsewhere : `: ${partOf(whole)}`
    const where = this.#file ?? 'the manifest in memory'
    throw new AssetError('asset-unknown', `${assetPath(app, name)} is not in ${where}${hint}`)
  }

  has(app: AppSettings, name: string): boolean {
    return this.failures.has(assetPath(app, name)) || this.find(app, name) !== undefined
  }

  find(app: AppSettings, name: string): Entry | undefined {
    const path = encodePath(assetPath(app, name))
    const exact = this.entries.get(path)
    if (exact) return [path, exact]
    const { tails, folders } = this.#namesOf(app)
    const tailed = app.tails ? tails.get(name) : undefined
    const isName = (each: string) => this.entries.has(encodePath(assetPath(app, each)))
    return tailed && !meetsNames(name, folders, isName) ? tailed : undefined
  }

  namesOf(app: AppSettings): readonly string[] {
    return this.#namesOf(app).all
  }

  /** Makes the indexes in advance, so that no page waits for them. */
  prepare(apps: readonly AppSettings[]): this {
    this.#apps = apps
    this.#names.clear()
    for (const app of apps) this.#namesOf(app)
    this.#version = this.version
    return this
  }

  #namesOf({ name, urlPrefix }: AppSettings): AppNames {
    const known = this.#names.get(name)
    if (known) return known
    const inside = this.#apps
      .filter(other => other.urlPrefix.startsWith(`${urlPrefix}/`))
      .map(other => encodePath(`${other.urlPrefix}/`))
    const prefix = encodePath(`${urlPrefix}/`)
    const all: string[] = []
    const tails = new Map<string, Entry | undefined>()
    const origins = new Map<string, number>()
    const folders = new Set<string>()
    for (const entry of this.entries) {
      const [path, { source, from = 0 }] = entry
      const isOther = inside.some(each => path.startsWith(each))
      if (isOther || !path.startsWith(prefix)) continue
      const name = decodeURIComponent(path.slice(prefix.length))
      all.push(name)
      const first = composed(source.slice(0, source.indexOf('/') + 1))
      const hasTails = name.split('/').length < source.split('/').length
      const whole = hasTails ? first + name : name
      for (const folder of whole.split('/').slice(0, -1)) folders.add(folder)
      // A name with all folders of the source, by the option `at` or in a package, has no tails.
      if (!hasTails) continue
      // As in development, the first source directory that has a tail wins, and a kept entry comes last.
      const origin = this.assets.has(path) ? from : Infinity
      // The tail includes the first folder, which is not part of the name.
      for (const tail of tailsOf(whole)) {
        const best = origins.get(tail) ?? Infinity
        if (tail === name || origin > best) continue
        tails.set(tail, origin === best && origins.has(tail) ? undefined : entry)
        origins.set(tail, origin)
      }
    }
    const names = { all, tails, folders }
    this.#names.set(name, names)
    return names
  }
}
