// From a build to the disk: fingerprinted files, their compressed copies, the plain names.
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { AssetError } from '../errors.ts'
import { publishedPath, type Built } from './finish-build.ts'
import {
  CODINGS,
  compress,
  expand,
  isCompressible,
  WRITABLE_CODINGS,
  type Coding
} from './compress.ts'
import { missing, statOf } from './disk.ts'
import { digestOf, digestOfFile } from './fingerprint.ts'
import { prepareRemoval, prepareReplacement, type Replacement } from './replacement.ts'
import type { Settings } from './settings.ts'
import { liesInPublic, mustLieInPublic } from './within-public.ts'
import { bytesOf, isStamped, remove, stamp, writeWhole, type Content } from './write-whole.ts'

/** Bytes that may lie in memory while they are written. */
const SMALL = 1024 * 1024

export interface Written {
  /** Bytes of the smallest representation. */
  readonly smallest: number
  /** False: it was there already. */
  readonly isNew: boolean
}

/** Whether a path belongs to an asset: `data.json.gz` may be one beside `data.json`. */
export type IsAsset = (path: string) => boolean

/**
 * Writes what one asset has under its fingerprint, and prepares what it has under its plain name. What
 * is there is looked at, not trusted: a file that somebody damaged is written again, and only what holds
 * the right bytes is neither written nor compressed again.
 *
 * @param replacements gets what is left to be done, in its order
 */
export async function writeBuilt(
  settings: Settings,
  asBuilt: Built,
  isAsset: IsAsset,
  replacements: Replacement[]
): Promise<Written> {
  const built = await inMemory(settings, asBuilt)
  const judge = mustLieInPublic(settings)
  const plain = join(settings.publicDir, built.path)
  const printed = join(settings.publicDir, publishedPath(built))
  const isThere = await holdsDigest(printed, built)
  if (built.app.fingerprint) {
    if (!isThere) await writeVerified(settings, printed, built)
    else await stampIfOther(printed, built.mtimeNs)
  }
  const copies = await codeAll(settings, built, printed, isAsset, isThere)
  const replacement = await prepareReplacement(
    plain,
    contentOf(settings, built, printed),
    built.mtimeNs,
    judge
  )
  replacements.push(replacement)
  for (const { extension, content } of copies) {
    const path = plain + extension
    const copy = content && (await prepareReplacement(path, content, replacement.mtimeNs, judge))
    if (copy) replacements.push(copy)
    // One of former bytes would be sent for the new ones.
    const removal =
      copy && !(replacement.isNew && copy.isNew) ? undefined : await prepareRemoval(path)
    if (removal) replacements.unshift(removal)
  }
  return { smallest: Math.min(built.size, ...copies.map(({ size }) => size)), isNew: !isThere }
}

/** Every file that an asset may have. */
export function filesOf({ publicDir }: Settings, built: Built): string[] {
  const extensions = ['', ...CODINGS.map(({ extension }) => extension)]
  return [built.path, publishedPath(built)].flatMap(path =>
    extensions.map(extension => join(publicDir, path + extension))
  )
}

/** What is small is read once, and checked once, for all that is written of it. */
async function inMemory(settings: Settings, built: Built): Promise<Built> {
  const { content, size, digest } = built
  if (!('copyOf' in content) || size > SMALL) return built
  const bytes = await bytesOf(content)
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
export function contentOf(settings: Settings, { content, app }: Built, printed: string): Content {
  if (!('copyOf' in content) || !app.fingerprint) return content
  return { copyOf: printed, isAllowed: liesInPublic(settings) }
}

/** A source that is edited between being read and being copied must not get the digest of before. */
export async function writeVerified(
  settings: Settings,
  printed: string,
  built: Built
): Promise<void> {
  const { content, digest, mtimeNs } = built
  await writeWhole(printed, content, mtimeNs, {
    judge: mustLieInPublic(settings),
    async check(temporary) {
      if ('copyOf' in content && (await digestOfFile(temporary)) !== digest) {
        throw edited(settings, built)
      }
    }
  })
}

function edited({ root }: Settings, { source }: Built): AssetError {
  const file = relative(root, source.file)
  return new AssetError('publish-failed', `${file} was edited while it was published: run again`)
}

interface Coded {
  readonly extension: Coding['extension']
  /** Undefined: there is no such copy. */
  readonly content: Content | undefined
  readonly size: number
}

/** The compressed copies; nothing for what does not compress, beside which a person may put what he likes. */
async function codeAll(
  settings: Settings,
  built: Built,
  printed: string,
  isAsset: IsAsset,
  isThere: boolean
): Promise<readonly Coded[]> {
  if (!isCompressible(built.path, Infinity)) return []
  const codings = CODINGS.filter(({ extension }) => !isAsset(built.path + extension))
  return Promise.all(
    codings.map(async coding => {
      const content = await code(settings, built, printed, coding, isThere)
      const size = content && ('copyOf' in content ? await sizeOf(content.copyOf) : content.length)
      return { extension: coding.extension, content, size: size ?? Infinity }
    })
  )
}

async function code(
  settings: Settings,
  built: Built,
  printed: string,
  coding: Coding,
  isThere: boolean
): Promise<Content | undefined> {
  const { fingerprint } = built.app
  const coded = printed + coding.extension
  if (!WRITABLE_CODINGS.includes(coding)) {
    // What this runtime cannot read may be a copy of what was there before.
    if (fingerprint && !isThere) await remove(coded)
    return undefined
  }
  const isRight = isCompressible(built.path, built.size) && (await isCodedOf(built, coded, coding))
  if (isRight && fingerprint) {
    // One that is older than its file is taken for a copy of something else.
    await stampIfOther(coded, built.mtimeNs)
  }
  if (isRight) return { copyOf: coded }
  const bytes = await compressed(settings, built, printed, coding)
  if (!fingerprint) return bytes
  if (!bytes) await remove(coded)
  else await writeWhole(coded, bytes, built.mtimeNs, { judge: mustLieInPublic(settings) })
  return bytes && { copyOf: coded }
}

async function compressed(
  settings: Settings,
  built: Built,
  printed: string,
  coding: Coding
): Promise<Uint8Array | undefined> {
  if (!isCompressible(built.path, built.size)) return undefined
  return compress(await bytesOf(contentOf(settings, built, printed)), coding)
}

async function sizeOf(file: string): Promise<number | undefined> {
  const stats = await statOf(file)
  return stats && Number(stats.size)
}

/** Expanding is a hundred times as fast as compressing. */
async function isCodedOf({ digest }: Built, coded: string, coding: Coding): Promise<boolean> {
  const bytes = await missing(readFile(coded))
  const expanded = bytes && (await expand(bytes, coding))
  return expanded !== undefined && digestOf(expanded) === digest
}
