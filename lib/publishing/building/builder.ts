// Builds all assets at once: compiles their sources, and replaces references by the URLs of the assets.
import { inParallel, once } from '../../runtime/concurrency.ts'
import { AssetError, ifAssetError } from '../../runtime/errors.ts'
import { checksumsOf, digestOf } from '../../runtime/files/digest.ts'
import { hasSameInputs, lookBefore } from '../sources/observation.ts'
import { readContent, type Content } from '../../runtime/files/open-file.ts'
import { undefinedIfMissing } from '../../runtime/files/disk.ts'
import { textType, type Draft } from '../rendering/draft.ts'
import { detailsIn } from '../../runtime/app/details.ts'
import { Renderer } from '../rendering/renderer.ts'
import { loadModuleLexer } from '../references/modules.ts'
import type { Project } from '../../runtime/app/extra.ts'
import type { Bundler, Transform } from '../../runtime/app/transform.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import type { Failure, Listed, Sourced } from '../sources/snapshot.ts'
import type { Sources } from '../sources/sources.ts'
import { finishAll, MAP } from './links.ts'
import { NEVER, type MtimeIndex } from './mtime-index.ts'
import {
  byPath,
  findFailures,
  findLostImports,
  importedInViews,
  listAssets,
  type Assets
} from './assets.ts'
import { pathFrom } from '../../runtime/files/paths.ts'

interface BuilderOptions {
  readonly warn: (message: string) => void
  /** Selects the apps to build. Default: all. */
  readonly only?: (app: AppSettings) => boolean
  readonly index?: MtimeIndex
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((done: number, total: number, path: string) => void) | undefined
  readonly transforms?: readonly Transform[]
  readonly bundlers?: readonly Bundler[]
}

export interface BuildResult {
  readonly assets: Assets
  /** The specifiers by which inline scripts of views import assets, sorted. */
  readonly inViews: readonly string[]
  readonly failures: readonly Failure[]
}

// This keeps the disk busy while a compiler works.
const CONCURRENCY = 16
/** The size of unchanged copies that stay in memory: most projects' small images are then read only once. */
const HELD_BYTES = 64 * 1024 * 1024

export class Builder {
  readonly #settings: Project
  readonly #sources: Sources
  readonly #renderer: Renderer
  readonly #options: BuilderOptions
  readonly #mentions = once(async () => {
    const found = this.#settings.extras.map(async each => each.views?.mentions(this.#settings))
    return (await Promise.all(found)).flatMap(each => each ?? [])
  })
  #held = 0
  #last: { readonly drafts: readonly Draft[]; readonly result: BuildResult } | undefined

  constructor(settings: Project, sources: Sources, options: BuilderOptions) {
    this.#settings = settings
    this.#sources = sources
    this.#renderer = new Renderer(settings, sources)
    this.#options = options
  }

  /** @returns the same object if nothing has changed @param listed the assets, if just listed */
  async all(listed?: readonly Listed[]): Promise<BuildResult> {
    const { only, index, warn } = this.#options
    const places = [...(listed ?? (await listAssets(this.#settings, this.#sources, only)))]
    const failures = findFailures(this.#settings, places, warn)
    const drafts = await this.#draftAll(places, failures)
    await this.#addPackages(places, drafts, failures)
    if (!index) {
      failures.push(...(await this.#addedSince(places)))
      failures.push(...(await findLostImports(this.#settings, this.#sources, drafts, warn)))
    }
    const last = this.#last
    const isSame = drafts.length === last?.drafts.length
    if (isSame && drafts.every((draft, at) => draft === last.drafts[at])) return last.result
    const result = await this.#finish(drafts, failures)
    // After failures everything is checked again: a missing file may have been added to `public`.
    this.#last = result.failures.length === 0 ? { drafts, result } : undefined
    return result
  }

  async #addPackages(places: Listed[], drafts: Draft[], failures: Failure[]): Promise<void> {
    const [known, last] = [new Set(places.map(({ path }) => path)), new Set(this.#last?.drafts)]
    let fresh = drafts.filter(each => !last.has(each))
    while (fresh.length > 0) {
      const find = (each: Draft) => this.#renderer.packagesIn(each)
      const found = (await inParallel(fresh, CONCURRENCY, find)).flat()
      const added = found.filter(({ path }) => !known.has(path) && known.add(path))
      const listed = added.map(each => ({ ...each, rivals: [], shadowed: [], clash: undefined }))
      places.push(...listed)
      fresh = await this.#draftAll(listed, failures)
      drafts.push(...fresh)
    }
    drafts.sort(byPath)
  }

  /** Reports added assets: a folder that is missing while a checkout replaces it would be left out of a precompile. */
  async #addedSince(places: readonly Listed[]): Promise<Failure[]> {
    const known = new Set(places.map(({ path }) => path))
    const now = await listAssets(this.#settings, this.#sources, this.#options.only)
    const added = now.filter(({ path }) => !known.has(path))
    return added.map(place => ({ path: place.path, error: this.#changed(place, 'appeared') }))
  }

  #changed({ source }: Sourced, how: string): AssetError {
    const file = pathFrom(this.#settings.root, source.file)
    const advice = 'run precompile again when nothing changes the sources'
    return new AssetError('source-missing', `${file} ${how} during the precompile: ${advice}`)
  }

  async #finish(all: readonly Draft[], failures: Failure[]): Promise<BuildResult> {
    const { warn, bundlers = [] } = this.#options
    const drafted = new Map(all.map(draft => [draft.path, draft]))
    const nodes = new Map<string, Draft>()
    for (const draft of all) {
      const { app, path, source } = draft
      const { found, errors, warnings } = await this.#renderer.resolveAll(draft)
      const isPackaged = source.packageName !== undefined && textType(source.name) === 'js'
      const isTaken = isPackaged && bundlers.some(each => each.takes?.(app))
      // The bundler has more ways to find modules, and a package may work without those it loads by a URL or later.
      if (!isTaken) {
        warnings.forEach(warn)
        failures.push(...errors.map(error => ({ path, error })))
      }
      const links = found.map(to => to?.path)
      const map = links.includes(path + MAP) ? drafted.get(path + MAP) : undefined
      const isRewritten = links.some(link => link !== undefined && link !== path + MAP)
      const ownMap = map && isRewritten ? await readAgain(map) : undefined
      nodes.set(path, { ...draft, links, ownMap })
    }
    const isAsked =
      all.some(({ app, mayImport }) => app.fingerprint && mayImport) ||
      this.#settings.apps.some(app => app.fingerprint && app.imports.size > 0)
    const mentions = isAsked ? await this.#mentions() : []
    for (const bundler of failures.length === 0 ? bundlers : []) {
      const failed = ifAssetError(error => void failures.push({ path: '', error }))
      const warnings = await bundler.join(nodes, mentions).catch(failed)
      warnings?.forEach(warn)
    }
    const assets = finishAll(nodes, warn, this.#settings.base)
    const inViews = importedInViews(mentions, assets, this.#settings)
    return { assets, inViews, failures: failures.toSorted(byPath) }
  }

  async #draftAll(places: readonly Listed[], failures: Failure[]): Promise<Draft[]> {
    const { onProgress, signal } = this.#options
    let done = 0
    const draftOne = async (place: Listed) => {
      const { path } = place
      const failed = ifAssetError(error => void failures.push({ path, error }))
      const draft = await this.#draft(place).catch(failed)
      onProgress?.(++done, places.length, path)
      return draft ?? []
    }
    const all = (await inParallel(places, CONCURRENCY, draftOne, signal)).flat()
    // The map of a transformed text replaces that of its source.
    const maps = new Set(all.flatMap(({ path, map }) => (map ? path + MAP : [])))
    return all.filter(({ path }) => !maps.has(path))
  }

  /** @returns undefined for a source that was removed after it was listed; a precompile throws instead */
  async #draft(place: Listed): Promise<Draft | undefined> {
    const { index } = this.#options
    const { path, source } = place
    const entry = index?.get(path)
    const isKnown = entry?.source === source.file && entry.generation === this.#sources.generation
    if (isKnown && (await hasSameInputs(entry))) return entry.draft
    const areAsBefore = await lookBefore(entry?.inputs)
    // Only the source can be missing here: a compiler's failure is a CompileError.
    const draft = await undefinedIfMissing(this.#draftAnew(place))
    if (!draft && !index) throw this.#changed(place, 'was removed')
    if (!draft) return undefined
    const { inputs, isSettled } = draft
    const generation = isSettled && areAsBefore(inputs) ? this.#sources.generation : NEVER
    const targets = entry?.targets ?? []
    index?.set(path, { source: source.file, generation, inputs, targets, draft })
    return draft
  }

  async #draftAnew(place: Listed): Promise<Draft | undefined> {
    const { app, source } = place
    const { name } = source
    const { transforms = [], bundlers = [] } = this.#options
    const transform = textType(name) && transforms.find(each => each.takes?.(app, name))
    const first = await this.#renderer.draft(place, transform !== undefined)
    if (!first) return undefined
    const isTaken = transform && bundlers.some(each => each.takes?.(app)) && (await isModule(first))
    const draft = transform && !isTaken ? await this.#renderer.transformed(first, transform) : first
    if (draft.text || draft.map) return draft
    const sums = await checksumsOf(draft.content, app.integrity)
    const details = await detailsIn(this.#settings.extras, name, draft.content, place)
    const isHeld = source.compiler !== undefined || draft.isLowered || this.#mayHold(draft.content)
    return { ...draft, content: isHeld ? draft.content : { copyOf: source.file }, sums, details }
  }

  /** Tells whether an unchanged copy stays in memory until it is written; otherwise its source is read again. */
  #mayHold(content: Content): boolean {
    const isKept = this.#options.index !== undefined
    if (isKept || 'copyOf' in content || this.#held + content.length > HELD_BYTES) return false
    this.#held += content.length
    return true
  }
}

async function isModule({ text, content }: Draft): Promise<boolean> {
  const code = text?.code ?? new TextDecoder().decode(await readContent(content))
  return (await loadModuleLexer()).isModule(code) === true
}

/** @returns undefined if the source was edited or removed meanwhile, which is reported when it is published */
async function readAgain({ content, sums }: Draft): Promise<string | undefined> {
  const bytes = await undefinedIfMissing(readContent(content))
  return bytes && digestOf(bytes) === sums?.digest ? new TextDecoder().decode(bytes) : undefined
}
