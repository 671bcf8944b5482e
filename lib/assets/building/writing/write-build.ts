// From a build to the disk: fingerprinted files at once, plain names when everything is written.
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { AssetError } from '../../../errors.ts'
import { publishedPath, type Built } from '../finish-build.ts'
import { contentOf, writeCopies } from './compressed-copies.ts'
import { statOf } from '../../../files/disk.ts'
import {
  prepareRemoval,
  prepareReplacement,
  type Replacement
} from '../../../files/writing/replacement.ts'
import type { Settings } from '../../settings/settings.ts'
import { requireInPublic } from '../../../files/containment.ts'
import { readContent } from '../../../files/content.ts'
import { writeAtomically } from '../../../files/writing/atomic-write.ts'
import { ensureMtime } from '../../../files/writing/mtime.ts'
import { digestOf, digestOfFile } from '../../../files/digest.ts'
import { CODINGS } from '../../../files/codings.ts'

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
  const checks = { checkLocation: requireInPublic(settings) }
  const plain = join(settings.publicDir, built.path)
  const fingerprinted = join(settings.publicDir, publishedPath(built))
  const isThere = await holdsDigest(fingerprinted, built)
  if (built.app.fingerprint) {
    if (!isThere) await writeVerified(settings, fingerprinted, built)
    else await ensureMtime(fingerprinted, built.mtimeNs)
  }
  const place = { settings, built, fingerprinted, isNew: !isThere }
  const copies = await writeCopies(place, extension => isAsset(built.path + extension))
  const replacement = await prepareReplacement(plain, contentOf(place), built.mtimeNs, {
    ...checks,
    // What has a fingerprint was checked there.
    ...(!built.app.fingerprint && { checkContent: unlessEdited(settings, asBuilt) })
  })
  replacements.push(replacement)
  for (const { extension, content } of copies) {
    const path = plain + extension
    const copy = content && (await prepareReplacement(path, content, replacement.mtimeNs, checks))
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
  const bytes = await readContent(content)
  if (digestOf(bytes) !== digest) throw edited(settings, built)
  return { ...built, content: bytes }
}

async function holdsDigest(fingerprinted: string, { size, digest }: Built): Promise<boolean> {
  const stats = await statOf(fingerprinted)
  if (!stats?.isFile() || Number(stats.size) !== size) return false
  return (
    (size > SMALL ? await digestOfFile(fingerprinted) : digestOf(await readFile(fingerprinted))) ===
    digest
  )
}

/** A source that is edited between being read and being copied must not get the digest of before. */
export async function writeVerified(
  settings: Settings,
  fingerprinted: string,
  built: Built
): Promise<void> {
  await writeAtomically(fingerprinted, built.content, built.mtimeNs, {
    checkLocation: requireInPublic(settings),
    checkContent: unlessEdited(settings, built)
  })
}

function unlessEdited(settings: Settings, built: Built) {
  return async (temporary: string): Promise<void> => {
    if (!('copyOf' in built.content)) return
    if ((await digestOfFile(temporary)) !== built.digest) throw edited(settings, built)
  }
}

function edited({ root }: Settings, { source }: Built): AssetError {
  const file = relative(root, source.file)
  return new AssetError('publish-failed', `${file} was edited while it was published: run again`)
}
