// What lies in public: found, judged, and prepared once, so that a request only writes it out.
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { makeAbsent } from './absent.ts'
import { chooseCoding } from '../http/content-coding.ts'
import { CODINGS } from './compress.ts'
import { sameMark, statOf, type Mark } from './disk.ts'
import { digestOfFile, splitFingerprint } from './fingerprint.ts'
import {
  contentHeaders,
  contentType,
  represent,
  validatorHeaders,
  type About,
  type Representation
} from './representation.ts'
import { isPlain, type Wanted } from './request-path.ts'
import type { Settings } from './settings.ts'
import { isWithinPublic } from './within-public.ts'
import { MAX_WHOLE_BYTES, said, type Answer } from './write-answer.ts'

/** One form of a file, ready to be sent. */
export interface Sendable extends Omit<Representation, 'digest'> {
  /** Its Content-Length comes last, so that a part of it can say another. */
  readonly ok: Answer
  readonly notModified: Answer
  readonly failed: Answer
}

/** A file of `public`, in every form in which it exists. */
export interface PublicFile {
  readonly forms: readonly Sendable[]
  /** Whether the name holds a fingerprint which is the digest of the bytes. */
  readonly isVerified: boolean
}

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
   * @param mark what the target was found to be just now, if somebody has looked already
   */
  find(wanted: Wanted, mark?: Mark): Promise<Found> | Found
  /** Has the next `find` look at the disk: the file was not what was remembered of it. */
  forget(wanted: Wanted): void
  /** Whether there is a file that could be sent; nothing is read. */
  has(wanted: Wanted): Promise<boolean>
}

/** The form that a request gets. */
export function chooseForm({ forms }: PublicFile, acceptEncoding: string | undefined): Sendable {
  const [identity] = forms
  return chooseCoding(acceptEncoding, forms) ?? (identity as Sendable)
}

interface Held extends PublicFile {
  readonly isInMemory: boolean
  /** Milliseconds; Infinity for a verified fingerprint, which is trusted until it leaves memory. */
  trustedUntil: number
}

// What a form costs beside its body, measured in resident memory: strings, headers, marks, the buffer
// itself, and what the collector lets lie before it comes round.
const OVERHEAD_BYTES = 12 * 1024

/** What a form may take of memory; a small body lies there a second time, behind its head. */
function bytesOf({ body }: Sendable): number {
  const length = body?.length ?? 0
  return OVERHEAD_BYTES + (length < MAX_WHOLE_BYTES ? 2 * length : length)
}

/** Whether 32 hex characters that are not the digest of the bytes belong to the name; `plain` lacks them. */
export type IsOrdinary = (wanted: Wanted, plain: string) => Promise<boolean>

/** @param isOrdinary by default, whether there is no file without the 32 characters */
export function makePublicFiles(
  settings: Settings,
  isOrdinary: IsOrdinary = async (_, plain) => !(await statOf(join(settings.publicDir, plain)))
): PublicFiles {
  const held = new LRUCache<string, Held>({
    maxSize: Math.max(1, settings.memory.maxBytes),
    sizeCalculation: ({ forms }) => forms.reduce((sum, form) => sum + bytesOf(form), 0)
  })
  const absent = makeAbsent(settings)
  const loads = new Map<string, Promise<Found>>()
  const looks = new Map<string, Promise<Found>>()

  const load = (wanted: Wanted): Promise<Found> => {
    const loading = prepare(settings, wanted, isOrdinary).finally(() => loads.delete(wanted.path))
    loads.set(wanted.path, loading)
    return loading
  }

  const trust = ({ app }: Wanted, { isVerified }: PublicFile): number =>
    isVerified ? Infinity : Date.now() + (app ?? settings).revalidate * 1000

  /** In seconds. What is compiled on request is written, and looked for, within the same request. */
  const trustOfMiss = ({ app }: Wanted): number => (app?.compile ? 0 : (app ?? settings).revalidate)

  const loadCurrent = async (wanted: Wanted, mark: Mark): Promise<Found> => {
    const joined = await loads.get(wanted.path)
    // It may have set out before the file was replaced.
    const isCurrent = joined?.forms[0] && sameMark(joined.forms[0].mark, mark)
    const file = isCurrent ? joined : await load(wanted)
    if (file) {
      const isInMemory = file.forms.every(({ body }) => body !== undefined)
      held.set(wanted.path, { ...file, isInMemory, trustedUntil: trust(wanted, file) })
    } else held.delete(wanted.path)
    return file
  }

  const look = async (wanted: Wanted, known: Held | undefined, mark: Mark | undefined) => {
    const stats = mark ?? (await absent.look(wanted.path, trustOfMiss(wanted)))
    if (!stats) {
      held.delete(wanted.path)
      return undefined
    }
    if (!known || !(await isUnchanged(settings, wanted, known, stats))) {
      return loadCurrent(wanted, stats)
    }
    known.trustedUntil = trust(wanted, known)
    return known
  }

  /** Who trusts what was seen a while ago can share a look that has begun already. */
  const lookTogether = (wanted: Wanted, known: Held | undefined): Promise<Found> => {
    const { path } = wanted
    const looking =
      looks.get(path) ?? look(wanted, known, undefined).finally(() => looks.delete(path))
    looks.set(path, looking)
    return looking
  }

  return {
    isAbsent: rawPath => absent.lacksFirstFolderOf(rawPath),
    isMissing: rawPath => absent.lacks(rawPath) && isPlain(rawPath),
    recall(rawPath) {
      const known = held.get(rawPath)
      if (!known || known.trustedUntil <= Date.now()) return undefined
      return known.isInMemory && isPlain(rawPath) ? known : undefined
    },
    find(wanted, mark) {
      const known = held.get(wanted.path)
      if (known && !mark && known.trustedUntil > Date.now()) return known
      if (mark || trustOfMiss(wanted) === 0) return look(wanted, known, mark)
      return absent.lacks(wanted.path) ? undefined : lookTogether(wanted, known)
    },
    forget({ path }) {
      held.delete(path)
      looks.delete(path)
    },
    async has({ path }) {
      const file = join(settings.publicDir, path)
      const stats = await statOf(file)
      return stats !== undefined && stats.isFile() && isWithinPublic(settings, file)
    }
  }
}

/** While a file is compiled on request its compressed copies are none of its own. */
function codingsFor({ app }: Wanted, settings: Settings) {
  return (app ?? settings).compile ? [] : CODINGS
}

/** Undefined: no regular file, a link that leads out, or other bytes than the fingerprint says. */
async function prepare(settings: Settings, wanted: Wanted, isOrdinary: IsOrdinary): Promise<Found> {
  const path = join(settings.publicDir, wanted.path)
  const stats = await statOf(path)
  if (!stats?.isFile() || !(await isWithinPublic(settings, path))) return undefined
  const { maxFileBytes } = settings.memory
  const identity = await represent('identity', path, stats, maxFileBytes)
  if (!identity) return undefined
  const print = wanted.app && splitFingerprint(wanted.path)
  const isVerified =
    print !== undefined && print.digest === (identity.digest ?? (await digestOfFile(path)))
  if (print && !isVerified && !(await isOrdinary(wanted, print.name))) return undefined
  const coded = await Promise.all(
    codingsFor(wanted, settings).map(async ({ name, extension }) => {
      const file = path + extension
      const mark = await codedMark(settings, file, identity.mark)
      return mark && represent(name, file, mark, maxFileBytes)
    })
  )
  const forms = [identity, ...coded.filter(form => form !== undefined)]
  const about = describe(settings, wanted, forms.length > 1, isVerified)
  return { forms: forms.map(form => sendable(form, about)), isVerified }
}

/** A compressed copy that is older than its file is a copy of something else. */
async function codedMark(
  settings: Settings,
  file: string,
  identity: Mark
): Promise<Mark | undefined> {
  const stats = await statOf(file)
  if (!stats?.isFile() || stats.mtimeNs < identity.mtimeNs) return undefined
  return (await isWithinPublic(settings, file)) ? stats : undefined
}

async function isUnchanged(
  settings: Settings,
  wanted: Wanted,
  { forms }: PublicFile,
  stats: Mark
): Promise<boolean> {
  const [identity] = forms
  if (!identity || !sameMark(identity.mark, stats)) return false
  const checks = codingsFor(wanted, settings).map(async ({ name, extension }) => {
    const known = forms.find(form => form.coding === name)
    const mark = await codedMark(settings, identity.file + extension, identity.mark)
    return known && mark ? sameMark(known.mark, mark) : known === mark
  })
  return (await Promise.all(checks)).every(Boolean)
}

function describe(settings: Settings, wanted: Wanted, varies: boolean, verified: boolean): About {
  const { compile } = wanted.app ?? settings
  const revalidated = compile ? 'no-cache' : 'public, max-age=0, must-revalidate'
  const underPrefix = wanted.path.startsWith(`${settings.prefix}/`)
  return {
    type: contentType(wanted.path),
    cacheControl: verified ? 'public, max-age=31536000, immutable' : revalidated,
    varies,
    crossOrigin: settings.host !== undefined && underPrefix
  }
}

// 412 and 416 say only this.
const FAILED = said(412, ['Content-Length', '0'])
const FAILED_VARYING = said(412, ['Vary', 'Accept-Encoding', 'Content-Length', '0'])

function sendable(form: Representation, about: About): Sendable {
  const { digest: _, ...kept } = form
  const validators = validatorHeaders(form, about)
  const content = contentHeaders(form, about)
  return {
    ...kept,
    ok: said(200, [...validators, ...content, 'Content-Length', String(form.size)]),
    notModified: said(304, validators),
    failed: about.varies ? FAILED_VARYING : FAILED
  }
}
