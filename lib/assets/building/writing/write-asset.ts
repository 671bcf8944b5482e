// Writes the files of one asset: the fingerprinted one at once, plain names when they are committed.
import { readFile } from 'node:fs/promises'
import { relative } from 'node:path'
import { AssetError } from '../../../errors.ts'
import { requireInPlace } from '../../../files/containment.ts'
import { readContent } from '../../../files/content.ts'
import { digestOf, digestOfFile } from '../../../files/digest.ts'
import { ifThere, statOf } from '../../../files/disk.ts'
import type { FileObservation } from '../../../files/observation.ts'
import { writeAtomically } from '../../../files/writing/atomic-write.ts'
import { ensureMtime } from '../../../files/writing/mtime.ts'
import {
  prepareRemoval,
  prepareReplacement,
  type Replacement
} from '../../../files/writing/replacement.ts'
import { publicFile } from '../../settings/public-directory.ts'
import type { Settings } from '../../settings/settings.ts'
import { publishedPath, type Assets, type Built } from '../built.ts'
import { plainContent, writeCopies, type Copy, type Written } from './compressed-copies.ts'

/** Content up to this size is held in memory while it is written. */
const MAX_BYTES_IN_MEMORY = 1024 * 1024

/**
 * Writes the fingerprinted files of an asset and prepares its plain ones. Existing files are compared by
 * their bytes: damaged ones are written again, and intact ones are neither written nor compressed again.
 *
 * @param assets all of them: `data.json.gz` may be one next to `data.json`
 * @param replacements receives those of plain files, in the order in which to commit them
 * @returns the size of the smallest representation, in bytes
 */
export async function writeAsset(
  settings: Settings,
  built: Built,
  assets: Assets,
  replacements: Replacement[]
): Promise<number> {
  const written = await writePublished(settings, built)
  const copies = await writeCopies(written, assets)
  await preparePlain(written, copies, replacements)
  return Math.min(built.size, ...copies.map(({ size }) => size))
}

/**
 * Writes both files of an asset at once, without compressed copies.
 * @returns the files, or none when another process has replaced one meanwhile
 */
export async function writeAtOnce(settings: Settings, built: Built): Promise<FileObservation[]> {
  const written = await writePublished(settings, built)
  const replacements: Replacement[] = []
  await preparePlain(written, [], replacements)
  const stamp = await replacements[0]?.commit()
  if (!stamp || !written.stamp) return []
  const path = publicFile(settings, built.path)
  return [
    { path, stamp },
    { path: written.file, stamp: written.stamp }
  ]
}

/** The file that pages ask for: the fingerprinted one, if the app has fingerprints. */
async function writePublished(settings: Settings, original: Built): Promise<Written> {
  const built = await inMemory(settings, original)
  const file = publicFile(settings, publishedPath(built))
  const isNew = !(await hasDigest(file, built))
  const written = { settings, built, file, isNew }
  if (!built.app.fingerprint) return written
  const checks = {
    checkLocation: requireInPlace(settings.place),
    checkContent: unlessEdited(settings, built)
  }
  if (!isNew) await ensureMtime(file, built.mtimeNs)
  const stamp = isNew
    ? await writeAtomically(file, built.content, built.mtimeNs, checks)
    : await statOf(file)
  return { ...written, stamp }
}

async function preparePlain(
  written: Written,
  copies: readonly Copy[],
  replacements: Replacement[]
): Promise<void> {
  const { settings, built } = written
  const plain = publicFile(settings, built.path)
  const checkLocation = requireInPlace(settings.place)
  const replacement = await prepareReplacement(plain, plainContent(written), built.mtimeNs, {
    checkLocation,
    // A fingerprinted file was verified when it was written.
    ...(!built.app.fingerprint && { checkContent: unlessEdited(settings, built) })
  })
  replacements.push(replacement)
  for (const { extension, content } of copies) {
    const path = plain + extension
    const copy =
      content && (await prepareReplacement(path, content, replacement.mtimeNs, { checkLocation }))
    if (copy) replacements.push(copy)
    // Otherwise a copy of the previous bytes could be sent for the new ones.
    const isStale = !copy || (replacement.isNew && copy.isNew)
    const removal = isStale ? await prepareRemoval(path) : undefined
    if (removal) replacements.unshift(removal)
  }
}

/** Reads and verifies a small file once for everything that is written from it. */
async function inMemory(settings: Settings, built: Built): Promise<Built> {
  const { content, size, digest } = built
  if (!('copyOf' in content) || size > MAX_BYTES_IN_MEMORY) return built
  const bytes = await readContent(content)
  if (digestOf(bytes) !== digest) throw new SourceEdited(settings, built)
  return { ...built, content: bytes }
}

/** Whether the file exists with the bytes of the asset. */
export async function hasDigest(file: string, { size, digest }: Built): Promise<boolean> {
  const stats = await statOf(file)
  if (!stats?.isFile() || Number(stats.size) !== size) return false
  const isBig = size > MAX_BYTES_IN_MEMORY
  const found = isBig ? digestOfFile(file) : readFile(file).then(digestOf)
  // Another process may have removed it.
  return (await ifThere(found)) === digest
}

/** A source that is edited after it was read must not be published under its previous digest. */
function unlessEdited(settings: Settings, built: Built) {
  return async (temporary: string): Promise<void> => {
    if (!('copyOf' in built.content)) return
    if ((await digestOfFile(temporary)) !== built.digest) throw new SourceEdited(settings, built)
  }
}

/** A source that was edited after its digest was taken. */
export class SourceEdited extends AssetError {
  constructor({ root }: Settings, { source }: Built) {
    const file = relative(root, source.file)
    super('publish-failed', `${file} was edited while it was published: run again`)
  }
}
