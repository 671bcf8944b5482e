// Brings a target up to date with its source: copies or compiles it, unless nothing has changed.
import type { Content } from '../../files/content.ts'
import { outsidePlace, requireInPlace, wouldBeInPlace } from '../../files/containment.ts'
import { isMiss, removeFile, statOf, type Stamp } from '../../files/disk.ts'
import { asPublishError } from '../../files/writing/publish-error.ts'
import { writeIfChanged } from '../../files/writing/replacement.ts'
import { finish, type Draft } from '../rendering/draft.ts'
import { Renderer } from '../rendering/renderer.ts'
import { assetPath } from '../settings/app-settings.ts'
import { publicFile } from '../settings/public-directory.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Asset, Sources } from '../sources/sources.ts'
import { encodePath } from '../urls/encode.ts'
import { MtimeIndex, NEVER } from './mtime-index.ts'
import { Publications } from './publications.ts'

type Publishing = Promise<Stamp | undefined>

export class Publisher {
  readonly #settings: Settings
  readonly #sources: Sources
  readonly #warn: (message: string) => void
  readonly #publications: Publications
  readonly #renderer: Renderer
  readonly #index: MtimeIndex
  /** By URL path. */
  readonly #running = new Map<string, Publishing>()

  constructor(
    settings: Settings,
    sources: Sources,
    warn: (message: string) => void,
    publications = new Publications()
  ) {
    this.#settings = settings
    this.#sources = sources
    this.#warn = warn
    this.#publications = publications
    this.#renderer = new Renderer(settings, sources)
    this.#index = new MtimeIndex(settings.index.max)
  }

  /**
   * Brings the target of a name up to date.
   * @returns the stamp of the target, which saves the caller a stat; undefined for a name without a source
   * @throws CompileError for a broken source; AssetError when a file cannot be read or written
   */
  async publish(app: AppSettings, name: string): Publishing {
    const path = assetPath(app, name)
    try {
      return await this.#publish(path, app, name)
    } catch (error) {
      throw asPublishError(this.#settings, path, error)
    }
  }

  async #publish(path: string, app: AppSettings, name: string): Publishing {
    for (let hasWaited = false; ;) {
      const entry = this.#index.get(path)
      const stamp = await this.#stampIfCurrent(path, app)
      if (stamp) return stamp
      const running = this.#running.get(path)
      if (running && hasWaited) return running
      if (running) {
        // It began before this request: its result may be older than the request.
        await running.catch(ignore)
        hasWaited = true
      } else if (this.#index.get(path) === entry) {
        return this.#start(path, app, name)
      }
      // Otherwise another one has finished since `entry` was read.
    }
  }

  async #stampIfCurrent(path: string, app: AppSettings): Publishing {
    const entry = this.#index.get(path)
    const stamp = entry && (await this.#index.check(path, entry))
    if (!stamp) return undefined
    // After the stats: an event that arrives during them counts.
    const sources = this.#sources.of(app)
    await sources.refresh()
    return sources.generation === entry.generation ? stamp : undefined
  }

  #start(path: string, app: AppSettings, name: string): Publishing {
    const running = this.#update(path, app, name).finally(() => this.#running.delete(path))
    this.#running.set(path, running)
    return running
  }

  async #update(path: string, app: AppSettings, name: string): Publishing {
    const sources = this.#sources.of(app)
    // What has changed may be where a link leads, which no event reports.
    if (this.#index.get(path)) await sources.verify()
    const skipped = new Set<string>()
    for (;;) {
      const source = await sources.find(name, skipped)
      if (!source) return this.#withdraw(path)
      const generation = skipped.size > 0 ? NEVER : sources.generation
      const stamp = await this.#publishFrom({ app, name, source }, path, generation)
      if (stamp !== 'gone') return stamp
      // The source was removed after it was listed: try the next one of that name.
      skipped.add(source.file)
      await sources.verify()
    }
  }

  /** Resolves to 'gone' when the source no longer exists. */
  async #publishFrom(asset: Asset, path: string, generation: number) {
    const startedAt = performance.now()
    const file = publicFile(this.#settings, path)
    const draft = await this.#renderer.draft(asset)
    if (!draft) return 'gone'
    if (!(await wouldBeInPlace(this.#settings.place, file))) {
      this.#warn(outsidePlace(this.#settings.place, file).message)
      return undefined
    }
    const stamp = await this.#write(file, finish(draft, await this.#urlsOf(asset, draft)), draft)
    if (stamp === 'gone') return 'gone'
    if (!stamp) {
      // Another process replaced it at once.
      this.#index.delete(path)
      return statOf(file)
    }
    const { inputs, isSettled, compileDuration } = draft
    const duration = performance.now() - startedAt
    this.#publications.add({ path, source: asset.source.file, duration, compileDuration })
    const target = { path: file, stamp }
    this.#index.set(path, { inputs, target, generation: isSettled ? generation : NEVER })
    return stamp
  }

  async #write(file: string, content: Content, { mtimeNs }: Draft) {
    try {
      const checkLocation = requireInPlace(this.#settings.place)
      return await writeIfChanged(file, content, mtimeNs, { checkLocation })
    } catch (error) {
      const { path } = error as NodeJS.ErrnoException
      if (isMiss(error) && 'copyOf' in content && path === content.copyOf) return 'gone'
      throw error
    }
  }

  async #urlsOf(asset: Asset, draft: Draft): Promise<(string | undefined)[]> {
    const fail = (error: Error) => {
      throw error
    }
    const found = await this.#renderer.resolveAll(asset, draft, { warn: this.#warn, fail })
    return found.map(to =>
      to && !to.isDirect ? encodePath(assetPath(to.app, to.name)) : undefined
    )
  }

  /** Removes a target that this process wrote, unless someone else has replaced it. */
  async #withdraw(path: string): Promise<undefined> {
    const target = this.#index.get(path)?.target
    if (!target) return
    this.#index.delete(path)
    const stats = await statOf(target.path)
    const isOurs = stats?.ino === target.stamp.ino && stats.mtimeNs === target.stamp.mtimeNs
    if (isOurs) await removeFile(target.path)
  }
}

/** The request that started it reports the error. */
function ignore(): void {}
