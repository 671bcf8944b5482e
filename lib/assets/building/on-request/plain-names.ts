// Plain names on request: each target is brought up to date with its source when it is asked for.
import { published } from '../../../diagnostics.ts'
import { outsidePlace, requireInPlace, wouldBeInPlace } from '../../../files/containment.ts'
import { isMiss, removeFile, stampOf, statOf, type Stamp } from '../../../files/disk.ts'
import { rethrowAsPublishError } from '../../../files/writing/publish-error.ts'
import { prepareReplacement } from '../../../files/writing/atomic-write.ts'
import { assetPath } from '../../settings/app-settings.ts'
import { publicFile } from '../../settings/public-directory.ts'
import type { AppSettings, Settings } from '../../settings/settings.ts'
import type { Asset, Sources } from '../../sources/sources.ts'
import { Builder, type Plain } from '../builder.ts'
import type { AppFiles, Asked, Find } from './app-files.ts'
import { keepIndex, type KeptIndex } from './kept-index.ts'
import { hasSameInputs, hasSameTargets, MtimeIndex, NEVER } from './mtime-index.ts'

type Publishing = Promise<Stamp | undefined>

export class PlainNames implements AppFiles {
  readonly manifest = undefined
  readonly index: MtimeIndex
  readonly #settings: Settings
  readonly #sources: Sources
  readonly #warn: (message: string) => void
  readonly #builder: Builder
  readonly #kept: KeptIndex
  /** By URL path. */
  readonly #running = new Map<string, Publishing>()

  constructor(settings: Settings, sources: Sources, warn: (message: string) => void) {
    this.index = new MtimeIndex(settings.index.max)
    this.#settings = settings
    this.#sources = sources
    this.#warn = warn
    this.#builder = new Builder(settings, sources, { warn })
    this.#kept = keepIndex(settings, sources, this.index)
  }

  async current<F>({ app, name }: Asked, find: Find<F>): Promise<F | undefined> {
    return find(await this.publish(app, name))
  }

  failureOf(): undefined {}

  /**
   * Brings the target of a name up to date.
   * @returns the stamp of the target, which saves the caller a stat; undefined for a name without a source
   * @throws CompileError for a broken source; AssetError when a file cannot be read or written
   */
  publish(app: AppSettings, name: string): Publishing {
    const path = assetPath(app, name)
    return this.#publish(path, app, name).catch(rethrowAsPublishError(this.#settings, path))
  }

  async #publish(path: string, app: AppSettings, name: string): Publishing {
    const sources = this.#sources.of(app)
    await this.#kept.restored()
    for (let hasWaited = false; ;) {
      const entry = this.index.get(path)
      const looks = entry ? [hasSameTargets(entry), hasSameInputs(entry)] : []
      if (entry && (await Promise.all(looks)).every(Boolean)) {
        // After the stats: an event that arrives during them counts.
        await sources.refresh()
        if (sources.generation === entry.generation) return entry.targets[0]?.stamp
      }
      const running = this.#running.get(path)
      if (running && hasWaited) return running
      if (running) {
        // It began before this request: its result may be older than the request.
        await running.catch(ignore)
        hasWaited = true
      } else if (this.index.get(path) === entry) {
        const started = this.#update(path, app, name).finally(() => this.#running.delete(path))
        this.#running.set(path, started)
        return started
      }
      // Otherwise another one has finished since `entry` was read.
    }
  }

  async #update(path: string, app: AppSettings, name: string): Publishing {
    const sources = this.#sources.of(app)
    // What has changed may be where a link leads, which no event reports.
    if (this.index.get(path)) await sources.verify()
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
    const plain = await this.#builder.plain(asset)
    if (!plain) return 'gone'
    if (!(await wouldBeInPlace(this.#settings.place, file))) {
      this.#warn(outsidePlace(this.#settings.place, file).message)
      return undefined
    }
    const stamp = await this.#write(file, plain)
    if (stamp === 'gone') return 'gone'
    if (!stamp) {
      // Another process replaced it at once.
      this.index.delete(path)
      return undefined
    }
    const source = asset.source.file
    const at = performance.now()
    const { inputs, isSettled, isLasting, compileDuration } = plain
    const publication = { path, source, duration: at - startedAt, compileDuration }
    if (published.hasSubscribers) published.publish(publication)
    this.index.set(path, {
      source,
      generation: isSettled ? generation : NEVER,
      inputs,
      targets: [{ path: file, stamp: stampOf(stamp) }],
      published: { ...publication, at },
      isLasting
    })
    this.#kept.saveSoon()
    return stamp
  }

  async #write(file: string, { content, mtimeNs }: Plain) {
    try {
      const checkLocation = requireInPlace(this.#settings.place)
      return await (await prepareReplacement(file, content, mtimeNs, { checkLocation })).commit()
    } catch (error) {
      const { path } = error as NodeJS.ErrnoException
      if (isMiss(error) && 'copyOf' in content && path === content.copyOf) return 'gone'
      throw error
    }
  }

  /** Removes a target that this process wrote, unless someone else has replaced it. */
  async #withdraw(path: string): Promise<undefined> {
    const target = this.index.get(path)?.targets[0]
    if (!target) return
    this.index.delete(path)
    const stats = await statOf(target.path)
    const isOurs = stats?.ino === target.stamp.ino && stats.mtimeNs === target.stamp.mtimeNs
    if (isOurs) await removeFile(target.path)
  }
}

/** The request that started it reports the error. */
function ignore(): void {}
