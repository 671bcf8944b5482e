// From a build to the disk: fingerprinted files, their compressed copies, the plain names.
import { readFile, unlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { AssetError } from '../errors.ts'
import { publishedPath, type Built } from './finish-build.ts'
import { compress, expand, isCompressible, WRITABLE_CODINGS, type Coding } from './compress.ts'
import { missing, statOf } from './disk.ts'
import { digestOf, digestOfFile } from './fingerprint.ts'
import { write } from './publish.ts'
import type { LastBuild } from './last-build.ts'
import type { Settings } from './settings.ts'
import { isStamped, stamp, writeWhole, type Content } from './write-whole.ts'

/** Bytes that may lie in memory while they are written. */
const SMALL = 1024 * 1024

/** What nobody touched since it was written is not even read. */
export async function writeUnlessWritten(
  settings: Settings,
  built: Built,
  isAsset: (path: string) => boolean,
  last: LastBuild
): Promise<Written> {
  const known = await last.written(built)
  if (known) return known
  const written = await writeBuilt(settings, built, isAsset)
  const files = [built.path, publishedPath(built)].flatMap(path =>
    ['', ...WRITABLE_CODINGS.map(({ extension }) => extension)].map(extension =>
      join(settings.publicDir, path + extension)
    )
  )
  await last.keepWritten(built, written, files)
  return written
}

export interface Written {
  /** Bytes of the smallest representation. */
  readonly smallest: number
  /** False: it was there already. */
  readonly isNew: boolean
}

/**
 * Writes one asset. What is there under its fingerprint is looked at, not trusted: a file that somebody
 * damaged is written again, and only what holds the right bytes is neither written nor compressed again.
 *
 * @param isAsset whether a path belongs to an asset: `data.json.gz` may be one beside `data.json`
 */
export async function writeBuilt(
  settings: Settings,
  asBuilt: Built,
  isAsset: (path: string) => boolean
): Promise<Written> {
  const built = await inMemory(settings, asBuilt)
  const plain = join(settings.publicDir, built.path)
  const printed = join(settings.publicDir, publishedPath(built))
  const isThere = await holdsDigest(printed, built)
  if (!isThere && built.app.fingerprint) await writeVerified(settings, printed, built)
  else if (isThere) await stampIfOther(printed, built.mtimeNs)
  const codings = WRITABLE_CODINGS.filter(({ extension }) => !isAsset(built.path + extension))
  // A compressed copy of former bytes would be sent for the new ones.
  await write(plain, contentOf(built, printed), built.mtimeNs, () =>
    isCompressible(built.path, Infinity)
      ? Promise.all(codings.map(({ extension }) => missing(unlink(plain + extension))))
      : Promise.resolve()
  )
  const sizes = await Promise.all(codings.map(coding => writeCoded(built, plain, printed, coding)))
  return { smallest: Math.min(built.size, ...sizes), isNew: !isThere }
}

/** What is small is read once, and checked once, for all that is written of it. */
async function inMemory(settings: Settings, built: Built): Promise<Built> {
  const { content, size, digest } = built
  if (!('copyOf' in content) || size > SMALL) return built
  const bytes = await readFile(content.copyOf)
  if (digestOf(bytes) !== digest) throw edited(settings, built)
  return { ...built, content: bytes }
}

async function holdsDigest(printed: string, { size, digest }: Built): Promise<boolean> {
  const stats = await statOf(printed)
  if (!stats?.isFile() || Number(stats.size) !== size) return false
  return (size > SMALL ? await digestOfFile(printed) : digestOf(await readFile(printed))) === digest
}

async function stampIfOther(file: string, mtimeNs: bigint): Promise<void> {
  const stats = await statOf(file)
  if (stats && !isStamped(stats, mtimeNs)) await stamp(file, mtimeNs)
}

/** What was copied once is copied from there: its source may have been edited meanwhile. */
export function contentOf({ content, app }: Built, printed: string): Content {
  return 'copyOf' in content && app.fingerprint ? { copyOf: printed } : content
}

/** A source that is edited between being read and being copied must not get the digest of before. */
export async function writeVerified(
  settings: Settings,
  printed: string,
  built: Built
): Promise<void> {
  const { content, digest, mtimeNs } = built
  await writeWhole(printed, content, mtimeNs, async temporary => {
    if ('copyOf' in content && (await digestOfFile(temporary)) !== digest) {
      throw edited(settings, built)
    }
  })
}

function edited({ root }: Settings, { source }: Built): AssetError {
  const file = relative(root, source.file)
  return new AssetError('publish-failed', `${file} was edited while it was published: run again`)
}

/** The size of the compressed copy; Infinity without one. */
async function writeCoded(
  built: Built,
  plain: string,
  printed: string,
  coding: Coding
): Promise<number> {
  if (!isCompressible(built.path, built.size)) return Infinity
  const [coded, plainCoded] = [printed + coding.extension, plain + coding.extension]
  if (await isCodedOf(built, coded, coding)) {
    // One that is older than its file is taken for a copy of something else.
    await stampIfOther(coded, built.mtimeNs)
  } else {
    const bytes = await compress(await bytesOf(contentOf(built, printed)), coding)
    if (!bytes) return Infinity
    await writeWhole(coded, bytes, built.mtimeNs)
  }
  await write(plainCoded, { copyOf: coded }, built.mtimeNs)
  return Number((await statOf(coded))?.size ?? Infinity)
}

/** Expanding is a hundred times as fast as compressing. */
async function isCodedOf({ digest }: Built, coded: string, coding: Coding): Promise<boolean> {
  const bytes = await missing(readFile(coded))
  const expanded = bytes && (await expand(bytes, coding))
  return expanded !== undefined && digestOf(expanded) === digest
}

async function bytesOf(content: Content): Promise<Uint8Array> {
  return 'copyOf' in content ? readFile(content.copyOf) : content
}
