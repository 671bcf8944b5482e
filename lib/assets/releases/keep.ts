// Brings what open pages still ask for into a new build: the hashed files of the builds before it.
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { AssetError } from '../../errors.ts'
import { setMtime } from '../../files/clock.ts'
import { isInPlace, outsidePlace, requireInPlace, wouldBeInPlace } from '../../files/containment.ts'
import { ifThere, removeFile, statOf } from '../../files/disk.ts'
import { readSnapshot, sameBytes } from '../../files/open-file.ts'
import { nowOnDisk, writeAtomically } from '../../files/writing/atomic-write.ts'
import { rethrowAsPublishError } from '../../files/writing/publish-error.ts'
import { check } from '../../options.ts'
import { compress } from '../building/copies/compress.ts'
import {
  COMPRESS_OPTIONS,
  type CompressOptions,
  type CompressReport
} from '../building/copies/compress-options.ts'
import { openDirectory, type BuiltDirectory } from '../building/copies/directory.ts'
import { hasFixedUrl, withoutHash } from '../urls/fingerprint.ts'
import { keptListIn, writtenKept, type KeptFiles } from '../bundles/kept-files.ts'
import {
  keptIn,
  LIMITS,
  outdatedAmong,
  readBuild,
  withCopies,
  type BuildFiles,
  type BuildLimits
} from './build.ts'

export interface KeepOptions extends BuildLimits, Omit<CompressOptions, 'against'> {}

export interface KeepReport {
  /** Real path of the new build. */
  readonly directory: string
  /** The files of earlier builds that are in it now, relative to it; sorted. */
  readonly kept: readonly string[]
  /** Their total size, in bytes. */
  readonly bytes: number
  /** How many earlier builds they come from. */
  readonly builds: number
  /** How many of them this run copied. */
  readonly copied: number
  /** What `compress` wrote afterwards. */
  readonly compressed: CompressReport
}

const { against: _, ...COPIES } = COMPRESS_OPTIONS
const CONCURRENCY = 4

export async function keep(
  older: string,
  newer: string,
  options: KeepOptions = {}
): Promise<KeepReport> {
  check(options, { ...LIMITS, ...COPIES })
  const { keep: _keep, age: _age, manifest, ...copies } = options
  const [from, to] = [await openDirectory(older), await openDirectory(newer)]
  if (from.path === to.path) {
    const message = `${older} and ${newer} are the same directory: name the earlier build, then the new one`
    throw new AssetError('directory-unusable', message)
  }
  const own = await readBuild(to, manifest, from.path)
  const old = await readBuild(from, manifest, to.path)
  const kept = await choose(from, to, { old, own: own.files, limits: options })
  await writeKept(to, kept, own.manifest)
  const [before, there] = [new Set(from.files), new Set(to.files)]
  const copyOne = async (file: string): Promise<boolean> => {
    const missing = withCopies(file).filter(path => before.has(path) && !there.has(path))
    for (const path of missing) {
      await copy(path, from, to).catch(rethrowAsPublishError({ root: to.path }, path))
    }
    return missing.includes(file)
  }
  const copied = await inParallel([...kept.keys()], CONCURRENCY, copyOne, options.signal)
  const compressed = await compress(to.path, { ...copies, against: from.path })
  const sizes = await inParallel([...kept.keys()], CONCURRENCY, async file =>
    Number((await statOf(join(to.path, file)))?.size ?? 0n)
  )
  return {
    directory: to.path,
    kept: [...kept.keys()].toSorted(),
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    builds: new Set(Array.from(kept.values(), ({ replaced }) => replaced)).size,
    copied: copied.filter(Boolean).length,
    compressed
  }
}

interface Choice {
  readonly old: BuildFiles
  /** What the new build has by itself. */
  readonly own: ReadonlySet<string>
  readonly limits: BuildLimits
}

/** What is listed already stays as it is, so that a second run changes nothing. */
async function choose(
  from: BuiltDirectory,
  to: BuiltDirectory,
  { old, own, limits }: Choice
): Promise<KeptFiles> {
  const listed = await keptIn(to)
  const now = Date.now()
  const replaced = filesWithHash(old).map(
    ({ file, isHashed }) => [file, { replaced: now, isHashed }] as const
  )
  // For each file the last one counts.
  const all = new Map([...(await keptIn(from)), ...replaced, ...listed])
  const [before, there] = [new Set(from.files), new Set(to.files)]
  const mayStay = async (file: string): Promise<boolean> => {
    if (own.has(file)) return false
    if (!there.has(file)) {
      return before.has(file) && !(await ifThere(lstat(join(to.path, file))))
    }
    if (listed.has(file) || !before.has(file)) return listed.has(file)
    // The directory was not emptied before the build.
    return sameBytes(join(from.path, file), join(to.path, file))
  }
  const files = await inParallel([...all], CONCURRENCY, async entry =>
    (await mayStay(entry[0])) ? [entry] : []
  )
  const kept = files.flat()
  const outdated = outdatedAmong(
    limits,
    kept.map(([, { replaced }]) => replaced)
  )
  return new Map(kept.filter(([file, { replaced }]) => listed.has(file) || !outdated.has(replaced)))
}

/** Vite's manifest does not give the name of a worker without its hash: it is kept, but not immutable. */
function filesWithHash({ files, hashed }: BuildFiles) {
  return Array.from(files, file => ({ file, isHashed: hashed.has(file) })).filter(
    ({ file, isHashed }) => isHashed || (withoutHash(`/${file}`) && !hasFixedUrl(file))
  )
}

/**
 * The list comes first: whatever happens while the files are copied, each of them is known. A server that has
 * already read the manifest reads both again when the manifest has changed.
 */
export async function writeKept(
  { path, place }: BuiltDirectory,
  kept: KeptFiles,
  manifest: string
): Promise<void> {
  const file = keptListIn(path)
  const existing = (await readSnapshot(file))?.bytes
  if (kept.size === 0) return existing && removeFile(file)
  const bytes = writtenKept(kept)
  if (existing?.equals(bytes)) return
  const now = await nowOnDisk(path)
  await writeAtomically(file, bytes, now, { checkLocation: requireInPlace(place) })
  await setMtime(manifest, now)
}

async function copy(path: string, from: BuiltDirectory, to: BuiltDirectory): Promise<void> {
  const [source, target] = [join(from.path, path), join(to.path, path)]
  if (!(await wouldBeInPlace(to.place, target))) throw outsidePlace(to.place, target)
  const mtimeNs = (await statOf(source))?.mtimeNs ?? 0n
  const content = { copyOf: source, isAllowed: isInPlace(from.place) }
  await writeAtomically(target, content, mtimeNs, { checkLocation: requireInPlace(to.place) })
}
