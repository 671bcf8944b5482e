// What lies in public: found, judged, and prepared once, so that a request only writes it out.
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import mime from 'mime-types'
import { formatHttpDate } from '../http/dates.ts'
import { formatEtag, type Validators } from '../http/validators.ts'
import { markOf, readWhole, sameMark, statOf, type Mark } from './disk.ts'
import { digestOf } from './fingerprint.ts'
import type { Wanted } from './request-path.ts'
import type { Settings } from './settings.ts'
import { isWithinPublic } from './within-public.ts'

/** A file of `public`, ready to be sent. */
export interface PublicFile extends Validators {
  /** Absolute. */
  readonly path: string
  readonly mark: Mark
  /** In bytes. */
  readonly size: number
  readonly etag: string
  /** What every answer carries that is about the file: 200, 206 and 304 alike. Name, value, name … */
  readonly validatorHeaders: readonly string[]
  /** What only an answer with content carries, `Content-Length` excepted. */
  readonly contentHeaders: readonly string[]
  /** Undefined: too big for memory. */
  readonly body: Buffer | undefined
}

export interface PublicFiles {
  /**
   * The file that is wanted, as the disk has it now or, within `revalidate`, had it.
   * @param mark what the target was found to be just now, if somebody has looked already
   */
  find(wanted: Wanted, mark?: Mark): Promise<PublicFile | undefined>
  /** Whether there is a file that could be sent; nothing is read. */
  has(wanted: Wanted): Promise<boolean>
}

interface Held {
  readonly file: PublicFile
  checkedAt: number
}

// What an entry costs beside its body: strings, headers, the marks.
const OVERHEAD_BYTES = 2048

export function makePublicFiles(settings: Settings): PublicFiles {
  const held = new LRUCache<string, Held>({
    maxSize: Math.max(1, settings.memory.maxBytes),
    sizeCalculation: ({ file }) => OVERHEAD_BYTES + (file.body?.length ?? 0)
  })
  const loads = new Map<string, Promise<PublicFile | undefined>>()

  const load = (wanted: Wanted, path: string): Promise<PublicFile | undefined> => {
    const loading = prepare(settings, wanted, path).finally(() => loads.delete(path))
    loads.set(path, loading)
    return loading
  }

  const loadCurrent = async (wanted: Wanted, path: string, mark: Mark) => {
    const joined = await loads.get(path)
    // It may have set out before the file was replaced.
    const file = joined && sameMark(joined.mark, mark) ? joined : await load(wanted, path)
    if (file) held.set(path, { file, checkedAt: Date.now() })
    else held.delete(path)
    return file
  }

  return {
    async find(wanted, mark) {
      const path = join(settings.publicDir, wanted.path)
      const known = held.get(path)
      const { revalidate } = wanted.app ?? settings
      if (known && !mark && Date.now() - known.checkedAt < revalidate * 1000) return known.file
      const stats = mark ?? (await statOf(path))
      if (!stats) {
        held.delete(path)
        return undefined
      }
      if (!known || !sameMark(known.file.mark, stats)) return loadCurrent(wanted, path, stats)
      known.checkedAt = Date.now()
      return known.file
    },
    async has({ path }) {
      const file = join(settings.publicDir, path)
      const stats = await statOf(file)
      return stats !== undefined && stats.isFile() && isWithinPublic(settings, file)
    }
  }
}

/** Undefined: no regular file, or a link that leads out. */
async function prepare(
  settings: Settings,
  wanted: Wanted,
  path: string
): Promise<PublicFile | undefined> {
  const stats = await statOf(path)
  if (!stats?.isFile() || !(await isWithinPublic(settings, path))) return undefined
  if (stats.size > settings.memory.maxFileBytes) {
    const stamp = (stats.mtimeNs / 1_000_000n).toString(16)
    return describe(settings, wanted, path, markOf(stats), `${stats.size.toString(16)}-${stamp}`)
  }
  const read = await readWhole(path)
  return read && describe(settings, wanted, path, read.mark, digestOf(read.bytes), read.bytes)
}

function describe(
  settings: Settings,
  wanted: Wanted,
  path: string,
  mark: Mark,
  tag: string,
  body?: Buffer
): PublicFile {
  const etag = formatEtag(tag)
  const seconds = Number(mark.mtimeNs / 1_000_000_000n)
  const lastModified = seconds === 0 ? undefined : seconds * 1000
  const { compile } = wanted.app ?? settings
  const underPrefix = wanted.path.startsWith(`${settings.prefix}/`)
  return {
    path,
    mark,
    size: Number(mark.size),
    etag,
    lastModified,
    body,
    validatorHeaders: [
      ...['ETag', etag],
      ...(lastModified === undefined ? [] : ['Last-Modified', formatHttpDate(lastModified)]),
      ...['Cache-Control', compile ? 'no-cache' : 'public, max-age=0, must-revalidate'],
      ...(settings.host !== undefined && underPrefix ? ['Access-Control-Allow-Origin', '*'] : []),
      ...['X-Content-Type-Options', 'nosniff']
    ],
    contentHeaders: ['Content-Type', contentType(path), 'Accept-Ranges', 'bytes']
  }
}

/** By extension, with the charset of the web on text. */
function contentType(path: string): string {
  const type = mime.lookup(path) || 'application/octet-stream'
  const isText = type.startsWith('text/') || mime.charset(type) === 'UTF-8'
  return isText ? `${type}; charset=utf-8` : type
}
