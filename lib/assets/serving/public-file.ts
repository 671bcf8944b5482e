// One file of public with every representation that it has: opened, judged, then read or described.
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { chooseCoding } from '../../http/content-coding.ts'
import { compareCopy } from '../../files/compress.ts'
import {
  isSameInode,
  stampOf,
  sameStamp,
  statOf,
  withFile,
  type Stamp,
  type OpenFile
} from '../../files/disk.ts'
import { streamOf } from '../../files/file-stream.ts'
import { splitFingerprint } from '../urls/fingerprint.ts'
import {
  contentHeaders,
  represent,
  validatorHeaders,
  withDigest,
  type About,
  type Representation
} from './representation.ts'
import type { Wanted } from './request-path.ts'
import type { Settings } from '../settings/settings.ts'
import { isInPublic } from '../../files/containment.ts'
import { prepareResponse, type PreparedResponse } from './write-response.ts'
import { contentType } from '../../http/media-type.ts'
import { CODINGS, type Coding } from '../../files/codings.ts'

/** One form of a file, ready to be sent. */
export interface Sendable extends Omit<Representation, 'digest'> {
  /** Its Content-Length comes last, so that a part of it can say another. */
  readonly ok: PreparedResponse
  readonly notModified: PreparedResponse
  readonly failed: PreparedResponse
}

/** A file of `public`, in every form in which it exists. */
export interface PublicFile {
  readonly forms: readonly Sendable[]
  /** The compressed files that were seen beside it, whether they are sent or not. */
  readonly copies: ReadonlyMap<Coding, Stamp>
  /** Whether the name holds a fingerprint which is the digest of the bytes. */
  readonly isVerified: boolean
}

/** Whether 32 hex characters that are not the digest of the bytes belong to the name; `plain` lacks them. */
export type IsOrdinary = (wanted: Wanted, plain: string) => Promise<boolean>

/** The form that a request gets. */
export function chooseForm({ forms }: PublicFile, acceptEncoding: string | undefined): Sendable {
  const [identity] = forms
  return chooseCoding(acceptEncoding, forms) ?? (identity as Sendable)
}

/** Undefined: no regular file, a link that leads out, or other bytes than the fingerprint says. */
export function load(
  settings: Settings,
  wanted: Wanted,
  isOrdinary: IsOrdinary
): Promise<PublicFile | undefined> {
  return loadOpened(settings, wanted, isOrdinary, file => file)
}

const ATTEMPTS = 3

/**
 * The same, and what `use` makes of it while it is open. A file that is replaced before it is judged is opened
 * again: not every system tells where a file lies that has lost its name.
 */
export async function loadOpened<T>(
  settings: Settings,
  wanted: Wanted,
  isOrdinary: IsOrdinary,
  use: (file: PublicFile, opened: OpenFile) => Promise<T> | T
): Promise<T | undefined> {
  const path = join(settings.publicDir, wanted.path)
  for (let attempt = 1; ; attempt++) {
    const loaded = await withFile(path, async opened => {
      const file = await prepare(settings, wanted, isOrdinary, opened)
      if (file) return { made: await use(file, opened), isReplaced: false }
      return { made: undefined, isReplaced: !(await isNamed(path, opened)) }
    })
    if (!loaded?.isReplaced || attempt === ATTEMPTS) return loaded?.made
  }
}

async function isNamed(path: string, { stats }: OpenFile): Promise<boolean> {
  const now = await statOf(path)
  return now !== undefined && isSameInode(now, stats)
}

async function prepare(
  settings: Settings,
  wanted: Wanted,
  isOrdinary: IsOrdinary,
  opened: OpenFile
): Promise<PublicFile | undefined> {
  if (!(await isInPublic(settings)(opened))) return undefined
  const read = await represent('identity', opened, settings.memory.maxFileBytes)
  const fingerprint = wanted.app === settings.publicApp ? undefined : splitFingerprint(wanted.path)
  const copies = await copiesOf(settings, wanted, opened.path, read.stamp)
  const needsDigest = fingerprint !== undefined || copies.size > 0
  const identity = needsDigest ? await withDigest(read, opened) : read
  const isVerified = fingerprint !== undefined && fingerprint.digest === identity?.digest
  if (fingerprint && !isVerified && !(await isOrdinary(wanted, fingerprint.name))) return undefined
  const coded = await Promise.all(
    [...copies.keys()].map(coding => copy(settings, identity, coding))
  )
  const forms = [identity ?? read, ...coded.filter(form => form !== undefined)]
  const about = aboutFile(settings, wanted, forms.length > 1, isVerified)
  return { forms: forms.map(form => sendable(form, about)), copies, isVerified }
}

/** What lies beside a file, younger than it is: an older one is a copy of something else. */
async function copiesOf(
  settings: Settings,
  { app }: Wanted,
  path: string,
  { mtimeNs }: Stamp
): Promise<ReadonlyMap<Coding, Stamp>> {
  // While a file is compiled on request its compressed copies are none of its own.
  if (app.compile) return new Map()
  const looks = CODINGS.map(
    async coding => [coding, await statOf(path + coding.extension)] as const
  )
  const found = new Map<Coding, Stamp>()
  for (const [coding, stats] of await Promise.all(looks)) {
    if (stats?.isFile() && stats.size > 0n && stats.mtimeNs >= mtimeNs)
      found.set(coding, stampOf(stats))
  }
  return found
}

/** A compressed copy, if it is one: it is expanded and compared, once for each time that it is loaded. */
function copy(
  settings: Settings,
  identity: Representation | undefined,
  coding: Coding
): Promise<Representation | undefined> {
  const { digest, size } = identity ?? {}
  if (!identity || digest === undefined || size === undefined) return Promise.resolve(undefined)
  return withFile(identity.file + coding.extension, async opened => {
    if (!(await isInPublic(settings)(opened))) return undefined
    const form = await represent(coding.name, opened, settings.memory.maxFileBytes)
    const bytes = () => (form.body ? Readable.from([form.body]) : streamOf(opened))
    return (await compareCopy({ size, digest }, bytes, coding)) === 'equal' ? form : undefined
  })
}

/** Whether a look at the disk finds what was found before. */
export async function isUnchanged(
  settings: Settings,
  wanted: Wanted,
  { forms, copies }: PublicFile,
  stats: Stamp
): Promise<boolean> {
  const [identity] = forms
  if (!identity || !sameStamp(identity.stamp, stats)) return false
  const now = await copiesOf(settings, wanted, identity.file, identity.stamp)
  const isSame = ([coding, stamp]: readonly [Coding, Stamp]) => {
    const known = copies.get(coding)
    return known !== undefined && sameStamp(known, stamp)
  }
  return now.size === copies.size && [...now].every(isSame)
}

function aboutFile(settings: Settings, wanted: Wanted, varies: boolean, verified: boolean): About {
  const revalidated = wanted.app.compile ? 'no-cache' : 'public, max-age=0, must-revalidate'
  const underPrefix = wanted.path.startsWith(`${settings.prefix}/`)
  return {
    type: contentType(wanted.path),
    cacheControl: verified ? 'public, max-age=31536000, immutable' : revalidated,
    varies,
    crossOrigin: settings.host !== undefined && underPrefix
  }
}

// 412 and 416 say only this.
const FAILED = prepareResponse(412, ['Content-Length', '0'])
const FAILED_VARYING = prepareResponse(412, ['Vary', 'Accept-Encoding', 'Content-Length', '0'])

function sendable(form: Representation, about: About): Sendable {
  const { digest: _, ...kept } = form
  const validators = validatorHeaders(form, about)
  const content = contentHeaders(form, about)
  return {
    ...kept,
    ok: prepareResponse(200, [...validators, ...content, 'Content-Length', String(form.size)]),
    notModified: prepareResponse(304, validators),
    failed: about.varies ? FAILED_VARYING : FAILED
  }
}
