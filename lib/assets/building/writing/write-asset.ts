// Writes the files of one asset: the fingerprinted ones at once, plain names when they are committed.
import { lstat } from 'node:fs/promises'
import { relative } from 'node:path'
import { AssetError } from '../../../errors.ts'
import { CODINGS, copyFor } from '../../../files/codings.ts'
import { isInPlace, requireInPlace } from '../../../files/containment.ts'
import { readContent, type Content } from '../../../files/open-file.ts'
import { digestOf, digestOfFile } from '../../../files/digest.ts'
import { ifThere, removeFile } from '../../../files/disk.ts'
import { prepareReplacement, type Replacement } from '../../../files/writing/atomic-write.ts'
import { isCompressibleType } from '../../../http/fields.ts'
import { publicFile } from '../../settings/public-directory.ts'
import type { Settings } from '../../settings/settings.ts'
import { publishedPath, type Assets, type Built } from '../places.ts'

/** Content up to this size is held in memory while it is written. */
const MAX_BYTES_IN_MEMORY = 1024 * 1024

/** By extension, the file itself first, and its copies; undefined: none, and what is there is removed. */
type Contents = ReadonlyMap<string, Content | undefined>

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
  const file = publicFile(settings, publishedPath(built))
  const { contents, smallest } = await withCopies(file, built, assets)
  if (!built.app.fingerprint) {
    await prepare(settings, built, file, contents, replacements)
    return smallest
  }
  const now: Replacement[] = []
  try {
    await prepare(settings, built, file, contents, now)
    for (const replacement of now) await replacement.commit()
  } catch (error) {
    for (const replacement of now) await replacement.discard()
    throw error
  }
  // Taken from the fingerprinted files: the source may have been edited meanwhile.
  const isAllowed = isInPlace(settings.place)
  const written = Array.from(contents, ([extension, from]): [string, Content | undefined] => {
    return [extension, from && 'copyOf' in from ? { copyOf: file + extension, isAllowed } : from]
  })
  await prepare(settings, built, publicFile(settings, built.path), new Map(written), replacements)
  return smallest
}

async function prepare(
  settings: Settings,
  built: Built,
  file: string,
  contents: Contents,
  replacements: Replacement[]
): Promise<void> {
  const checkLocation = requireInPlace(settings.place)
  const checkContent = unlessEdited(settings, built)
  let [isNew, { mtimeNs }] = [false, built]
  for (const [extension, content] of contents) {
    const [path, isCopy] = [file + extension, extension !== '']
    const checks = { checkLocation, ...(!isCopy && { checkContent }) }
    const made = content && (await prepareReplacement(path, content, mtimeNs, checks))
    if (made) replacements.push(made)
    if (made && !isCopy) ({ isNew, mtimeNs } = made)
    // Otherwise a copy of the previous bytes could be sent for the new ones.
    const isStale = isCopy && (!made || (isNew && made.isNew))
    if (isStale && (await ifThere(lstat(path)))) replacements.unshift(removalOf(path))
  }
}

function removalOf(path: string): Replacement {
  const commit = () => removeFile(path).then(() => undefined)
  return { isNew: false, commit, discard: async () => undefined }
}

/** A source that is edited after it was read must not be published under its previous digest. */
function unlessEdited(settings: Settings, built: Built) {
  return async (temporary: string): Promise<void> => {
    if (!('copyOf' in built.content)) return
    if ((await digestOfFile(temporary)) !== built.digest) throw new SourceEdited(settings, built)
  }
}

/** Types that are not compressible have no copies, and files with such names next to them are left alone. */
async function withCopies(file: string, built: Built, assets: Assets | undefined) {
  const contents = new Map<string, Content | undefined>([['', built.content]])
  let smallest = built.size
  if (!assets || !isCompressibleType(file)) return { contents, smallest }
  const codings = CODINGS.filter(({ extension }) => !assets.has(built.path + extension))
  const read = () => readContent(built.content)
  const made = await Promise.all(codings.map(coding => copyFor(file, built, coding, read)))
  for (const [at, { extension }] of codings.entries()) {
    contents.set(extension, made[at]?.content)
    smallest = Math.min(smallest, made[at]?.size ?? Infinity)
  }
  return { contents, smallest }
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
