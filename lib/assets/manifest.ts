// public/assets.json: from the name that a page asks for to the file that is sent.
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { AssetError } from '../errors.ts'
import { encodePath } from './asset-url.ts'
import { markOf, missing, sameMark, statOf, type Mark } from './disk.ts'
import { digestOf } from './fingerprint.ts'
import { nearest } from '../nearest.ts'
import { readApps, type ManifestApps } from './manifest-file.ts'
import type { AppSettings } from './settings.ts'

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

export class Manifest {
  readonly assets: ReadonlyMap<string, ManifestEntry>
  /** One digest of everything that is published. */
  readonly version: string
  /** Undefined: kept in memory only. */
  readonly #file: string | undefined
  readonly #tails = new Map<string, ReadonlyMap<string, readonly string[]>>()

  constructor(assets: ReadonlyMap<string, ManifestEntry>, file?: string) {
    this.assets = assets
    this.version = digestOf(Buffer.from(serialize(assets)))
    this.#file = file
  }

  /**
   * The entry of a name, or of the one tail that finds it, where `tails` is on.
   * @throws AssetError that names it, the manifest, and what may have been meant
   */
  entry(app: AppSettings, name: string): ManifestEntry {
    const entry = this.find(app, name)
    if (entry) return entry
    const prefix = `${app.urlPrefix}/`
    const names = [...this.assets.keys()].filter(key => key.startsWith(encodePath(prefix)))
    const near = nearest(encodePath(prefix + name), names)
    const hint = near ? `; did you mean '${decodeURIComponent(near).slice(prefix.length)}'?` : ''
    const where = this.#file ?? 'the manifest in memory'
    throw new AssetError('asset-unknown', `${prefix}${name} is not in ${where}${hint}`)
  }

  find(app: AppSettings, name: string): ManifestEntry | undefined {
    const exact = this.assets.get(encodePath(`${app.urlPrefix}/${name}`))
    if (exact || !app.tails) return exact
    const keys = this.#tailsOf(app).get(name) ?? []
    return keys.length === 1 ? this.assets.get(keys[0] ?? '') : undefined
  }

  /** Tails lead where they lead in development: to the first directory that has one. */
  #tailsOf(app: AppSettings): ReadonlyMap<string, readonly string[]> {
    const known = this.#tails.get(app.name)
    if (known) return known
    const tails = new Map<string, string[]>()
    const prefix = encodePath(`${app.urlPrefix}/`)
    for (const [key, entry] of this.assets) {
      if (!key.startsWith(prefix)) continue
      for (const tail of tailsOf(entry, decodeURIComponent(key.slice(prefix.length)))) {
        const from = (other: string) => this.assets.get(other)?.from ?? 0
        const [best = key] = tails.get(tail) ?? []
        const mine = entry.from ?? 0
        if (mine < from(best)) tails.set(tail, [key])
        else if (mine === from(best)) tails.set(tail, [...(tails.get(tail) ?? []), key])
      }
    }
    this.#tails.set(app.name, tails)
    return tails
  }
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

/** Keys sorted, so that identical sources make an identical file. */
export function serialize(assets: ReadonlyMap<string, ManifestEntry>, apps?: ManifestApps): string {
  const sorted = [...assets].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const whole = { version: 1, apps, assets: Object.fromEntries(sorted) }
  return `${JSON.stringify(whole, undefined, 2)}\n`
}

/** @throws AssetError for anything but a manifest of version 1 */
export function parseManifest(text: string, file: string): Manifest {
  try {
    const whole = JSON.parse(text) as { version?: unknown; apps?: unknown; assets?: unknown }
    const { version, assets } = whole
    if (version !== 1) throw new TypeError(`its version is ${JSON.stringify(version)}, not 1`)
    if (typeof assets !== 'object' || assets === null || Array.isArray(assets)) {
      throw new TypeError('its assets are no object')
    }
    readApps(whole)
    const entries = Object.entries(assets) as [string, ManifestEntry][]
    const wrong = entries.find(([, entry]) => !isEntry(entry))
    if (wrong) throw new TypeError(`the entry ${wrong[0]} is incomplete`)
    // Helpers decode them: better now than on a page.
    for (const [path] of entries) decodeURIComponent(path)
    return new Manifest(new Map(entries), file)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new AssetError('manifest-broken', `${file} is no manifest (${reason}): ${REMEDY}`, {
      cause: error
    })
  }
}

function isEntry(value: unknown): boolean {
  const { target, source, integrity, size } = (value ?? {}) as Partial<ManifestEntry>
  const typed = typeof target === 'string' && typeof source === 'string' && Number.isInteger(size)
  return typed && Array.isArray(integrity) && integrity.every(hash => typeof hash === 'string')
}

const REMEDY = 'run koa-fresh-assets precompile'

function manifestMissing(file: string): AssetError {
  return new AssetError('manifest-missing', `there is no manifest ${file}: ${REMEDY}`)
}

/** @throws AssetError for a file that is missing or broken: it names the file and the command */
export async function readManifest(file: string): Promise<Manifest> {
  const text = await missing(readFile(file, 'utf8'))
  if (text === undefined) throw manifestMissing(file)
  return parseManifest(text, file)
}

/** The manifest on disk, read at start and again when it changes. */
export class ManifestFile {
  readonly file: string
  current: Manifest
  readonly #warn: (message: string) => void
  #mark: Mark | undefined
  #checkedAt = 0

  /** @throws AssetError for a file that is missing or broken: it names the file and the command */
  constructor(file: string, warn: (message: string) => void) {
    this.file = file
    this.#warn = warn
    if (!existsSync(file)) throw manifestMissing(file)
    this.current = parseManifest(readFileSync(file, 'utf8'), file)
  }

  /** Looks for a newer one behind a request, at most once in `seconds`. */
  refreshBehind(seconds: number): void {
    const now = Date.now()
    if (now - this.#checkedAt < seconds * 1000) return
    this.#checkedAt = now
    this.#refresh().catch((error: Error) =>
      this.#warn(`keeping the last manifest: ${error.message}`)
    )
  }

  async #refresh(): Promise<void> {
    const stats = await statOf(this.file)
    if (!stats || (this.#mark && sameMark(this.#mark, stats))) return
    this.current = parseManifest(await readFile(this.file, 'utf8'), this.file)
    this.#mark = markOf(stats)
  }
}
