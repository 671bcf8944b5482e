// Brings a target up to date with its source: copied or compiled, written whole, stamped.
import { join, relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import { errorCode, isMiss, statOf, type Mark } from '../../files/disk.ts'
import { MtimeIndex } from './mtime-index.ts'
import { draft, finish, type Draft } from '../rendering/render.ts'
import { isReported, makeMissingReference } from '../rendering/missing-reference.ts'
import { resolveReference } from '../rendering/resolve-reference.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Source, Sources } from '../sources/sources.ts'
import { encodePath } from '../views/asset-url.ts'
import { leavesPublic, mustLieInPublic, wouldLieInPublic } from '../../files/containment.ts'
import { write } from '../../files/writing/replacement.ts'
import { remove, type Content } from '../../files/writing/write-whole.ts'

export interface Publisher {
  /**
   * Brings one name up to date, and returns the mark that its target has now; undefined when the
   * name has no source.
   * @throws CompileError for a broken source; AssetError for a disk that refuses
   */
  publish(app: AppSettings, name: string): Promise<Mark | undefined>
}

interface Asker {
  readonly app: AppSettings
  readonly name: string
  readonly source: Source
}

interface Referrer extends Asker {
  readonly draft: Draft
}

type Flight = Promise<Mark | undefined>

/** The generation of an entry that only tells which target this process made. */
const NEVER = -1

export function makePublisher(
  settings: Settings,
  sources: Sources,
  warn: (message: string) => void
): Publisher {
  const index = new MtimeIndex(settings.index.max)
  const flights = new Map<string, Flight>()

  const present = async (key: string, app: AppSettings): Flight => {
    const entry = index.get(key)
    const mark = entry && (await index.check(key, entry))
    if (!mark) return undefined
    // Asked after the stats, so that an event which came meanwhile counts.
    await sources.refresh(app)
    return sources.generation(app) === entry.generation ? mark : undefined
  }

  const bringUpToDate = async (key: string, app: AppSettings, name: string): Flight => {
    const target = join(settings.publicDir, app.urlPrefix, name)
    // What was known has changed; who knows what else was put in the place of another.
    if (index.get(key)) await sources.verify(app)
    const passedOver = new Set<string>()
    for (;;) {
      const source = await sources.find(app, name, passedOver)
      if (!source) return withdraw(key, target)
      const generation = passedOver.size > 0 ? NEVER : sources.generation(app)
      const mark = await publishFrom({ app, name, source }, key, target, generation)
      if (mark !== 'gone') return mark
      // It went away since the listing was read: the next source of that name comes forward.
      passedOver.add(source.file)
      await sources.verify(app)
    }
  }

  const publishFrom = async (
    asker: Asker,
    key: string,
    target: string,
    generation: number
  ): Promise<Mark | 'gone' | undefined> => {
    const { app, name, source } = asker
    const drafted = await draft(settings, sources.loadPaths(app), name, source)
    if (!drafted) return 'gone'
    if (!(await wouldLieInPublic(settings, target))) {
      warn(leavesPublic(settings, target).message)
      return undefined
    }
    const content = finish(drafted, await urlsOf({ ...asker, draft: drafted }))
    const mark = await writeUnlessGone(target, content, drafted.mtimeNs)
    if (mark === 'gone') return 'gone'
    if (!mark) index.delete(key)
    else {
      const valid = drafted.isSettled ? generation : NEVER
      index.set(key, { inputs: drafted.inputs, target: { path: target, mark }, generation: valid })
    }
    return mark ?? statOf(target)
  }

  const writeUnlessGone = async (target: string, content: Content, mtimeNs: bigint) => {
    try {
      return await write(target, content, mtimeNs, { judge: mustLieInPublic(settings) })
    } catch (error) {
      const { path } = error as NodeJS.ErrnoException
      if (isMiss(error) && 'copyOf' in content && path === content.copyOf) return 'gone'
      throw error
    }
  }

  const urlsOf = ({ draft, ...asker }: Referrer): Promise<(string | undefined)[]> => {
    const { references = [], dependencies = [] } = draft.text ?? {}
    const missingReference = makeMissingReference(settings, asker.source, draft)
    return Promise.all(
      references.map(async reference => {
        const asking = { ...asker, dependencies }
        const found = await resolveReference(settings, sources, asking, reference)
        if (found === undefined && isReported(asker.app, reference)) {
          const error = await missingReference(reference)
          if (asker.app.missing === 'error') throw error
          warn(error.message)
        }
        if (found === undefined || found === 'elsewhere' || found.isDirect) return undefined
        return encodePath(`${found.app.urlPrefix}/${found.name}`)
      })
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
      stats.ino === entry.target.mark.ino &&
      stats.mtimeNs === entry.target.mark.mtimeNs
    ) {
      await remove(target)
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
      const mark = await present(key, app)
      if (mark) return mark
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
        throw explained(settings, key, error)
      }
    }
  }
}

/** Who started the flight hears of its failure. */
function ignore(): void {}

/** An error of the disk says which asset it is about, and what to do; any other stays what it is. */
export function explained({ root }: Settings, path: string, error: unknown): unknown {
  const code = errorCode(error)
  if (error instanceof AssetError || code === undefined || !('syscall' in (error as object))) {
    return error
  }
  const { path: at, dest, syscall = '' } = error as NodeJS.ErrnoException & { dest?: string }
  // Of a copy or a rename that failed, what is not there is the source; else the target is to blame.
  const blamed = code === 'ENOENT' ? at : (dest ?? at)
  const file = blamed === undefined ? '' : ` ${relative(root, blamed) || root}`
  const message = `cannot publish ${path}: ${syscall}${file} failed with ${code}`
  return new AssetError('publish-failed', `${message}${ADVICE[code] ?? ''}`, { cause: error })
}

/** For `catch`. */
export function rethrow(settings: Settings, path: string) {
  return (error: unknown): never => {
    throw explained(settings, path, error)
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  EACCES: '; give this process the right to read sources and to write public',
  EPERM: '; give this process the right to read sources and to write public',
  EROFS: '; public lies on a read-only file system: precompile, and set compile to false',
  ENOSPC: '; the disk is full',
  EDQUOT: '; the quota of disk space is used up',
  EFBIG: '; this process may not write files of that size: see ulimit -f',
  EEXIST: '; a file stands where a directory is needed',
  ENOTDIR: '; a file stands where a directory is needed',
  EISDIR: '; a directory stands where the file belongs'
}
