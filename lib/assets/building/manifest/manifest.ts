// public/assets.json: from the name that a page asks for to the file that is sent.
import { AssetError } from '../../../errors.ts'
import { nearestPath } from '../../../nearest.ts'
import type { ManifestApps } from '../../settings/manifest-file.ts'
import type { AppSettings } from '../../settings/settings.ts'
import { digestOf, SetDigester } from '../../../files/digest.ts'
import { encodePath } from '../../urls/encode.ts'
import { atOnce, type Sliced } from '../../../concurrency.ts'

/** One line of the manifest. Its key is the plain URL path, `/assets/app.css`. */
export interface ManifestEntry {
  /** The URL path of the fingerprinted file. */
  readonly target: string
  /** The path in its source directory: `stylesheets/app.css.scss`. */
  readonly source: string
  /** Subresource Integrity; empty when that is off. */
  readonly integrity: readonly string[]
  /** In bytes. */
  readonly size: number
  /** The position of its source directory in the order of search; absent for the app's own. */
  readonly from?: number
}

/** By plain URL path. */
export type ManifestEntries = ReadonlyMap<string, ManifestEntry>

type Entry = readonly [path: string, entry: ManifestEntry]

interface About {
  /** Undefined: kept in memory only. */
  readonly file?: string | undefined
  /** Of its own entries. Default: the digest of what precompile would write. */
  readonly version?: string | undefined
  /** Finds what this one lacks. */
  readonly kept?: Manifest | undefined
}

/** What one app's pages may ask for. */
interface Index {
  readonly names: readonly string[]
  /** Undefined: several assets of one directory bear the tail. */
  readonly tails: ReadonlyMap<string, ManifestEntry | undefined>
}

type Apps = readonly Pick<AppSettings, 'name' | 'urlPrefix'>[]

const ENTRIES_PER_SLICE = 1000
/** Names among which the nearest is looked for, since a page waits for it. */
const MAX_COMPARED = 30_000
const MAX_HINTS = 1000

export class Manifest {
  readonly assets: ManifestEntries
  readonly #about: About
  #version: string | undefined
  readonly #indexes = new Map<string, Index>()
  readonly #hints = new Map<string, string>()

  constructor(assets: ManifestEntries, about: About = {}) {
    this.assets = assets
    this.#about = about
  }

  /**
   * One digest of everything that a page may name: what is published now, and what is kept of before.
   */
  get version(): string {
    return (this.#version ??= this.#digest())
  }

  #digest(): string {
    const { kept, version = atOnce(digestOfEntries(this.assets)) } = this.#about
    return kept ? digestOf(Buffer.from(`${version} ${kept.version}`)) : version
  }

  /** The same, with entries of an earlier one behind its own: they are found only where these are not. */
  keeping(entries: readonly Entry[]): Manifest {
    const kept = entries.length > 0 ? new Manifest(new Map(entries)) : undefined
    return new Manifest(this.assets, { ...this.#about, kept })
  }

  /** Its own entries, then those that it keeps. */
  *entries(): Generator<Entry> {
    yield* this.assets
    if (this.#about.kept) yield* this.#about.kept.entries()
  }

  /**
   * The entry of a name, or of the one tail that finds it, where `tails` is on.
   * @throws AssetError that names it, the manifest, and what may have been meant
   */
  entry(app: AppSettings, name: string): ManifestEntry {
    const entry = this.find(app, name)
    if (entry) return entry
    const where = this.#about.file ?? 'the manifest in memory'
    const message = `${app.urlPrefix}/${name} is not in ${where}${this.#hintFor(app, name)}`
    throw new AssetError('asset-unknown', message)
  }

  find(app: AppSettings, name: string): ManifestEntry | undefined {
    const exact = this.assets.get(encodePath(`${app.urlPrefix}/${name}`))
    const tailed = app.tails && !exact ? this.#indexOf(app).tails.get(name) : undefined
    return exact ?? tailed ?? this.#about.kept?.find(app, name)
  }

  /** Prepares what names are looked up in, so that no page has to wait for it. */
  *indexing(apps: Apps): Sliced<void> {
    for (const { name, urlPrefix } of apps) {
      if (!this.#indexes.has(name)) this.#indexes.set(name, yield* index(this.assets, urlPrefix))
    }
    const { kept } = this.#about
    if (!kept) return
    yield* kept.indexing(apps)
    kept.#version ??= yield* digestOfEntries(kept.assets)
  }

  #indexOf(app: AppSettings): Index {
    const known = this.#indexes.get(app.name)
    if (known) return known
    const made = atOnce(index(this.assets, app.urlPrefix))
    this.#indexes.set(app.name, made)
    return made
  }

  /** A page that asks for an unknown name is likely to ask again. */
  #hintFor(app: AppSettings, name: string): string {
    const key = `${app.name}\0${name}`
    const known = this.#hints.get(key)
    if (known !== undefined) return known
    const near = nearestPath(name, this.#indexOf(app).names.slice(0, MAX_COMPARED))
    const hint = near === undefined ? '' : `; did you mean '${near}'?`
    if (this.#hints.size >= MAX_HINTS) this.#hints.clear()
    this.#hints.set(key, hint)
    return hint
  }
}

/** Tails lead where they lead in development: to the first directory that has one. */
function* index(assets: ManifestEntries, urlPrefix: string): Sliced<Index> {
  const prefix = encodePath(`${urlPrefix}/`)
  const names: string[] = []
  const tails = new Map<string, ManifestEntry | undefined>()
  const origins = new Map<string, number>()
  let seen = 0
  for (const [path, entry] of assets) {
    if (++seen % ENTRIES_PER_SLICE === 0) yield
    if (!path.startsWith(prefix)) continue
    const name = decodeURIComponent(path.slice(prefix.length))
    names.push(name)
    const from = entry.from ?? 0
    for (const tail of tailsOf(entry, name)) {
      const best = origins.get(tail) ?? Infinity
      if (from > best) continue
      tails.set(tail, from === best ? undefined : entry)
      origins.set(tail, from)
    }
  }
  return { names, tails }
}

/** Every tail of the published path but the name itself. */
function* tailsOf({ source }: ManifestEntry, name: string): Generator<string> {
  const folder = source.indexOf('/')
  const path = folder === -1 ? name : `${source.slice(0, folder)}/${name}`
  for (let at = 0; at !== -1; at = path.indexOf('/', at + 1)) {
    const tail = at === 0 ? path : path.slice(at + 1)
    if (tail !== name) yield tail
  }
}

/** One digest of all, in whatever order they come. */
function* digestOfEntries(assets: ManifestEntries): Sliced<string> {
  const digester = new SetDigester()
  let seen = 0
  for (const entry of assets) {
    if (++seen % ENTRIES_PER_SLICE === 0) yield
    digester.add(JSON.stringify(entry))
  }
  return digester.finish()
}

/** Keys sorted, so that identical sources make an identical file. */
export function serialize(assets: ManifestEntries, apps?: ManifestApps): string {
  const sorted = [...assets].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const whole = { version: 1, apps, assets: Object.fromEntries(sorted) }
  return `${JSON.stringify(whole, undefined, 2)}\n`
}
