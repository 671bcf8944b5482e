// Reads the directory of a build: its files, what its bundler's manifest says about them, and what was kept in it.
import { basename, join } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { AssetError } from '../../runtime/errors.ts'
import { digestOfFile, isSameDigest } from '../../runtime/files/digest.ts'
import { errorCode, statOf } from '../../runtime/files/disk.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import { wholeNumber, type Duration, type Expectation } from '../../runtime/check-options.ts'
import { AGE_IN_SECONDS } from './clean.ts'
import { splitDelta } from '../deltas/delta-format.ts'
import { versionKey, type BuiltDirectory } from '../deltas/directory.ts'
import { keptListIn, readKept, type KeptFiles } from '../vite/kept-files.ts'
import { readManifest, type ManifestNames } from '../vite/manifests/read-bundle.ts'
import { pathFrom } from '../../runtime/files/paths.ts'

/** Limits how many earlier builds are kept, and for how long. */
export interface BuildLimits {
  /** The number of earlier builds to keep, however old they are. Default: 3. */
  readonly keep?: number | undefined
  /**
   * Seconds, or a duration such as `'12h'`, `'1d'` or `'2w'`. A build that was replaced within that time is
   * kept, however many there are. Default: `'7d'`.
   */
  readonly age?: number | Duration | undefined
  /**
   * The bundler's manifest, relative to the directory of each build: `'build/stats.json'`. Default:
   * `.vite/manifest.json`, `metafile.json`, `meta.json`, `stats.json`, `assets-manifest.json` or
   * `manifest.json`, the first that is there.
   */
  readonly manifest?: string | undefined
}

export const LIMITS = {
  keep: wholeNumber('builds'),
  age: AGE_IN_SECONDS,
  manifest: {
    expected: 'a path relative to the builds',
    holds: path => typeof path === 'string' && /^[^/\0][^\0]*$/.test(path)
  }
} satisfies Record<keyof BuildLimits, Expectation>

export async function keptIn({ path }: BuiltDirectory): Promise<KeptFiles> {
  return readKept((await readSnapshot(keptListIn(path)))?.bytes, path)
}

const CONCURRENCY = 8

const USUAL = [
  ...['.vite/manifest.json', 'metafile.json', 'meta.json', 'stats.json'],
  ...['assets-manifest.json', 'manifest.json']
]

/** The files that the manifest in a build names. */
export interface BuildFiles extends ManifestNames {
  /** The absolute path of the manifest. */
  readonly manifest: string
}

interface Asked {
  /** The option `manifest`. */
  readonly name?: string | undefined
  /** The directory may have had this path when it was built: esbuild's paths start with its name. */
  readonly other?: string
}

/** @throws AssetError with the code `manifest-missing` or `manifest-broken` */
export async function readBuild(
  { path, files }: BuiltDirectory,
  { name, other = path }: Asked = {}
): Promise<BuildFiles> {
  const names = name === undefined ? USUAL : [name]
  for (const manifest of names.map(each => join(path, each))) {
    const read = await readSnapshot(manifest)
    if (!read) continue
    const named = [path, other].map(dir => readManifest(read.bytes, { manifest, dir }))
    const found = named.find(build => [...build.files].some(file => files.has(file)))
    if (found) return { ...found, manifest }
    const message = `${manifest} names no file that is in ${path}: it belongs to another build`
    throw new AssetError('manifest-broken', message)
  }
  const message = `there is no manifest ${names.join(', ')} in ${path}: build with one, or name it by the option manifest`
  throw new AssetError('manifest-missing', message)
}

/** The problems of a directory, beside those of its compressed copies. */
interface DirectoryCheck {
  /** The number of files that its manifest names; undefined if there is no manifest. */
  readonly files: number | undefined
  readonly problems: readonly { readonly path: string; readonly message: string }[]
}

/** Checks that the files are there that the manifest names, and those that `keep` has brought. */
export async function checkDirectory(built: BuiltDirectory): Promise<DirectoryCheck> {
  const build = await findBuild(built)
  const problems = await keptProblems(built, build)
  if (!build) return { files: undefined, problems }
  const message = `is missing, and ${pathFrom(built.path, build.manifest)} names it`
  const missing = await inParallel([...build.files].toSorted(), CONCURRENCY, async path =>
    (await statOf(join(built.path, path)))?.isFile() ? [] : [{ path, message }]
  )
  return { files: build.files.size, problems: [...missing.flat(), ...problems] }
}

/** Returns undefined for any other directory: a `manifest.json` may be that of a web application. */
export function findBuild(built: BuiltDirectory, name?: string): Promise<BuildFiles | undefined> {
  return readBuild(built, { name }).catch((error: unknown) => {
    if (['manifest-missing', 'manifest-broken'].includes(errorCode(error) ?? '')) return undefined
    throw error
  })
}

/** Checks the files that `keep` has brought, and their list. */
async function keptProblems(
  built: BuiltDirectory,
  build: BuildFiles | undefined
): Promise<DirectoryCheck['problems']> {
  try {
    if (build) await requireList(built, build)
    const kept = [...(await keptIn(built))].filter(([file]) => !build?.files.has(file))
    const found = await inParallel(kept, CONCURRENCY, async ([path, { digest }]) => {
      if (!built.files.has(path)) return [{ path, message: `is missing, ${KEEP_AGAIN}` }]
      const isIntact = !digest || isSameDigest(await digestOfFile(join(built.path, path)), digest)
      return isIntact ? [] : [{ path, message: `is damaged, ${KEEP_AGAIN}` }]
    })
    return found.flat()
  } catch (error) {
    if (!(error instanceof AssetError)) throw error
    return [{ path: basename(keptListIn(built.path)), message: `cannot be used: ${error.message}` }]
  }
}

const KEEP_AGAIN =
  "and was kept from an earlier build: run 'npx koa-fresh-assets keep' with that build again"

/**
 * Requires the list without which nobody knows the files of earlier builds any more: the next `keep` would not take
 * them along, and `clean` would not remove them.
 * @throws AssetError with the code `manifest-missing`
 */
export async function requireList(
  { path, files }: BuiltDirectory,
  build: BuildFiles
): Promise<void> {
  if (await statOf(keptListIn(path))) return
  const names = new Set(Array.from(build.hashed, versionKey))
  const isEarlier = (file: string) => {
    const isOther = build.files.has(file) || splitDelta(file) !== undefined
    const key = isOther ? undefined : versionKey(file)
    return key !== undefined && names.has(key)
  }
  const earlier = [...files].find(isEarlier)
  if (earlier === undefined) return
  const list = basename(keptListIn(path))
  const message = `${path} contains ${earlier} of an earlier build, and no ${list} that names it`
  const remedy = `copy that file from where 'keep' has run, or run it with the earlier build again; where it never has run, remove the files of earlier builds, or write {"builds":[]} to ${list}`
  throw new AssetError('manifest-missing', `${message}: ${remedy}`)
}
