// What lies in public: found, judged, and prepared once, so that a request only writes it out.
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { makeAbsent } from './known-misses.ts'
import { isUnchangedSince } from '../../files/clock.ts'
import { sameStamp, statOf, type Stamp, type OpenFile } from '../../files/disk.ts'
import { hasOneSpelling, type Wanted } from './request-path.ts'
import {
  isUnchanged,
  load,
  loadOpened,
  type IsOrdinary,
  type PublicFile,
  type Sendable
} from './public-file.ts'
import type { Settings } from '../settings/settings.ts'
import { isPathInPublic } from '../../files/containment.ts'
import { MAX_WHOLE_BYTES } from './write-response.ts'

type Found = PublicFile | undefined

export interface PublicFiles {
  /** Whether it is known, without a look at the disk, that public lacks the first folder of a path. */
  isAbsent(rawPath: string): boolean
  /** Whether it is known, without a look at the disk, that public lacks the file. */
  isMissing(rawPath: string): boolean
  /** What lies in memory under a path just as it was sent, and is trusted still. */
  recall(rawPath: string): Found
  /**
   * The file that is wanted, as the disk has it now or, within `revalidate`, had it.
   * @param stamp what the target was found to be just now, if somebody has looked already
   */
  find(wanted: Wanted, stamp?: Stamp): Promise<Found> | Found
  /** Has the next `find` look at the disk: the file was not what was remembered of it. */
  forget(wanted: Pick<Wanted, 'path'>): void
  /** The file that is wanted, described from its open self and then used; undefined for a miss. */
  readonly withOpened: <T>(
    wanted: Wanted,
    use: (file: PublicFile, opened: OpenFile) => Promise<T> | T
  ) => Promise<T | undefined>
  /** Whether there is a file that could be sent; nothing is read. */
  has(wanted: Wanted): Promise<boolean>
}

interface Held extends PublicFile {
  readonly isInMemory: boolean
  /** False for a file that changed so recently that it may change again without another stamp. */
  readonly hasRested: boolean
  /** Milliseconds of the monotonic clock; Infinity for a verified fingerprint, which is trusted until it leaves memory. */
  trustedUntil: number
}

// What a form costs beside its body, measured in resident memory: strings, headers, stamps, the buffer
// itself, and what the collector lets lie before it comes round.
const OVERHEAD_BYTES = 12 * 1024

/** What a form may take of memory; a small body lies there a second time, behind its head. */
function memoryCostOf({ body }: Sendable): number {
  const length = body?.length ?? 0
  return OVERHEAD_BYTES + (length < MAX_WHOLE_BYTES ? 2 * length : length)
}

export function makePublicFiles(settings: Settings, isOrdinary: IsOrdinary): PublicFiles {
  const held = new LRUCache<string, Held>({
    maxSize: Math.max(1, settings.memory.maxBytes),
    sizeCalculation: ({ forms }) => forms.reduce((sum, form) => sum + memoryCostOf(form), 0)
  })
  const absent = makeAbsent(settings)
  const loads = new Map<string, Promise<Found>>()
  const looks = new Map<string, Promise<Found>>()
  let forgets = 0

  const loadOnce = (wanted: Wanted): Promise<Found> => {
    const loading = load(settings, wanted, isOrdinary).finally(() => loads.delete(wanted.path))
    loads.set(wanted.path, loading)
    return loading
  }

  const trust = ({ app }: Wanted, { isVerified }: PublicFile): number =>
    isVerified ? Infinity : performance.now() + app.revalidate * 1000

  /** In seconds. What is compiled on request is written, and looked for, within the same request. */
  const trustOfMiss = ({ app }: Wanted): number => (app.compile ? 0 : app.revalidate)

  const loadCurrent = async (wanted: Wanted, stamp: Stamp): Promise<Found> => {
    const [loadedAt, forgetsBefore] = [Date.now(), forgets]
    const joined = await loads.get(wanted.path)
    // It may have set out before the file was replaced.
    const isCurrent = joined?.forms[0] && sameStamp(joined.forms[0].stamp, stamp)
    const file = isCurrent ? joined : await loadOnce(wanted)
    if (!file) held.delete(wanted.path)
    // What was forgotten meanwhile may have been read before.
    else if (forgets === forgetsBefore) {
      const isInMemory = file.forms.every(({ body }) => body !== undefined)
      const hasRested = file.forms.every(form => isUnchangedSince(form.stamp, loadedAt))
      held.set(wanted.path, { ...file, isInMemory, hasRested, trustedUntil: trust(wanted, file) })
    }
    return file
  }

  const lookForFile = async (wanted: Wanted): Promise<Stamp | undefined> => {
    const stats = await absent.look(wanted.path, trustOfMiss(wanted))
    return stats?.isFile() ? stats : undefined
  }

  const look = async (wanted: Wanted, known: Held | undefined, stamp: Stamp | undefined) => {
    const stats = stamp ?? (await lookForFile(wanted))
    if (!stats) {
      held.delete(wanted.path)
      return undefined
    }
    if (!known?.hasRested || !(await isUnchanged(settings, wanted, known, stats))) {
      return loadCurrent(wanted, stats)
    }
    known.trustedUntil = trust(wanted, known)
    return known
  }

  /** Where a stat result may be reused, concurrent requests share one stat. */
  const lookTogether = (wanted: Wanted, known: Held | undefined): Promise<Found> => {
    const { path } = wanted
    const looking =
      looks.get(path) ?? look(wanted, known, undefined).finally(() => looks.delete(path))
    looks.set(path, looking)
    return looking
  }

  return {
    isAbsent: rawPath => absent.lacksFirstFolderOf(rawPath),
    isMissing: rawPath => absent.lacks(rawPath) && hasOneSpelling(rawPath),
    recall(rawPath) {
      const known = held.get(rawPath)
      if (!known || known.trustedUntil <= performance.now()) return undefined
      return known.isInMemory && hasOneSpelling(rawPath) ? known : undefined
    },
    find(wanted, stamp) {
      const known = held.get(wanted.path)
      if (known && !stamp && known.trustedUntil > performance.now()) return known
      if (stamp || trustOfMiss(wanted) === 0) return look(wanted, known, stamp)
      return absent.lacks(wanted.path) ? undefined : lookTogether(wanted, known)
    },
    forget({ path }) {
      forgets++
      held.delete(path)
      looks.delete(path)
    },
    withOpened: (wanted, use) => loadOpened(settings, wanted, isOrdinary, use),
    async has({ path }) {
      const file = join(settings.publicDir, path)
      const stats = await statOf(file)
      return stats !== undefined && stats.isFile() && isPathInPublic(settings, file)
    }
  }
}
