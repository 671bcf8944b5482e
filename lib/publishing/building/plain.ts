// Publishes on request under plain names: each target is brought up to date with its source when a request asks for it.
import { inParallel, inTurns } from '../../runtime/concurrency.ts'
import { published } from '../../runtime/diagnostics.ts'
import { ifAssetError } from '../../runtime/errors.ts'
import { outsidePlace, wouldBeInPlace } from '../../runtime/files/containment.ts'
import { isMiss, stampOf } from '../../runtime/files/disk.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import { hasSameInputs, lookBefore } from '../sources/observation.ts'
import { rethrowAsPublishError, prepareReplacement } from '../writing/write.ts'
import { isBuiltIn } from '../compilers/built-in.ts'
import type { IndexKeeper, Project } from '../../runtime/app/extra.ts'
import { textType, type Draft } from '../rendering/draft.ts'
import { Renderer } from '../rendering/renderer.ts'
import { assetPath } from '../../runtime/settings/apps.ts'
import { publicFile, type Target } from '../../runtime/settings/public-directory.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import type { Sourced } from '../sources/snapshot.ts'
import type { Sources } from '../sources/sources.ts'
import { hasSameTargets, MtimeIndex, NEVER, withdraw } from './mtime-index.ts'

const MAX_ATTEMPTS = 5

export class PlainNames {
  readonly index: MtimeIndex
  keeper: IndexKeeper | undefined
  readonly #settings: Project
  readonly #sources: Sources
  readonly #warn: (message: string) => void
  readonly #renderer: Renderer
  /** Publications by URL path: a request waits for one that begins after it, as an earlier one may miss an edit. */
  readonly #inTurns = inTurns<Target | undefined>()
  /** The last search of each app's texts for references: there is at most one per second. */
  readonly #looked = new Map<AppSettings, { at: number; work: Promise<void> }>()

  constructor(settings: Project, sources: Sources, warn: (message: string) => void) {
    this.index = new MtimeIndex(settings.index.max)
    this.#settings = settings
    this.#sources = sources
    this.#warn = warn
    this.#renderer = new Renderer(settings, sources)
  }

  /**
   * Brings the target of a name up to date.
   * @returns the target, which saves the caller a stat or a read; undefined for a name without a source
   * @throws CompileError for a broken source; AssetError if a file cannot be read or written
   */
  publish(app: AppSettings, name: string): Promise<Target | undefined> {
    const path = assetPath(app, name)
    const turn = this.#inTurns(path, () => this.#publish(path, app, name))
    return turn.catch(rethrowAsPublishError(this.#settings, path))
  }

  async #publish(path: string, app: AppSettings, name: string) {
    const sources = this.#sources.of(app)
    await this.keeper?.restored()
    const entry = this.index.get(path)
    if (entry) {
      const looks = await Promise.all([hasSameTargets(entry), hasSameInputs(entry)])
      // This comes after the stats, so that an event during them counts.
      if (looks.every(Boolean)) await sources.refresh()
      const isCurrent = looks.every(Boolean) && sources.generation === entry.generation
      if (isCurrent) return entry.targets[0] && { stamp: entry.targets[0].stamp }
      // A link may lead elsewhere now, which no event reports.
      await sources.verify()
    }
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const source = await this.find(app, name)
      if (!source) break
      const { clash } = sources.chosen(name)
      if (clash !== undefined) this.#warn(clash)
      // A file that was removed meanwhile may be back before an event reports it.
      const generation = attempt === 1 ? sources.generation : NEVER
      const target = await this.#publishFrom({ app, source, path }, generation)
      if (target !== 'gone') return target
      // The source was removed after it was listed: there may be another one with the name.
      await sources.verify()
    }
    this.index.delete(path)
    if (entry) await withdraw(entry, this.#settings.place)
    return undefined
  }

  /** Also finds a file of a package to which texts refer, as another process may have published these texts. */
  async find(app: AppSettings, name: string) {
    const sources = this.#sources.of(app)
    const found = await sources.find(name)
    const isOfPackages = sources.lists.some(each => each.addFile && name.startsWith(each.prefix))
    if (found || !isOfPackages) return found
    const last = this.#looked.get(app)
    const isRecent = last && Date.now() < last.at + 1000
    const { work } = isRecent ? last : { work: this.#lookInTexts(app) }
    if (!isRecent) this.#looked.set(app, { at: Date.now(), work })
    await work
    return sources.find(name)
  }

  async #lookInTexts(app: AppSettings): Promise<void> {
    const known = new Set<string>()
    let fresh: readonly Sourced[] = await this.#sources.of(app).list()
    while (fresh.length > 0) {
      const packagesIn = async (asset: Sourced) => {
        const draft = (await mayAsk(asset)) ? await this.#renderer.draft(asset) : undefined
        return draft ? this.#renderer.packagesIn(draft) : []
      }
      const found = await inParallel(fresh, 16, asset =>
        packagesIn(asset).catch(ifAssetError(() => []))
      )
      fresh = found.flat().filter(({ path }) => !known.has(path) && known.add(path))
    }
  }

  async #publishFrom(asset: Sourced, generation: number) {
    const { path } = asset
    const startedAt = performance.now()
    const { place } = this.#settings
    const file = publicFile(this.#settings, path)
    const areAsBefore = await lookBefore(this.index.peek(path)?.inputs)
    const plain = await this.#render(asset)
    if (!plain) return 'gone'
    if (!(await wouldBeInPlace(place, file))) {
      this.#warn(outsidePlace(place, file).message)
      return undefined
    }
    const stamp = await this.#write(file, plain)
    if (stamp === 'gone') return 'gone'
    const source = asset.source.file
    const { inputs, isSettled, isReproducible, compileDuration } = plain
    const duration = performance.now() - startedAt
    if (published.hasSubscribers) published.publish({ path, source, duration, compileDuration })
    this.index.set(path, {
      source,
      generation: isSettled && areAsBefore(inputs) ? generation : NEVER,
      inputs,
      targets: [{ path: file, stamp: stampOf(stamp) }],
      isReproducible
    })
    this.keeper?.saveSoon()
    return { stamp, bytes: 'copyOf' in plain.content ? undefined : plain.content }
  }

  /** Renders an asset with plain names in its references; undefined if the source is gone. */
  async #render(asset: Sourced) {
    const draft = await this.#renderer.draft(asset)
    if (!draft) return undefined
    const { found, errors, warnings } = await this.#renderer.resolveAll(draft)
    warnings.forEach(this.#warn)
    if (errors[0]) throw errors[0]
    const { compiler } = asset.source
    const isOurs = !compiler || isBuiltIn(compiler)
    // Then another process would make the same target from the same inputs, and has nothing to warn about.
    const isReproducible = isOurs && !draft.isLowered && warnings.length === 0
    return { ...draft, content: this.#renderer.plain(draft, found), isReproducible }
  }

  async #write(file: string, { content }: Pick<Draft, 'content'>) {
    try {
      const made = await prepareReplacement(file, content, { place: this.#settings.place })
      await made.commit()
      return await made.stamp()
    } catch (error) {
      const { path } = error as NodeJS.ErrnoException
      if (isMiss(error) && 'copyOf' in content && path === content.copyOf) return 'gone'
      throw error
    }
  }
}

/** Tells by the source text whether a script may refer to files of packages: few do, and compiling takes time. */
async function mayAsk({ source: { name, file, asItIs } }: Sourced): Promise<boolean> {
  if (textType(name) !== 'js' || asItIs !== undefined) return textType(name) !== undefined
  const read = await readSnapshot(file)
  return /\bnew\s+URL\b/.test(String(read?.bytes))
}
