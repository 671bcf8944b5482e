// Writes the files of one asset: the fingerprinted ones at once, plain names when they are committed.
import { AssetError } from '../../runtime/errors.ts'
import { CODINGS, copyFor } from '../../runtime/files/codings.ts'
import { isInPlace, removeInPlace, type Boundary } from '../../runtime/files/containment.ts'
import { digestOf, digestOfStream } from '../../runtime/files/digest.ts'
import { lstatOf } from '../../runtime/files/disk.ts'
import {
  readContent,
  streamOf,
  type Content,
  type OpenFile
} from '../../runtime/files/open-file.ts'
import { prepareReplacement, type Replacement, type WriteChecks } from '../writing/write.ts'
import { isCompressibleType } from '../../runtime/http/fields.ts'
import { hiddenMapFile, publicFile } from '../../runtime/settings/public-directory.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { MAP } from './links.ts'
import { publishedPath, type Assets, type Built } from './assets.ts'
import { pathFrom } from '../../runtime/files/paths.ts'

const MAX_BYTES_IN_MEMORY = 1024 * 1024

export type WrittenAsset = Awaited<ReturnType<typeof writeAsset>>

/** The file itself, then its copies, by extension. A copy without content is removed if it exists. */
type Contents = readonly (readonly [extension: string, content: Content | undefined])[]

/**
 * Writes the fingerprinted files of an asset and prepares its plain ones. Existing files are compared by their
 * bytes: damaged ones are written again, and intact ones are neither written nor compressed again.
 * @param assets all assets, given to write compressed copies too: `data.json.gz` may be an asset beside `data.json`
 * @returns the size of its smallest representation, and the replacements of plain files in the order to commit them;
 * `isNew` if a file is new or gets other bytes
 */
export async function writeAsset(
  settings: Settings,
  original: Built,
  assets?: Assets,
  writing: Pick<WriteChecks, 'unsaved'> = {}
) {
  const built = await inMemory(settings, original)
  const file = publicFile(settings, publishedPath(built))
  const copies = assets ? await copiesOf(file, built, assets) : []
  const smallest = Math.min(built.asset.size, ...copies.map(([, copy]) => copy?.size ?? Infinity))
  const copied = copies.map(([extension, copy]) => [extension, copy?.content] as const)
  const contents: Contents = [['', built.content], ...copied]
  const { place } = settings
  const checks = { ...writing, place, checkContent: unlessEdited(settings, built) }
  const replacements = await prepareFiles(file, contents, checks)
  if (built.hiddenMap) {
    const mapFile = hiddenMapFile(settings, publishedPath(built))
    try {
      replacements.push(await prepareReplacement(mapFile, built.hiddenMap, writing))
    } catch (error) {
      await discardAll(replacements)
      throw error
    }
  }
  const isNew = replacements.some(each => each.isNew)
  if (!built.app.fingerprint) return { smallest, isNew, replacements }
  await commitAll(replacements)
  // The contents come from the fingerprinted files: the source may have been edited meanwhile.
  const isAllowed = isInPlace(place)
  const written = contents.map(([extension, from]) => {
    const isCopied = from && 'copyOf' in from
    return [extension, isCopied ? { copyOf: file + extension, isAllowed } : from] as const
  })
  const plain = await prepareFiles(publicFile(settings, built.path), written, checks)
  return { smallest, isNew: isNew || plain.some(each => each.isNew), replacements: plain }
}

/** @param checks `checkContent` is only for the file itself, not for its copies */
async function prepareFiles(
  file: string,
  contents: Contents,
  { checkContent, ...checks }: WriteChecks & { readonly place: Boundary }
): Promise<Replacement[]> {
  const replacements: Replacement[] = []
  try {
    let isNew = false
    for (const [extension, content] of contents) {
      const [path, isCopy] = [file + extension, extension !== '']
      const all = isCopy ? checks : { ...checks, checkContent }
      const made = content && (await prepareReplacement(path, content, all))
      if (made) replacements.push(made)
      if (made && !isCopy) ({ isNew } = made)
      // If a stale copy stayed, its bytes could be sent for the new file.
      const isStale = isCopy && (!made || (isNew && made.isNew))
      if (!isStale || !(await lstatOf(path))) continue
      const commit = () => removeInPlace(checks.place, path)
      replacements.unshift({ isNew: false, commit, discard: async () => undefined })
    }
    return replacements
  } catch (error) {
    await discardAll(replacements)
    throw error
  }
}

export async function commitAll(replacements: readonly Replacement[]): Promise<void> {
  try {
    for (const replacement of replacements) await replacement.commit()
  } catch (error) {
    await discardAll(replacements)
    throw error
  }
}

export async function discardAll(replacements: readonly Replacement[]): Promise<void> {
  for (const replacement of replacements) await replacement.discard()
}

/** Checks the bytes: a source that was edited after it was read must not be published under its previous digest. */
function unlessEdited(settings: Settings, built: Built) {
  if (!('copyOf' in built.content)) return undefined
  return async (temporary: OpenFile): Promise<void> => {
    if ((await digestOfStream(streamOf(temporary))) !== built.digest)
      throw new SourceEdited(settings, built)
  }
}

/**
 * Returns the copies, except those whose name is an asset's; none for a type that does not compress. Source maps have
 * none: they take most of the time, and only developer tools request them.
 */
async function copiesOf(file: string, built: Built, assets: Assets) {
  if (!isCompressibleType(file)) return []
  const codings = CODINGS.filter(({ extension }) => !assets.has(built.path + extension))
  const original = { digest: built.digest, size: built.asset.size }
  const read = () => readContent(built.content)
  const copies = codings.map(async coding => {
    const copy = file.endsWith(MAP) ? undefined : await copyFor(file, original, coding, read)
    return [coding.extension, copy] as const
  })
  return Promise.all(copies)
}

/** Reads and verifies a small file once for all files that are written from it. */
async function inMemory(settings: Settings, built: Built): Promise<Built> {
  const { content, asset, digest } = built
  if (!('copyOf' in content) || asset.size > MAX_BYTES_IN_MEMORY) return built
  const bytes = await readContent(content)
  if (digestOf(bytes) !== digest) throw new SourceEdited(settings, built)
  return { ...built, content: bytes }
}

export class SourceEdited extends AssetError {
  constructor({ root }: Settings, { source }: Built) {
    const file = pathFrom(root, source.file)
    super('publish-failed', `${file} was edited while it was published: run again`)
  }
}
