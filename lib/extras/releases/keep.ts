// Brings what open pages still ask for into a new build, the hashed files of the builds before it, and removes them
// once no page does.
import { join } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { AssetError } from '../../runtime/errors.ts'
import { lstatOf, statOf } from '../../runtime/files/disk.ts'
import {
  isInPlace,
  outsidePlace,
  removeInPlace,
  wouldBeInPlace
} from '../../runtime/files/containment.ts'
import { digestOfFile, isSameDigest } from '../../runtime/files/digest.ts'
import { readSnapshot, sameBytes } from '../../runtime/files/open-file.ts'
import {
  prepareReplacement,
  touch,
  writeAtomically,
  rethrowAsPublishError
} from '../../publishing/writing/write.ts'
import { nowOnDisk } from '../../publishing/writing/write.ts'
import { withUnsaved, type Unsaved } from '../../publishing/writing/write.ts'
import { check, flag } from '../../runtime/check-options.ts'
import { outdatedAmong, removeFiles, withCopies, type CleanReport } from './clean.ts'
import { COPY_OPTIONS, type CopyOptions, type CompressReport, compress } from './compress.ts'
import { sum } from '../../publishing/building/publish.ts'
import { splitDelta } from '../deltas/delta-format.ts'
import { openDirectory, type BuiltDirectory } from '../deltas/directory.ts'
import { keptListIn, writtenKept, type KeptFile, type KeptFiles } from '../vite/kept-files.ts'
import { hasFixedUrl, withoutHash } from '../../runtime/urls/spelling.ts'
import {
  findBuild,
  keptIn,
  LIMITS,
  readBuild,
  requireList,
  type BuildFiles,
  type BuildLimits
} from './build.ts'

export interface KeepOptions extends BuildLimits, CopyOptions {}

export interface KeepReport {
  /** The real path of the new build. */
  readonly directory: string
  /** The files of earlier builds that are in it now, relative to it; sorted. */
  readonly kept: readonly string[]
  /** The total size of these files, in bytes. */
  readonly bytes: number
  /** The number of earlier builds that they come from. */
  readonly builds: number
  /** The number of files that this run copied. */
  readonly copied: number
  /** The report of `compress`, which ran afterwards. */
  readonly compressed: CompressReport
}

const CONCURRENCY = 4

export async function keep(
  older: string,
  newer: string,
  options: KeepOptions = {}
): Promise<KeepReport> {
  check(options, { ...LIMITS, ...COPY_OPTIONS })
  const { keep: _keep, age: _age, manifest, ...copies } = options
  const [from, to] = [await openDirectory(older), await openDirectory(newer)]
  if (from.path === to.path) {
    const message = `${older} and ${newer} are the same directory: name the earlier build, then the new one`
    throw new AssetError('directory-unusable', message)
  }
  const own = await readBuild(to, { name: manifest, other: from.path })
  const old = await readBuild(from, { name: manifest, other: to.path })
  await requireList(from, old)
  const chosen = await choose(from, to, { old, own: own.files, limits: options })
  const checked = await inParallel([...chosen], CONCURRENCY, entry => compared(entry, from, to))
  const kept = new Map(checked.map(({ file, isIntact: _is, ...entry }) => [file, entry]))
  const intact = new Set(checked.flatMap(({ file, isIntact }) => (isIntact ? file : [])))
  await writeKept(to, kept, own.manifest)
  const files = [...kept.keys()].toSorted()
  const copyOne = async (file: string, unsaved: Unsaved): Promise<void> => {
    for (const path of withCopies(file)) {
      const isThere = path === file ? intact.has(file) : to.files.has(path)
      if (!from.files.has(path) || isThere) continue
      await copy(path, from, to, unsaved).catch(rethrowAsPublishError({ root: '.' }, path))
    }
  }
  await withUnsaved(unsaved =>
    inParallel(files, CONCURRENCY, file => copyOne(file, unsaved), options.signal)
  )
  const compressed = await compress(to.path, { ...copies, against: from.path })
  const stats = await inParallel(files, CONCURRENCY, file => statOf(join(to.path, file)))
  return {
    directory: to.path,
    kept: files,
    bytes: sum(stats.map(each => Number(each?.size ?? 0n))),
    builds: new Set(Array.from(kept.values(), ({ replaced }) => replaced)).size,
    copied: files.filter(file => !intact.has(file)).length,
    compressed
  }
}

interface Choice {
  readonly old: BuildFiles
  /** The files that the build itself has written. */
  readonly own: ReadonlySet<string>
  readonly limits: BuildLimits
}

/** A listed file stays as it is, so that a second run changes nothing. */
async function choose(
  from: BuiltDirectory,
  to: BuiltDirectory,
  { old, own, limits }: Choice
): Promise<KeptFiles> {
  const listed = await keptIn(to)
  const mayStay = async (file: string): Promise<boolean> => {
    if (own.has(file)) return false
    const [source, target] = [join(from.path, file), join(to.path, file)]
    if (!to.files.has(file)) return from.files.has(file) && !(await lstatOf(target))
    // Where there is no list, the directory was not emptied before the build.
    return listed.has(file) || (from.files.has(file) && sameBytes(source, target))
  }
  // The last one counts for each file.
  const all = new Map([...(await keptIn(from)), ...filesWithHash(old), ...listed])
  const kept = await inParallel([...all], CONCURRENCY, async entry =>
    (await mayStay(entry[0])) ? [entry] : []
  )
  const outdated = outdatedTimes(limits, kept.flat())
  return new Map(
    kept.flat().filter(([file, { replaced }]) => listed.has(file) || !outdated.has(replaced))
  )
}

/**
 * Adds the digest of a file's bytes when it was first kept, or else in the earlier build, and whether the new build
 * has these bytes.
 */
async function compared(
  [file, entry]: readonly [string, KeptFile],
  from: BuiltDirectory,
  to: BuiltDirectory
) {
  const digestIn = async ({ path, files }: BuiltDirectory) =>
    files.has(file) ? digestOfFile(join(path, file)) : undefined
  const [source, target] = await Promise.all([from, to].map(digestIn))
  const digest = entry.digest ?? source ?? target
  const isIntact = digest === undefined || isSameDigest(digest, target)
  if (!isIntact && !isSameDigest(digest, source)) {
    const message = `${file} of an earlier build is missing or damaged in ${from.path} and in ${to.path}: restore it in one of them, or remove it from both`
    throw new AssetError('publish-failed', message)
  }
  return { ...entry, file, digest, isIntact }
}

/** Returns the times at which builds were replaced that neither limit keeps: files of one build have one time. */
function outdatedTimes(limits: BuildLimits, kept: Iterable<readonly [string, KeptFile]>) {
  const times = Array.from(kept, ([, { replaced }]) => [replaced, replaced] as const)
  return outdatedAmong(limits, new Map(times))
}

/** Vite's manifest does not give the name of a worker without its hash: it is kept, but not immutable. */
function filesWithHash({ files, hashed }: BuildFiles): [string, KeptFile][] {
  const replaced = Date.now()
  return Array.from(files).flatMap(file => {
    const isHashed = hashed.has(file)
    const isKept = isHashed || (withoutHash(`/${file}`) && !hasFixedUrl(file))
    return isKept ? [[file, { replaced, isHashed }]] : []
  })
}

/**
 * Writes the list first: whatever happens while the files are copied, each of them is known. A server that has
 * already read the manifest reads both again when the manifest has changed.
 */
async function writeKept(
  { path, place }: BuiltDirectory,
  kept: KeptFiles,
  manifest: string
): Promise<void> {
  const file = keptListIn(path)
  const existing = (await readSnapshot(file))?.bytes
  if (kept.size === 0) return existing && removeInPlace(place, file)
  const bytes = writtenKept(kept)
  if (existing?.equals(bytes)) return
  await withUnsaved(async unsaved => {
    const list = await prepareReplacement(file, bytes, { place, unsaved })
    await unsaved.save()
    await list.commit()
  })
  await touch(manifest, await nowOnDisk(path), place)
}

async function copy(
  path: string,
  from: BuiltDirectory,
  to: BuiltDirectory,
  unsaved: Unsaved
): Promise<void> {
  const [source, target] = [join(from.path, path), join(to.path, path)]
  if (!(await wouldBeInPlace(to.place, target))) throw outsidePlace(to.place, target)
  const content = { copyOf: source, isAllowed: isInPlace(from.place) }
  await writeAtomically(target, content, { place: to.place, unsaved })
}

export interface CleanKeptOptions extends BuildLimits {
  /** Reports what would be removed, and removes nothing. Default: false. */
  readonly dryRun?: boolean | undefined
}

/** Removes what `keep` has brought into a build, once no open page asks for it. */
export async function cleanKept(
  directory: string,
  options: CleanKeptOptions = {}
): Promise<CleanReport> {
  check(options, { ...LIMITS, dryRun: flag })
  const { dryRun = false } = options
  const served = await openDirectory(directory)
  const kept = await keptIn(served)
  if (kept.size === 0) {
    const build = await findBuild(served, options.manifest)
    if (build) await requireList(served, build)
    return { removed: [], bytes: 0, kept: 0, dryRun }
  }
  const build = await readBuild(served, { name: options.manifest })
  const outdated = outdatedTimes(options, kept)
  const known = [...kept].filter(([file]) => served.files.has(file) && !build.files.has(file))
  const left = known.filter(([, { replaced }]) => !outdated.has(replaced))
  const removed = known
    .flatMap(([file, { replaced }]) => (outdated.has(replaced) ? file : []))
    .toSorted()
  const pathOf = (file: string) => join(served.path, file)
  const digests = await inParallel(removed, CONCURRENCY, file => digestOfFile(pathOf(file)))
  const endless = [...served.files].filter(file => {
    const delta = splitDelta(file)
    return delta && (removed.includes(delta.name) || digests.includes(delta.digest))
  })
  // A folder or a link in the place of a copy stays.
  const copied = removed.map(file => withCopies(file).filter(path => served.files.has(path)))
  const gone = [...endless.map(file => [file]), ...copied].map(files => files.map(pathOf))
  const bytes = await removeFiles(served.place, gone, dryRun)
  if (!dryRun) await writeKept(served, new Map(left), build.manifest)
  return { removed, bytes, kept: left.length, dryRun }
}
