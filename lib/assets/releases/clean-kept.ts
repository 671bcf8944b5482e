// Removes what `keep` has brought into a build, once no open page asks for it.
import { join } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { splitDelta } from '../../files/delta-format.ts'
import { digestOfFile } from '../../files/digest.ts'
import { removeFile, statOf } from '../../files/disk.ts'
import { check, flag } from '../../options.ts'
import type { CleanReport } from '../building/clean.ts'
import { openDirectory } from '../building/copies/directory.ts'
import { keptIn, LIMITS, outdatedAmong, readBuild, withCopies, type BuildLimits } from './build.ts'
import { writeKept } from './keep.ts'

export interface CleanKeptOptions extends BuildLimits {
  /** Reports what would be removed, and removes nothing. Default: false. */
  readonly dryRun?: boolean | undefined
}

const CONCURRENCY = 8

export async function cleanKept(
  directory: string,
  options: CleanKeptOptions = {}
): Promise<CleanReport> {
  check(options, { ...LIMITS, dryRun: flag })
  const { dryRun = false } = options
  const served = await openDirectory(directory)
  const pathOf = (file: string) => join(served.path, file)
  const kept = await keptIn(served)
  if (kept.size === 0) return { removed: [], bytes: 0, kept: 0, dryRun }
  const build = await readBuild(served, options.manifest)
  const there = new Set(served.files)
  const known = [...kept].filter(([file]) => there.has(file) && !build.files.has(file))
  const outdated = outdatedAmong(
    options,
    Array.from(kept.values(), ({ replaced }) => replaced)
  )
  const left = known.filter(([, { replaced }]) => !outdated.has(replaced))
  const removed = known
    .flatMap(([file, { replaced }]) => (outdated.has(replaced) ? [file] : []))
    .toSorted()
  const digests = new Set(
    await inParallel(removed, CONCURRENCY, file => digestOfFile(pathOf(file)))
  )
  const isRemoved = new Set(removed)
  const deltas = served.files.filter(file => {
    const delta = splitDelta(file)
    return delta && (isRemoved.has(delta.name) || digests.has(delta.digest))
  })
  const gone = [...deltas, ...removed.flatMap(withCopies)].filter(file => there.has(file))
  const sizes = await inParallel(gone, CONCURRENCY, async file =>
    Number((await statOf(pathOf(file)))?.size ?? 0n)
  )
  if (!dryRun) {
    // One after the other: as long as a file is there, an interrupted run can be repeated.
    for (const file of gone) await removeFile(pathOf(file))
    await writeKept(served, new Map(left), build.manifest)
  }
  return {
    removed,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    kept: left.length,
    dryRun
  }
}
