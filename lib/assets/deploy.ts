// What a deploy script calls. A server does none of it, so each is loaded when it is called.
import type { CleanOptions, CleanReport } from './building/clean.ts'
import type { CompressOptions, CompressReport } from './building/compress.ts'
import type { PrecompileOptions, PrecompileReport } from './building/precompile.ts'
import type { VerifyReport } from './inventory/verify-all.ts'
import type { VerifyCopiesReport } from './building/verify.ts'
import type { KoaAssetsOptions } from './settings/options.ts'
import { EXTRAS } from './extras.ts'
import { settleForPrecompile } from './site.ts'

/**
 * Publishes the assets of all apps and third-party directories into `public`: under plain names, under
 * fingerprinted names, and with compressed copies (`.br`, `.zst`, `.gz`) and other representations where
 * they are smaller. Files that are up to date are not written again, and fingerprinted files of earlier
 * deploys stay; see `clean`. Plain names and the manifest `public/assets.json` are replaced together at the
 * end.
 *
 * @param options those of `koaAssets`; here `env` defaults to `NODE_ENV`, else `production`, `compile`
 *   and `fingerprint` to true, and `missing` to `error`
 * @throws TypeError for an invalid option of either argument
 * @throws PrecompileError that lists every broken source; nothing was published
 * @returns with `apps: false` a report of no assets; nothing is written
 * @throws AssetError with the code `precompile-empty` when there are no assets otherwise, `precompile-busy` while
 *   another precompile is running, or `publish-failed` when a file cannot be written
 * @example
 * const { assets, seconds } = await precompile({ root: import.meta.dirname }, { minify: true })
 */
export async function precompile(
  options: KoaAssetsOptions = {},
  precompileOptions: PrecompileOptions = {}
): Promise<PrecompileReport> {
  const room = await import('./building/precompile.ts')
  return room.precompile(settleForPrecompile(options), precompileOptions)
}

/**
 * Decompresses every compressed copy (`.br`, `.zst`, `.gz`) in a directory and compares it with its original, and
 * checks other representations. Reports those that are damaged, made from other bytes, older than their
 * original, or without one, and those that cannot be sent; a `.gz` by itself counts as an archive. If the
 * directory has a build's manifest, as for `keep`, each file that this names must exist. Writes nothing.
 * Dotfiles and symbolic links are skipped.
 *
 * @param directory absolute, or relative to the working directory
 * @throws TypeError for anything but a path
 * @throws AssetError with the code `directory-unusable` for a directory that does not exist, contains a
 *   `package.json`, or nothing that can be served
 * @example
 * const { problems } = await verifyCopies('dist')
 */
export async function verifyCopies(directory: string): Promise<VerifyCopiesReport> {
  return (await import('./building/verify.ts')).verifyCopies(directory, EXTRAS)
}

/**
 * Writes compressed copies (`.br`, `.zst`, `.gz`) beside the files of a directory where they are smaller.
 * Each is decompressed and compared with its original before it gets its name. A copy that expands to its original
 * is not made again; one made from other bytes is replaced, or removed where compression does not pay. Source
 * maps, dotfiles and symbolic links are skipped, and so is a copy whose original does not exist.
 *
 * @param directory absolute, or relative to the working directory
 * @throws TypeError for an invalid argument
 * @throws AssetError with the code `directory-unusable` for a directory that does not exist, contains a
 *   `package.json`, or nothing that can be served; `compress-failed` when a copy cannot be written
 * @example
 * const { codings } = await compress('dist')
 */
export async function compress(
  directory: string,
  options: CompressOptions = {}
): Promise<CompressReport> {
  return (await import('./building/compress.ts')).compress(directory, options, EXTRAS)
}

/**
 * Compares the files in `public` with the manifest: size, digest and Subresource Integrity of every
 * fingerprinted file, the bytes of its plain name, the compressed copies of both, and other representations.
 * For each mount it checks that every file that its manifest names exists, and all representations.
 * Writes nothing.
 *
 * @param options those of `koaAssets`, with the defaults of `precompile`; with `apps: false` only mounts are
 *   checked
 * @throws TypeError for an invalid option
 * @throws AssetError with the code `manifest-missing` or `manifest-broken`, for the project's own manifest
 * @example
 * const { problems } = await verify({ root: import.meta.dirname })
 * for (const { path, message } of problems) console.error(path, message)
 */
export async function verify(options: KoaAssetsOptions = {}): Promise<VerifyReport> {
  return (await import('./inventory/verify-all.ts')).verify(settleForPrecompile(options))
}

/**
 * Removes old fingerprinted files with all their representations. A file is removed when it is not in the
 * manifest, is not among the newest `keep` of its name, and was last published, or in the manifest,
 * longer than `age` ago by the clock of its disk. A file whose bytes do not match the digest in its name
 * was not made by `precompile` and is kept.
 *
 * @param options those of `koaAssets`, with the defaults of `precompile`
 * @throws TypeError for an invalid option
 * @throws AssetError with the code `manifest-missing` or `manifest-broken`, `precompile-busy` while a
 *   precompile is running, or `publish-failed` when a symbolic link leads out of `public`
 * @example
 * const { removed } = await clean({ root: import.meta.dirname }, { keep: 2, age: '1d' })
 */
export async function clean(
  options: KoaAssetsOptions = {},
  cleanOptions: CleanOptions = {}
): Promise<CleanReport> {
  return (await import('./building/clean.ts')).clean(settleForPrecompile(options), cleanOptions)
}
