// The functions that a deploy script calls, each loaded when it is called.
import { settleForPrecompile } from '../../runtime/app/extras.ts'
import type { KoaAssetsOptions } from '../../runtime/settings/options.ts'
import type { VerifyCopiesReport, VerifyReport } from './verify.ts'

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
  return (await import('./verify.ts')).verify(settleForPrecompile(options))
}

/**
 * Decompresses every compressed copy (`.br`, `.zst`, `.gz`) in a directory and compares it with its original, and
 * checks other representations. Reports those that are damaged, made from other bytes or without an original,
 * and those that cannot be sent; a `.gz` by itself counts as an archive. If the
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
  return (await import('./verify.ts')).verifyCopies(directory)
}
