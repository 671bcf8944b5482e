// Brings a target up to date with its source: copied or compiled, written whole, stamped.
import { join } from 'node:path'
import { isMiss, removeFile, statOf, type Stamp } from '../../files/disk.ts'
import { MtimeIndex } from './mtime-index.ts'
import { finish, type Draft } from '../rendering/draft.ts'
import { Renderer } from '../rendering/renderer.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Asset, Sources } from '../sources/sources.ts'
import { outsidePublic, requireInPublic, wouldBeInPublic } from '../../files/containment.ts'
import { writeIfChanged } from '../../files/writing/replacement.ts'
import { asPublishError } from '../../files/writing/publish-error.ts'
import type { Content } from '../../files/content.ts'
import { encodePath } from '../urls/encode.ts'

export interface Publisher {
  /**
   * Brings one name up to date, and returns the stamp that its target has now; undefined when the
   * name has no source.
   * @throws CompileError for a broken source; AssetError for a disk that refuses
   */
  publish(app: AppSettings, name: string): Promise<Stamp | undefined>
}

type Flight = Promise<Stamp | undefined>

/** The generation of an entry that only tells which target this process made. */
const NEVER = -1

export function makePublisher(
  settings: Settings,
  sources: Sources,
  warn: (message: string) => void
): Publisher {
  const index = new MtimeIndex(settings.index.max)
  const renderer = new Renderer(settings, sources)
  const flights = new Map<string, Flight>()

  const present = async (key: string, app: AppSettings): Flight => {
    const entry = index.get(key)
    const stamp = entry && (await index.check(key, entry))
    if (!stamp) return undefined
    // Asked after the stats, so that an event which came meanwhile counts.
    await sources.of(app).refresh()
    return sources.of(app).generation === entry.generation ? stamp : undefined
  }

  const bringUpToDate = async (key: string, app: AppSettings, name: string): Flight => {
    const target = join(settings.publicDir, app.urlPrefix, name)
    // What was known has changed; who knows what else was put in the place of another.
    if (index.get(key)) await sources.of(app).verify()
    const skipped = new Set<string>()
    for (;;) {
      const source = await sources.of(app).find(name, skipped)
      if (!source) return withdraw(key, target)
      const generation = skipped.size > 0 ? NEVER : sources.of(app).generation
      const stamp = await publishFrom({ app, name, source }, key, target, generation)
      if (stamp !== 'gone') return stamp
      // It went away since the listing was read: the next source of that name comes forward.
      skipped.add(source.file)
      await sources.of(app).verify()
    }
  }

  const publishFrom = async (
    asset: Asset,
    key: string,
    target: string,
    generation: number
  ): Promise<Stamp | 'gone' | undefined> => {
    const drafted = await renderer.draft(asset)
    if (!drafted) return 'gone'
    if (!(await wouldBeInPublic(settings, target))) {
      warn(outsidePublic(settings, target).message)
      return undefined
    }
    const content = finish(drafted, await urlsOf(asset, drafted))
    const stamp = await writeUnlessGone(target, content, drafted.mtimeNs)
    if (stamp === 'gone') return 'gone'
    if (!stamp) index.delete(key)
    else {
      const valid = drafted.isSettled ? generation : NEVER
      index.set(key, { inputs: drafted.inputs, target: { path: target, stamp }, generation: valid })
    }
    return stamp ?? statOf(target)
  }

  const writeUnlessGone = async (target: string, content: Content, mtimeNs: bigint) => {
    try {
      return await writeIfChanged(target, content, mtimeNs, {
        checkLocation: requireInPublic(settings)
      })
    } catch (error) {
      const { path } = error as NodeJS.ErrnoException
      if (isMiss(error) && 'copyOf' in content && path === content.copyOf) return 'gone'
      throw error
    }
  }

  const urlsOf = async (asset: Asset, drafted: Draft): Promise<(string | undefined)[]> => {
    const fail = (error: Error) => {
      throw error
    }
    const found = await renderer.resolveAll(asset, drafted, { warn, fail })
    return found.map(to =>
      !to || to.isDirect ? undefined : encodePath(`${to.app.urlPrefix}/${to.name}`)
    )
  }

  /** A target that this process made goes with its source; what a person put there stays. */
  const withdraw = async (key: string, target: string): Flight => {
    const entry = index.get(key)
    if (!entry) return undefined
    index.delete(key)
    const stats = await statOf(target)
    if (
      stats &&
      stats.ino === entry.target.stamp.ino &&
      stats.mtimeNs === entry.target.stamp.mtimeNs
    ) {
      await removeFile(target)
    }
    return undefined
  }

  const start = (key: string, app: AppSettings, name: string): Flight => {
    const flight = bringUpToDate(key, app, name).finally(() => flights.delete(key))
    flights.set(key, flight)
    return flight
  }

  const publish = async (key: string, app: AppSettings, name: string): Flight => {
    for (let joined = false; ;) {
      const entry = index.get(key)
      const stamp = await present(key, app)
      if (stamp) return stamp
      const flight = flights.get(key)
      if (flight && joined) return flight
      if (flight) {
        // It set out before this request came: what it brings may be older than the request.
        await flight.catch(ignore)
        joined = true
      } else if (index.get(key) === entry) {
        return start(key, app, name)
      }
      // Else one has landed while this request looked at what was known before.
    }
  }

  return {
    async publish(app, name) {
      const key = `${app.urlPrefix}/${name}`
      try {
        return await publish(key, app, name)
      } catch (error) {
        throw asPublishError(settings, key, error)
      }
    }
  }
}

/** Who started the flight hears of its failure. */
function ignore(): void {}
