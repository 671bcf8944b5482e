// The compressed copies that precompile puts beside a file: checked, written, or taken away.
import { createReadStream } from 'node:fs'
import { compareCopy, compress, isCompressible } from '../../../files/compress.ts'
import { ifThere, removeFile, statOf } from '../../../files/disk.ts'
import type { Built } from '../finish-build.ts'
import type { Settings } from '../../settings/settings.ts'
import { isInPublic, requireInPublic } from '../../../files/containment.ts'
import { readContent, type Content } from '../../../files/content.ts'
import { writeAtomically } from '../../../files/writing/atomic-write.ts'
import { ensureMtime } from '../../../files/writing/mtime.ts'
import { CODINGS, WRITABLE_CODINGS, type Coding } from '../../../files/codings.ts'

/** An asset under its fingerprint, or under its plain name where it has none. */
export interface Place {
  readonly settings: Settings
  readonly built: Built
  /** Absolute. */
  readonly fingerprinted: string
  /** Whether it was not there, or held other bytes. */
  readonly isNew: boolean
}

/** What was copied once is copied from there: its source may have been edited meanwhile. */
export function contentOf({ settings, built, fingerprinted }: Omit<Place, 'isNew'>): Content {
  const { content, app } = built
  if (!('copyOf' in content) || !app.fingerprint) return content
  return { copyOf: fingerprinted, isAllowed: isInPublic(settings) }
}

export interface Copy {
  readonly extension: Coding['extension']
  /** Undefined: there is no such copy. */
  readonly content: Content | undefined
  readonly size: number
}

/**
 * Writes those of a fingerprinted file, and makes the content of those of a plain one. None for what
 * does not compress, beside which a person may put what he likes.
 *
 * @param isTaken whether an asset of its own bears the name with this extension
 */
export async function writeCopies(
  place: Place,
  isTaken: (extension: string) => boolean
): Promise<readonly Copy[]> {
  if (!isCompressible(place.built.path, Infinity)) return []
  const codings = CODINGS.filter(({ extension }) => !isTaken(extension))
  return Promise.all(
    codings.map(async coding => {
      const content = await writeCopy(place, coding)
      const size = content && ('copyOf' in content ? await sizeOf(content.copyOf) : content.length)
      return { extension: coding.extension, content, size: size ?? Infinity }
    })
  )
}

async function writeCopy(place: Place, coding: Coding): Promise<Content | undefined> {
  const { settings, built, fingerprinted, isNew } = place
  const { fingerprint } = built.app
  const copy = fingerprinted + coding.extension
  if (!WRITABLE_CODINGS.includes(coding)) {
    // What this runtime cannot read may be a copy of what was there before.
    if (fingerprint && isNew) await removeFile(copy)
    return undefined
  }
  if (await holdsCopy(built, copy, coding)) {
    // One that is older than its file is taken for a copy of something else.
    if (fingerprint) await ensureMtime(copy, built.mtimeNs)
    return { copyOf: copy }
  }
  const isWorth = isCompressible(built.path, built.size)
  const bytes = isWorth ? await compress(await readContent(contentOf(place)), coding) : undefined
  if (!fingerprint) return bytes
  if (!bytes) await removeFile(copy)
  else
    await writeAtomically(copy, bytes, built.mtimeNs, { checkLocation: requireInPublic(settings) })
  return bytes && { copyOf: copy }
}

/** Expanding is a hundred times as fast as compressing. */
async function holdsCopy(built: Built, copy: string, coding: Coding): Promise<boolean> {
  if (!isCompressible(built.path, built.size)) return false
  return (await ifThere(compareCopy(built, () => createReadStream(copy), coding))) === 'equal'
}

async function sizeOf(file: string): Promise<number | undefined> {
  const stats = await statOf(file)
  return stats && Number(stats.size)
}
