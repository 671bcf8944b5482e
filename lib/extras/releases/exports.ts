// What a deploy script calls, each loaded when it is called.
import { EXTRAS } from '../../assets/extras.ts'
import type { CleanReport } from '../../assets/building/clean.ts'
import type { CleanKeptOptions, KeepOptions, KeepReport } from './keep.ts'

/**
 * Copies the hashed files of an earlier build, and those that were kept in it, into a new one that lacks
 * them, so that pages that are open during a deploy find their chunks; then compresses the new build like
 * `compress`. What was kept, and since when, is remembered in a dotfile of the new build:
 * mounts send these files as `immutable`, the next `keep` takes them along, `cleanKept` removes them. No
 * file of the new build is overwritten. A run that was interrupted is completed by the next one.
 *
 * @param older the directory of the build before, absolute or relative to the working directory
 * @param newer that of the new one
 * @throws TypeError for an invalid argument
 * @throws AssetError with the code `directory-unusable`, `manifest-missing` or `manifest-broken` for a
 *   directory that is not a build, `publish-failed` or `compress-failed` when a file cannot be written
 * @example
 * const { kept } = await keep('/srv/app/current/dist', 'dist')
 */
export async function keep(
  older: string,
  newer: string,
  options: KeepOptions = {}
): Promise<KeepReport> {
  return (await import('./keep.ts')).keep(older, newer, options, EXTRAS)
}

/**
 * Removes files that `keep` has brought into a build, with all their representations:
 * those of builds that are not among the last `keep`, and were replaced longer than `age` ago. What
 * the build's manifest names stays.
 *
 * @param directory absolute, or relative to the working directory
 * @returns a report in which files are relative to the directory
 * @throws TypeError for an invalid argument
 * @throws AssetError with the code `directory-unusable`, `manifest-missing` or `manifest-broken` for a
 *   directory that is not a build
 * @example
 * const { removed } = await cleanKept('dist', { keep: 2, age: '1d' })
 */
export async function cleanKept(
  directory: string,
  options: CleanKeptOptions = {}
): Promise<CleanReport> {
  return (await import('./keep.ts')).cleanKept(directory, options, EXTRAS)
}
