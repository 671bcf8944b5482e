// The compressed copies that precompile writes next to a file: verified, written or removed.
import { createReadStream } from 'node:fs'
import { CODINGS, WRITABLE_CODINGS, type Coding } from '../../../files/codings.ts'
import { compareCopy, compress, isCompressible } from '../../../files/compress.ts'
import { isInPlace, requireInPlace } from '../../../files/containment.ts'
import { readContent, type Content } from '../../../files/content.ts'
import { ifThere, removeFile, statOf, type Stamp } from '../../../files/disk.ts'
import { writeAtomically } from '../../../files/writing/atomic-write.ts'
import { ensureMtime } from '../../../files/writing/mtime.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Assets, Built } from '../built.ts'

/** An asset whose fingerprinted file, if it has one, is written. */
export interface Written {
  readonly settings: Settings
  readonly built: Built
  /** The file at its published path; absolute. */
  readonly file: string
  /** Whether that file was missing, or contained other bytes. */
  readonly isNew: boolean
  /** That of a fingerprinted file, unless another process has replaced it. */
  readonly stamp?: Stamp | undefined
}

/** Copied from the fingerprinted file, if there is one: the source may have been edited meanwhile. */
export function plainContent({ settings, built, file }: Written): Content {
  const { content, app } = built
  if (!('copyOf' in content) || !app.fingerprint) return content
  return { copyOf: file, isAllowed: isInPlace(settings.place) }
}

/** A compressed copy of the plain file. */
export interface Copy {
  readonly extension: Coding['extension']
  /** Undefined: there is no such copy. */
  readonly content: Content | undefined
  /** In bytes. */
  readonly size: number
}

/**
 * Writes the copies of a fingerprinted file, or only compresses those of a plain one. Types that are not
 * compressible have none, and files with such names next to them are left alone; so is an asset of that
 * name.
 */
export async function writeCopies(written: Written, assets: Assets): Promise<readonly Copy[]> {
  const { path } = written.built
  if (!isCompressible(path, Infinity)) return []
  const codings = CODINGS.filter(({ extension }) => !assets.has(path + extension))
  return Promise.all(
    codings.map(async coding => {
      const content = await writeCopy(written, coding)
      const size =
        content && ('copyOf' in content ? (await statOf(content.copyOf))?.size : content.length)
      return { extension: coding.extension, content, size: Number(size ?? Infinity) }
    })
  )
}

async function writeCopy(written: Written, coding: Coding): Promise<Content | undefined> {
  const { settings, built, file, isNew } = written
  const { fingerprint } = built.app
  const copy = file + coding.extension
  if (!WRITABLE_CODINGS.includes(coding)) {
    // This runtime cannot read it: it may be a copy of the previous bytes.
    if (fingerprint && isNew) await removeFile(copy)
    return undefined
  }
  const isWorthwhile = isCompressible(built.path, built.size)
  if (isWorthwhile && (await isIntact(copy, built, coding))) {
    // A copy older than its file is not served.
    if (fingerprint) await ensureMtime(copy, built.mtimeNs)
    return { copyOf: copy }
  }
  const original = isWorthwhile ? await readContent(plainContent(written)) : undefined
  const bytes = original && (await compress(original, coding))
  if (!fingerprint) return bytes
  if (!bytes) {
    await removeFile(copy)
    return undefined
  }
  await writeAtomically(copy, bytes, built.mtimeNs, {
    checkLocation: requireInPlace(settings.place)
  })
  return { copyOf: copy }
}

/** Decompressing is a hundred times as fast as compressing. */
async function isIntact(copy: string, built: Built, coding: Coding): Promise<boolean> {
  return (await ifThere(compareCopy(built, () => createReadStream(copy), coding))) === 'equal'
}
