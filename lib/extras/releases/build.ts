// Reads the directory of a build: its files, its bundler's manifest, and the files that were kept in it.
import { join } from 'node:path'
import { AssetError } from '../../runtime/errors.ts'
import { removeInPlace } from '../../runtime/files/containment.ts'
import { errorCode, statOf } from '../../runtime/files/disk.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import { nowOnDisk, prepareReplacement, touch } from '../../publishing/writing/write.ts'
import { withUnsaved } from '../../publishing/writing/unsaved.ts'
import { splitDelta, versionKey } from '../deltas/delta-format.ts'
import type { BuiltDirectory } from '../deltas/directory.ts'
import { KEPT_LIST, keptListIn, readKept, writtenKept, type KeptFiles } from '../vite/kept-files.ts'
import { readBundle } from '../vite/manifests/read-bundle.ts'

const VITES = '.vite/manifest.json'
const OTHERS = ['metafile.json', 'meta.json', 'stats.json', 'assets-manifest.json', 'manifest.json']

export type BuildFiles = Awaited<ReturnType<typeof readBuild>>

/** @param other a path that the directory may have had when it was built, as esbuild's paths start with its name */
export async function readBuild({ path, files }: BuiltDirectory, name?: string, other = path) {
  const names = name === undefined ? [VITES, ...OTHERS] : [name]
  for (const manifest of names.map(each => join(path, each))) {
    const read = await readSnapshot(manifest)
    if (!read) continue
    // A directory that is not mounted has no URLs.
    const named = [path, other].map(dir =>
      readBundle(read.bytes, { manifest, dir, urlPath: '', base: '' })
    )
    const found = named.find(({ paths }) => [...paths].some(file => files.has(file)))
    if (found) return { ...found, manifest }
    const message = `${manifest} names no file that is in ${path}: it belongs to another build`
    throw new AssetError('manifest-broken', message)
  }
  const message = `there is no manifest ${names.join(', ')} in ${path}: build with one, or name it by the option manifest`
  throw new AssetError('manifest-missing', message)
}

/** Returns undefined for a directory without a build: unlike Vite's, a `manifest.json` may be a web app's. */
export function findBuild(built: BuiltDirectory, name?: string): Promise<BuildFiles | undefined> {
  return readBuild(built, name).catch(async (error: unknown) => {
    const isOther = ['manifest-missing', 'manifest-broken'].includes(errorCode(error) ?? '')
    const isMeant = name !== undefined || (await statOf(join(built.path, VITES)))
    if (!isOther || isMeant) throw error
    return undefined
  })
}

export const keptIn = async ({ path }: BuiltDirectory) =>
  readKept((await readSnapshot(keptListIn(path)))?.bytes, path)

/** Writes the list, and touches the manifest, so that a server reads both again. */
export async function writeKept({ path, place }: BuiltDirectory, all: KeptFiles, manifest: string) {
  const file = keptListIn(path)
  const existing = (await readSnapshot(file))?.bytes
  if (all.size === 0) return existing && removeInPlace(place, file)
  const bytes = writtenKept(all)
  if (existing?.equals(bytes)) return
  await withUnsaved(async unsaved => {
    const list = await prepareReplacement(file, bytes, { place, unsaved })
    await unsaved.save()
    await list.commit()
  })
  await touch(manifest, await nowOnDisk(path), place)
}

/** @throws AssetError if the list is missing: `keep` would not copy files of earlier builds, nor `clean` remove them */
export async function requireList({ path, files }: BuiltDirectory, build: BuildFiles) {
  if (await statOf(keptListIn(path))) return
  const names = new Set(Array.from(build.hashed, versionKey))
  const earlier = [...files].find(
    file => !build.paths.has(file) && !splitDelta(file) && names.has(versionKey(file) ?? '')
  )
  if (earlier === undefined) return
  const message = `${path} contains ${earlier} of an earlier build, and no ${KEPT_LIST} that names it`
  const remedy = `copy that file from where 'keep' has run, or run it with the earlier build again; where it never has run, remove the files of earlier builds, or write {"builds":[]} to ${KEPT_LIST}`
  throw new AssetError('manifest-missing', `${message}: ${remedy}`)
}
