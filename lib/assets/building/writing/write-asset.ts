// Writes the files of one asset: the fingerprinted ones at once, plain names when they are committed.
import { createReadStream } from 'node:fs'
import { relative } from 'node:path'
import { AssetError } from '../../../errors.ts'
import { CODINGS, WRITABLE_CODINGS, type Coding } from '../../../files/codings.ts'
import { compareCopy, compress, isCompressible } from '../../../files/compress.ts'
import { isInPlace, requireInPlace } from '../../../files/containment.ts'
import { readContent, type Content } from '../../../files/content.ts'
import { digestOf, digestOfFile } from '../../../files/digest.ts'
import { ifThere, statOf } from '../../../files/disk.ts'
import {
  prepareRemoval,
  prepareReplacement,
  type Replacement
} from '../../../files/writing/replacement.ts'
import { publicFile } from '../../settings/public-directory.ts'
import type { Settings } from '../../settings/settings.ts'
import { publishedPath, type Assets, type Built } from '../built.ts'

/** Content up to this size is held in memory while it is written. */
const MAX_BYTES_IN_MEMORY = 1024 * 1024

/** A compressed copy that is to be beside a file; without content there is to be none. */
interface Copy {
  readonly extension: Coding['extension']
  readonly content: Content | undefined
  /** In bytes. */
  readonly size: number
}

/**
 * Writes the fingerprinted files of an asset and prepares its plain ones. Existing files are compared by
 * their bytes: damaged ones are written again, and intact ones are neither written nor compressed again.
 *
 * @param replacements receives those of plain files, in the order in which to commit them
 * @param assets all of them, to make compressed copies as well: `data.json.gz` may be one next to `data.json`
 * @returns the size of the smallest representation, in bytes
 */
export async function writeAsset(
  settings: Settings,
  original: Built,
  replacements: Replacement[],
  assets?: Assets
): Promise<number> {
  const built = await inMemory(settings, original)
  const { content, app, path, size } = built
  const file = publicFile(settings, publishedPath(built))
  const copies = assets ? await makeCopies(file, built, assets) : []
  const smallest = Math.min(size, ...copies.map(copy => copy.size))
  if (!app.fingerprint) {
    await prepare(settings, built, { file, content, copies }, replacements)
    return smallest
  }
  const now: Replacement[] = []
  try {
    await prepare(settings, built, { file, content, copies }, now)
    for (const replacement of now) await replacement.commit()
  } catch (error) {
    for (const replacement of now) await replacement.discard()
    throw error
  }
  // From the fingerprinted files: the source may have been edited meanwhile.
  const isAllowed = isInPlace(settings.place)
  const written = (from: Content, extension = '') =>
    'copyOf' in from ? { copyOf: file + extension, isAllowed } : from
  const plain = {
    file: publicFile(settings, path),
    content: written(content),
    copies: copies.map(copy => ({
      ...copy,
      content: copy.content && written(copy.content, copy.extension)
    }))
  }
  await prepare(settings, built, plain, replacements)
  return smallest
}

/** A file, its content, and that of its compressed copies. */
interface Files {
  readonly file: string
  readonly content: Content
  readonly copies: readonly Copy[]
}

async function prepare(
  settings: Settings,
  built: Built,
  { file, content, copies }: Files,
  replacements: Replacement[]
): Promise<void> {
  const checkLocation = requireInPlace(settings.place)
  const checks = { checkLocation, checkContent: unlessEdited(settings, built) }
  const identity = await prepareReplacement(file, content, built.mtimeNs, checks)
  replacements.push(identity)
  for (const { extension, content: compressed } of copies) {
    const path = file + extension
    const { mtimeNs } = identity
    const copy =
      compressed && (await prepareReplacement(path, compressed, mtimeNs, { checkLocation }))
    if (copy) replacements.push(copy)
    // Otherwise a copy of the previous bytes could be sent for the new ones.
    const isStale = !copy || (identity.isNew && copy.isNew)
    const removal = isStale ? await prepareRemoval(path) : undefined
    if (removal) replacements.unshift(removal)
  }
}

/** A source that is edited after it was read must not be published under its previous digest. */
function unlessEdited(settings: Settings, built: Built) {
  return async (temporary: string): Promise<void> => {
    if (!('copyOf' in built.content)) return
    if ((await digestOfFile(temporary)) !== built.digest) throw new SourceEdited(settings, built)
  }
}

/** Types that are not compressible have no copies, and files with such names next to them are left alone. */
async function makeCopies(file: string, built: Built, assets: Assets): Promise<readonly Copy[]> {
  const { path } = built
  if (!isCompressible(path, Infinity)) return []
  const codings = CODINGS.filter(({ extension }) => !assets.has(path + extension))
  return Promise.all(
    codings.map(async coding => {
      const { extension } = coding
      const content = await copyOf(built, file + extension, coding)
      const size = content && 'copyOf' in content ? await sizeOf(content.copyOf) : content?.length
      return { extension, content, size: size ?? Infinity }
    })
  )
}

/** An existing copy if it is intact: decompressing is a hundred times as fast as compressing. */
async function copyOf(built: Built, copy: string, coding: Coding): Promise<Content | undefined> {
  if (!WRITABLE_CODINGS.includes(coding) || !isCompressible(built.path, built.size))
    return undefined
  const comparison = await ifThere(compareCopy(built, () => createReadStream(copy), coding))
  if (comparison === 'equal') return { copyOf: copy }
  return compress(await readContent(built.content), coding)
}

async function sizeOf(file: string): Promise<number | undefined> {
  const stats = await statOf(file)
  return stats?.isFile() ? Number(stats.size) : undefined
}

/** Reads and verifies a small file once for everything that is written from it. */
async function inMemory(settings: Settings, built: Built): Promise<Built> {
  const { content, size, digest } = built
  if (!('copyOf' in content) || size > MAX_BYTES_IN_MEMORY) return built
  const bytes = await readContent(content)
  if (digestOf(bytes) !== digest) throw new SourceEdited(settings, built)
  return { ...built, content: bytes }
}

/** A source that was edited after its digest was taken. */
export class SourceEdited extends AssetError {
  constructor({ root }: Settings, { source }: Built) {
    const file = relative(root, source.file)
    super('publish-failed', `${file} was edited while it was published: run again`)
  }
}
