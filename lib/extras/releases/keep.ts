// Copies files that open pages still request into a new build: the hashed files of earlier builds.
import { join } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { AssetError } from '../../runtime/errors.ts'
import { lstatOf, statOf } from '../../runtime/files/disk.ts'
import { isInPlace, outsidePlace, wouldBeInPlace } from '../../runtime/files/containment.ts'
import { digestOfFile } from '../../runtime/files/digest.ts'
import { sameBytes } from '../../runtime/files/open-file.ts'
import { rethrowAsPublishError, writeAtomically } from '../../publishing/writing/write.ts'
import { withUnsaved, type Unsaved } from '../../publishing/writing/unsaved.ts'
import { check } from '../../runtime/check-options.ts'
import { BUILD_LIMITS, outdatedBuilds, withCopies, type BuildLimits } from './clean.ts'
import { COPY_OPTIONS, type CopyOptions, type CompressReport, compress } from './compress.ts'
import { sum } from '../../runtime/lists.ts'
import { openDirectory, type BuiltDirectory } from '../deltas/directory.ts'
import type { KeptFile, KeptFiles } from '../vite/kept-files.ts'
import { hasFixedUrl, withoutHash } from '../../runtime/urls/spelling.ts'
import { keptIn, readBuild, requireList, writeKept, type BuildFiles } from './build.ts'

export interface KeepOptions extends BuildLimits, CopyOptions {}

export interface KeepReport {
  /** The real path of the new build. */
  readonly directory: string
  /** The files of earlier builds that are in it now, relative to it; sorted. */
  readonly kept: readonly string[]
  /** The total size of these files, in bytes. */
  readonly bytes: number
  /** The number of earlier builds from which they come. */
  readonly builds: number
  /** The number of files that this run copied. */
  readonly copied: number
  readonly compressed: CompressReport
}

const CONCURRENCY = 4

export async function keep(older: string, newer: string, options: KeepOptions = {}) {
  check(options, { ...BUILD_LIMITS, ...COPY_OPTIONS })
  const { keep: _keep, age: _age, manifest, ...copies } = options
  const [from, to] = [await openDirectory(older), await openDirectory(newer)]
  if (from.path === to.path) {
    const message = `${older} and ${newer} are the same directory: name the earlier build, then the new one`
    throw new AssetError('directory-unusable', message)
  }
  const own = await readBuild(to, manifest, from.path)
  const old = await readBuild(from, manifest, to.path)
  await requireList(from, old)
  const listed = await keptIn(to)
  // If several have a file, the last one counts.
  const all = new Map([...(await keptIn(from)), ...filesWithHash(old), ...listed])
  for (const file of own.paths) all.delete(file)
  const possible = await inParallel([...all], CONCURRENCY, async entry =>
    (await mayStay(entry[0], listed, from, to)) ? [entry] : []
  )
  const outdated = outdatedBuilds(options, possible.flat())
  // A listed file stays unchanged, so that a second run changes nothing.
  const isChosen = ([file, { replaced }]: Entry) => listed.has(file) || !outdated.has(replaced)
  const chosen = possible.flat().filter(isChosen)
  const checked = await inParallel(chosen, CONCURRENCY, entry => compared(entry, from, to))
  const kept = new Map(checked.map(({ entry }) => entry))
  const files = [...kept.keys()].toSorted()
  const intact = new Set(checked.flatMap(({ entry, isIntact }) => (isIntact ? entry[0] : [])))
  // The list is written first, so that it has every file even if copying fails.
  await writeKept(to, kept, own.manifest)
  await withUnsaved(unsaved => {
    const copyOne = async (file: string): Promise<void> => {
      for (const path of withCopies(file)) {
        const isThere = path === file ? intact.has(file) : to.files.has(path)
        if (!from.files.has(path) || isThere) continue
        await copy(path, from, to, unsaved).catch(rethrowAsPublishError({ root: '.' }, path))
      }
    }
    return inParallel(files, CONCURRENCY, copyOne, options.signal)
  })
  const compressed = await compress(to.path, { ...copies, against: from.path })
  const stats = await inParallel(files, CONCURRENCY, file => statOf(join(to.path, file)))
  return {
    directory: to.path,
    kept: files,
    bytes: sum(stats.map(each => Number(each?.size ?? 0n))),
    builds: new Set(Array.from(kept.values(), ({ replaced }) => replaced)).size,
    copied: files.length - intact.size,
    compressed
  }
}

type Entry = readonly [file: string, kept: KeptFile]

/** Tells whether a file that the new build did not write may be in it. */
async function mayStay(file: string, listed: KeptFiles, from: BuiltDirectory, to: BuiltDirectory) {
  const [source, target] = [join(from.path, file), join(to.path, file)]
  if (!to.files.has(file)) return from.files.has(file) && !(await lstatOf(target))
  // Without a list, the directory was not emptied before the build.
  return listed.has(file) || (from.files.has(file) && sameBytes(source, target))
}

/** Adds the digest of a file when first kept, or in the earlier build; tells whether the new one has these bytes. */
async function compared([file, entry]: Entry, from: BuiltDirectory, to: BuiltDirectory) {
  const digestIn = async ({ path, files }: BuiltDirectory) =>
    files.has(file) ? digestOfFile(join(path, file)) : undefined
  const [source, target] = await Promise.all([from, to].map(digestIn))
  const digest = entry.digest ?? source ?? target
  const isIntact = digest === undefined || digest === target
  if (isIntact || digest === source)
    return { entry: [file, { ...entry, digest }] as const, isIntact }
  const message = `${file} of an earlier build is missing or damaged in ${from.path} and in ${to.path}: restore it in one of them, or remove it from both`
  throw new AssetError('publish-failed', message)
}

/** Returns the files to keep. Vite's manifest lacks a worker's name without its hash: it is kept, but not immutable. */
function filesWithHash({ paths, hashed }: BuildFiles): Entry[] {
  const replaced = Date.now()
  return Array.from(paths).flatMap((file): Entry[] => {
    const isHashed = hashed.has(file)
    const isKept = isHashed || (withoutHash(`/${file}`) && !hasFixedUrl(file))
    return isKept ? [[file, { replaced, isHashed }]] : []
  })
}

async function copy(path: string, from: BuiltDirectory, to: BuiltDirectory, unsaved: Unsaved) {
  const [source, target] = [join(from.path, path), join(to.path, path)]
  if (!(await wouldBeInPlace(to.place, target))) throw outsidePlace(to.place, target)
  const content = { copyOf: source, isAllowed: isInPlace(from.place) }
  await writeAtomically(target, content, { place: to.place, unsaved })
}
