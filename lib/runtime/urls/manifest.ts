// Maps the names that pages ask for to the assets that are served; public/assets.json keeps them.
import { memoized } from '../concurrency.ts'
import { AssetError } from '../errors.ts'
import { digestOf } from '../files/digest.ts'
import { composed } from '../files/paths.ts'
import { didYouMean, nearestPath } from '../check-options.ts'
import { assetPath, ofApp, type AppSettings } from '../settings/apps.ts'
import { manifestApps } from '../settings/public-directory.ts'
import { encodePath, meetsNames, tailsOf } from './spelling.ts'

/** A published file: a line of assets.json, where its path is the key. Paths are percent-encoded URL paths. */
export interface Asset {
  /** The plain path, without a fingerprint: `/assets/app.css`. */
  readonly path: string
  /** The path that pages contain: `/assets/app-<32 hex>.css`. */
  readonly target: string
  /** The path of the source in its directory: `stylesheets/app.css.scss`. */
  readonly source: string
  /** The Subresource Integrity hashes, one per algorithm: `['sha384-…']`; none when that is off. */
  readonly integrity: readonly string[]
  readonly size: number
  /** The position of its source directory in the search order; undefined for the app's own. */
  readonly from?: number | undefined
  /** The plain paths of a script's imports by literal specifiers, in its order; undefined if they are not known. */
  readonly imports?: readonly string[] | undefined
  /** The plain paths of imports by `import()`; undefined for none. */
  readonly dynamicImports?: readonly string[] | undefined
  /**
   * The specifiers that only an import map resolves: unknown bare ones, plain paths of modules that import each other,
   * and `*` for any, as in `import('./locales/' + name)`; undefined if `imports` is.
   */
  readonly unresolved?: readonly string[] | undefined
  /** The bare specifiers that resolve to it; undefined if it belongs to no package. */
  readonly specifiers?: readonly string[] | undefined
  readonly imageSize?: ImageSize | undefined
  /** The element of an SVG file that pages may contain, or the reason why they may not. */
  readonly svg?: InlineSvg | string | undefined
  /** The plain paths of the assets that were bundled into it; undefined for one that contains only its own source. */
  readonly sources?: readonly string[] | undefined
}

/** The details of a file that pages contain besides its URL. */
export type Details = Pick<Asset, 'imageSize' | 'svg'>

/** The size of an image in CSS pixels. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

export interface InlineSvg {
  readonly attributes: Readonly<Record<string, string>>
  /** The HTML of its children. */
  readonly content: string
}

export type AssetsByPath = ReadonlyMap<string, Asset>

const MAX_COMPARED = 10_000

interface AppNames {
  readonly all: readonly string[]
  /** The assets by tail; undefined if several assets of one source directory share the tail. */
  readonly tails: ReadonlyMap<string, Asset | undefined>
  readonly folders: ReadonlySet<string>
}

/** Maps the paths of bundled assets to the path of the asset that contains them. */
export function holdersOf(assets: AssetsByPath): ReadonlyMap<string, string> {
  const parts = Array.from(assets.values(), ({ path, sources = [] }) =>
    sources.filter(source => !assets.has(source)).map(source => [source, path] as const)
  )
  return new Map(parts.flat())
}

export function partOf(holder: string): string {
  return `it is part of ${holder}; a name in a view that the option views finds has a file of its own after precompile`
}

export interface GivenNames {
  readonly assets: Iterable<Asset>
  /** The apps; none if only the assets are needed. */
  readonly apps?: readonly AppSettings[]
  /** The file as errors name it; undefined for names that are only in memory. */
  readonly file?: string | undefined
  readonly inViews?: readonly string[]
  /** The assets of earlier manifests. */
  readonly kept?: readonly Asset[]
  readonly failures?: ReadonlyMap<string, AssetError>
}

/** The names of all apps with fingerprints: those of assets.json, or those in memory while files are made on request. */
export class Names {
  /** The assets, with those of earlier manifests under names that this one does not have. */
  readonly assets: AssetsByPath
  /** The specifiers by which inline scripts of views import assets. */
  readonly inViews: readonly string[]
  /** The errors of assets that could not be published, by plain path, decoded. */
  readonly failures: ReadonlyMap<string, AssetError>
  readonly #apps: readonly AppSettings[]
  readonly #file: string
  readonly #kept: ReadonlySet<Asset>
  #version: string | undefined

  constructor({ assets, kept = [], ...given }: GivenNames) {
    const { apps = [], file = 'the manifest in memory', inViews = [] } = given
    this.assets = new Map([...assets, ...kept].map(asset => [asset.path, asset]))
    this.inViews = inViews
    this.failures = given.failures ?? new Map()
    this.#apps = apps
    this.#file = file
    this.#kept = new Set(kept)
  }

  /** A digest that changes with anything that a page may refer to; it is independent of the order of assets. */
  get version(): string {
    if (this.#version !== undefined) return this.#version
    const lines = Array.from(this.assets.values(), asset => JSON.stringify(asset))
    return (this.#version = digestOf([...lines.toSorted(), ...this.inViews].join('\n')))
  }

  /** Makes the indexes in advance, so that no page waits for them. */
  prepare(): this {
    for (const app of this.#apps) this.namesOf(app)
    this.#version = this.version
    return this
  }

  /** Returns the content of assets.json. Keys are sorted, so identical sources give an identical file. */
  toJSON(): object {
    const sorted = [...this.assets.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
    const options = this.#apps.map(({ name, forBuild }) => [name, forBuild] as const)
    return {
      version: 1,
      ...(options.length > 0 && {
        apps: manifestApps(this.#apps),
        options: Object.fromEntries(options.toSorted(([a], [b]) => (a < b ? -1 : 1)))
      }),
      inViews: this.inViews.length > 0 ? this.inViews : undefined,
      assets: Object.fromEntries(sorted.map(({ path, ...line }) => [path, line]))
    }
  }

  /** @throws AssetError for an unknown name, with the nearest one or the app that has it; the failure of an asset */
  entry(app: AppSettings, name: string): Asset {
    const found = this.find(app, name)
    if (found) return found
    const path = assetPath(app, name)
    const failure = this.failures.get(path)
    if (failure) throw failure
    const whole = holdersOf(this.assets).get(encodePath(path))
    const other = this.#apps.find(each => this.find(each, name))
    const near = nearestPath(name, this.namesOf(app).all.slice(0, MAX_COMPARED))
    const guess = near === undefined ? '' : `; ${didYouMean(name, near)}`
    const elsewhere = other ? `; ${ofApp(other.name)}` : guess
    const hint = whole === undefined ? elsewhere : `: ${partOf(whole)}`
    throw new AssetError('asset-unknown', `${path} is not in ${this.#file}${hint}`)
  }

  /** Tells whether an asset has the name, even one that could not be published. */
  has(app: AppSettings, name: string): boolean {
    return this.failures.has(assetPath(app, name)) || this.find(app, name) !== undefined
  }

  find(app: AppSettings, name: string): Asset | undefined {
    const exact = this.assets.get(encodePath(assetPath(app, name)))
    if (exact) return exact
    const { tails, folders } = this.namesOf(app)
    const tailed = app.tails ? tails.get(name) : undefined
    const isName = (each: string) => this.assets.has(encodePath(assetPath(app, each)))
    return tailed && !meetsNames(name, folders, isName) ? tailed : undefined
  }

  readonly namesOf = memoized(({ urlPrefix }: AppSettings): AppNames => {
    const inside = this.#apps
      .filter(other => other.urlPrefix.startsWith(`${urlPrefix}/`))
      .map(other => encodePath(`${other.urlPrefix}/`))
    const prefix = encodePath(`${urlPrefix}/`)
    const all: string[] = []
    const tails = new Map<string, Asset | undefined>()
    const origins = new Map<string, number>()
    const folders = new Set<string>()
    for (const asset of this.assets.values()) {
      const { path, source, from = 0 } = asset
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
      // The first source directory that has a tail wins, as in development, and a kept asset comes last.
      const origin = this.#kept.has(asset) ? Infinity : from
      // The tail includes the first folder, which is not part of the name.
      for (const tail of tailsOf(whole)) {
        const best = origins.get(tail) ?? Infinity
        if (tail === name || origin > best) continue
        tails.set(tail, origin === best && origins.has(tail) ? undefined : asset)
        origins.set(tail, origin)
      }
    }
    return { all, tails, folders }
  })
}
