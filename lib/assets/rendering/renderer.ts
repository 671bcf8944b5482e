// Renders sources: drafts them, and finds the assets that their references point to, or says where one is missing.
import { dirname, join, posix, relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import type { ServedPlace } from '../../files/containment.ts'
import { statOf } from '../../files/disk.ts'
import { whyHidden } from '../../files/folder-entries.ts'
import { readSnapshot } from '../../files/open-file.ts'
import { isBare } from '../references/module-references.ts'
import { isInModule, positionsOf, type Reference } from '../references/references.ts'
import { appAt, type AppSettings } from '../settings/app-settings.ts'
import { isAbsoluteUrl } from '../settings/option-table.ts'
import { publicFile } from '../settings/public-directory.ts'
import type { Settings } from '../settings/settings.ts'
import { memoized } from '../sources/catalog.ts'
import type { Asset, Sources } from '../sources/sources.ts'
import { decodeIfValid } from '../urls/canonical-path.ts'
import { draft, type Draft, type Text } from './draft.ts'

/** The asset that a reference points to. */
interface Referenced extends Asset {
  /** Whether the reference, as written, already is the asset's URL. */
  readonly isDirect?: boolean
}

/** `elsewhere`: not one of our assets, and not an error. Undefined: not found. */
type Resolution = Referenced | 'elsewhere' | undefined

export class Renderer {
  readonly #settings: Settings
  readonly #sources: Sources
  /** One for each source directory, whose real path is looked up once. */
  readonly #placeOf: (directory: string) => ServedPlace

  constructor(settings: Settings, sources: Sources) {
    const { symlinks } = settings
    this.#settings = settings
    this.#sources = sources
    this.#placeOf = memoized(directory => ({ root: directory, dir: directory, symlinks }))
  }

  /**
   * Undefined when the source is gone, is not a regular file, or is a link out of its directory.
   * @param sourceMap asks the compiler for an inline map, whatever the environment
   */
  draft(asset: Asset, sourceMap?: boolean): Promise<Draft | undefined> {
    const { env } = this.#settings
    const { compiler, directory } = asset.source
    return draft(asset, this.#placeOf(directory), {
      loadPaths: compiler ? this.#sources.of(asset.app).loadPaths : [],
      env,
      sourceMap: sourceMap || env === 'development'
    })
  }

  /**
   * The asset of each reference of a draft; undefined where the reference stays as it is written.
   * @param report the option `missing` chooses which one is called for a reference that is not found, and
   * for a module that cannot be parsed
   */
  async resolveAll(
    asset: Asset,
    { text, map }: Draft,
    report: { warn: (message: string) => void; fail: (error: AssetError) => void }
  ): Promise<(Referenced | undefined)[]> {
    if (!text) return []
    const { missing } = asset.app
    const { references } = text
    const found = await Promise.all(references.map(each => this.resolve(asset, text, each)))
    if (missing !== 'ignore') {
      // A missing source map is not a mistake in the text.
      const lost = references.filter(({ kind }, at) => !found[at] && kind !== 'source-map')
      for (const error of await referenceErrors(this.#settings, asset, { text, map }, lost)) {
        if (missing === 'error') report.fail(error)
        else report.warn(error.message)
      }
    }
    return found.map(to => (to === 'elsewhere' ? undefined : to))
  }

  /**
   * Tries the file next to the source, or next to a file that was compiled into it: that is what the
   * author refers to. Then the URL a browser would request, which may belong to another app; then, except
   * in a module, the file of a package, and the reference as a name.
   */
  async resolve(
    asset: Asset,
    { dependencies }: Pick<Text, 'dependencies'>,
    reference: Reference
  ): Promise<Resolution> {
    const { app, name, source } = asset
    if (isBare(reference)) {
      const given =
        app.imports.get(reference.path) ?? (await this.#sources.of(app).named(reference.path, name))
      return given === undefined || isAbsoluteUrl(given) ? 'elsewhere' : this.#named(app, given)
    }
    const path = decodeIfValid(reference.path)
    // It cannot be the path of a file.
    if (path === undefined || path.includes('\0')) return 'elsewhere'
    if (path.startsWith('/')) {
      const { base, prefix } = this.#settings
      const url = posix.normalize(path)
      const found = await this.#byUrl(url)
      if (!found) return url.startsWith(`${prefix}/`) ? undefined : 'elsewhere'
      return found === 'elsewhere' || base === '' ? found : { ...found, isDirect: false }
    }
    const direct = await this.#byUrl(posix.join(app.urlPrefix, posix.dirname(name), path))
    const beside = await this.#byFile(app, [source.file, ...dependencies].map(dirname), path)
    if (beside && !isSame(direct, beside)) return beside
    // In development, where modules are not rewritten, the browser would not find it.
    if (direct || isInModule(reference)) return direct
    const packages = path.startsWith('.') ? [] : this.#sources.of(app).nodeModules
    const inPackage = await this.#byFile(app, packages, path)
    return inPackage ?? this.#named(app, posix.normalize(path).replace(/^(?:\.\.?\/)+/, ''))
  }

  async #byUrl(url: string): Promise<Resolution> {
    const app = appAt(this.#settings, url)
    if (!app) return undefined
    const name = url.slice(app.urlPrefix.length + 1)
    const found = await this.#named(app, name)
    if (found) return { ...found, name, isDirect: true }
    const inPublic = await statOf(publicFile(this.#settings, url))
    return inPublic?.isFile() ? 'elsewhere' : undefined
  }

  async #named(app: AppSettings, name: string): Promise<Referenced | undefined> {
    const source = await this.#sources.of(app).find(name)
    return source && { app, name: source.name, source }
  }

  async #byFile(
    app: AppSettings,
    folders: readonly string[],
    path: string
  ): Promise<Referenced | undefined> {
    const sources = this.#sources.of(app)
    for (const folder of folders) {
      const found = await sources.findAt(join(folder, path))
      if (!found) continue
      const source = (await sources.find(found.name)) ?? found
      // Two sources in one directory may have the same name: the name finds the first, a tail the other.
      const isHidden = source.directory === found.directory && source.file !== found.file
      return isHidden ? { app, name: found.tail, source: found } : { app, name: found.name, source }
    }
    return undefined
  }
}

/** Whether a reference, as written, already is the URL of an asset. */
function isSame(direct: Resolution, { app, name }: Referenced): boolean {
  if (direct === undefined || direct === 'elsewhere' || direct.app !== app) return false
  return direct.name === name || direct.source.name === name
}

/** At most this many references of compiled text are searched for in its sources. */
const MAX_SEARCHES = 100

/** The error for a module whose references are not known, and for each path that is not found. */
export async function referenceErrors(
  { root }: Settings,
  { app, source: { file, compiler } }: Pick<Asset, 'app' | 'source'>,
  { text, map }: Pick<Draft, 'text' | 'map'>,
  missing: readonly Reference[]
): Promise<AssetError[]> {
  if (!text || (missing.length === 0 && text.unparsedAt === undefined)) return []
  const { code, dependencies, unparsedAt } = text
  const files = [file, ...dependencies]
  const isAsWritten = !compiler && map === undefined
  const placesIn: PlacesIn = (path, whole, offsets) =>
    positionsOf(whole, offsets).map(
      ({ line, column }) => `${relative(root, path)}:${line + 1}:${column + 1}`
    )
  const errorAt = (place: string | undefined, message: string) =>
    new AssetError('reference-missing', `${place ?? relative(root, file)} ${message}`)
  const paths = new Set<string>()
  const lost = missing.filter(({ path }) => !paths.has(path) && paths.add(path))
  const places = isAsWritten
    ? placesIn(
        file,
        code,
        lost.map(({ start }) => start)
      )
    : await placesInSources(files, lost.slice(0, MAX_SEARCHES), placesIn)
  const errors = await Promise.all(
    lost.map(async (reference, at) => {
      const { path } = reference
      const name = isBare(reference) ? ` (${app.imports.get(path)} by the option imports)` : ''
      const message = `refers to ${path}${name}, which was not found${await ruleFor(path, files)}`
      return errorAt(places[at], message)
    })
  )
  if (unparsedAt === undefined) return errors
  const [place] = isAsWritten ? placesIn(file, code, [unparsedAt]) : []
  const message =
    "cannot be parsed as a module, so its imports are not rewritten: write them in another way, or set missing: 'ignore'"
  return [errorAt(place, message), ...errors]
}

/** `apps/web/assets/app.css:12:3` for each offset. */
type PlacesIn = (path: string, code: string, offsets: readonly number[]) => string[]

/** The rule that hides a file which exists. */
async function ruleFor(path: string, files: readonly string[]): Promise<string> {
  const rule = whyHidden(path)
  if (rule === undefined) return ''
  const found = await Promise.all(files.map(from => statOf(join(dirname(from), path))))
  return found.some(Boolean) ? `: ${rule}` : ''
}

/** Where references of compiled text stand in the files that it was made from. */
async function placesInSources(
  files: readonly string[],
  lost: readonly Reference[],
  placesIn: PlacesIn
): Promise<(string | undefined)[]> {
  const read = await Promise.all(files.map(readSnapshot))
  const codes = read.map(one => (one ? new TextDecoder().decode(one.bytes) : ''))
  return lost.map(({ path }) => {
    const literal = path.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
    // By itself, not as part of a longer path.
    const alone = new RegExp(`(?<![\\w./-])${literal}(?![\\w./-])`)
    const found = files.flatMap((file, at) => {
      const code = codes[at] ?? ''
      const offset = code.search(alone)
      return offset === -1 ? [] : placesIn(file, code, [offset])
    })
    return found[0]
  })
}
