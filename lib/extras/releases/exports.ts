// Exports the functions that a deploy script calls. Each is loaded when it is called.
import { settleForPrecompile } from '../../runtime/app/extras.ts'
import type { KoaAssetsOptions } from '../../runtime/settings/options.ts'
import type { CleanKeptOptions, CleanOptions, CleanReport } from './clean.ts'
import type { CompressOptions, CompressReport } from './compress.ts'
import type { VerifyCopiesReport } from './copies.ts'
import type { KeepOptions, KeepReport } from './keep.ts'
import type { VerifyReport } from './verify.ts'

/**
 * Copies the hashed files of an earlier build, and those kept in it, into a new one that lacks them, so that pages that
 * are open during a deploy find their chunks; then compresses the new build like `compress`. Mounts send kept files as
 * `immutable`, the next `keep` copies them, `cleanKept` removes them. No file of the new build is overwritten.
 * @param older the directory of the earlier build, absolute or relative to the working directory
 * @throws TypeError for an invalid argument; AssetError with the code `directory-unusable`, `manifest-missing` or
 *   `manifest-broken` for anything but a build, `publish-failed` or `compress-failed` when a file cannot be written
 * @example
 * const { kept } = await keep('/srv/app/current/dist', 'dist')
 */
export function keep(older: string, newer: string, options?: KeepOptions): Promise<KeepReport> {
  return import('./keep.ts').then(room => room.keep(older, newer, options))
}

/**
 * Removes files that `keep` has copied into a build, with all their representations: those of builds that are not
 * among the last `keep`, and were replaced longer than `age` ago. Files that the build's manifest names stay.
 * @param directory absolute, or relative to the working directory
 * @throws TypeError for an invalid argument; AssetError with the code `directory-unusable`, `manifest-missing` or
 *   `manifest-broken` for a directory that is not a build
 * @example
 * const { removed } = await cleanKept('dist', { keep: 2, age: '1d' })
 */
export function cleanKept(directory: string, options?: CleanKeptOptions): Promise<CleanReport> {
  return import('./clean.ts').then(room => room.cleanKept(directory, options))
}

/**
 * Writes compressed copies (`.br`, `.zst`, `.gz`) beside the files of a directory if they are smaller. Each is
 * decompressed and compared with its original before it gets its name; a copy of other bytes is replaced or removed.
 * Source maps, dotfiles and symbolic links are skipped.
 * @param directory absolute, or relative to the working directory
 * @throws TypeError for an invalid argument; AssetError with the code `directory-unusable` for a directory that does
 *   not exist, contains a `package.json`, or nothing that can be served; `compress-failed` when a copy cannot be written
 * @example
 * const { codings } = await compress('dist')
 */
export function compress(directory: string, options?: CompressOptions): Promise<CompressReport> {
  return import('./compress.ts').then(room => room.compress(directory, options))
}

/**
 * Removes old fingerprinted files with all their representations: those that are not in the manifest, nor among the
 * newest `keep` of their name, and were last published, or in the manifest, longer than `age` ago. A file whose bytes do
 * not match the digest in its name is kept.
 * @param options those of `koaAssets`, with the defaults of `precompile`
 * @throws TypeError for an invalid option; AssetError with the code `manifest-missing` or `manifest-broken`,
 *   `precompile-busy` while a precompile is running, or `publish-failed` when a symbolic link leads out of `public`
 * @example
 * const { removed } = await clean({ root: import.meta.dirname }, { keep: 2, age: '1d' })
 */
export function clean(options?: KoaAssetsOptions, limits?: CleanOptions): Promise<CleanReport> {
  return import('./clean.ts').then(room => room.clean(settleForPrecompile(options), limits))
}

/**
 * Compares the files in `public` with the manifest, and every representation with its file; for each mount, checks
 * that every file that its manifest names exists, and all representations. Writes nothing.
 * @param options those of `koaAssets`, with the defaults of `precompile`; with `apps: false` only mounts are checked
 * @throws TypeError for an invalid option; AssetError with the code `manifest-missing` or `manifest-broken`
 * @example
 * const { problems } = await verify({ root: import.meta.dirname })
 * for (const { path, message } of problems) console.error(path, message)
 */
export function verify(options?: KoaAssetsOptions): Promise<VerifyReport> {
  return import('./verify.ts').then(room => room.verify(settleForPrecompile(options)))
}

/**
 * Compares every representation in a directory with its original; a `.gz` by itself counts as an archive. If there is a
 * build's manifest, as for `keep`, each file that it names must exist. Writes nothing.
 * @param directory absolute, or relative to the working directory
 * @throws TypeError for anything but a path; AssetError with the code `directory-unusable` for a directory that does
 *   not exist, contains a `package.json`, or nothing that can be served, `manifest-broken` for a damaged one of Vite
 * @example
 * const { problems } = await verifyCopies('dist')
 */
export function verifyCopies(directory: string): Promise<VerifyCopiesReport> {
  return import('./copies.ts').then(room => room.verifyCopies(directory))
}
