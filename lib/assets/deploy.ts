// What a deploy script calls. A server does none of it, so each is loaded when it is called.
import type { PrecompileOptions, PrecompileReport } from './building/precompile.ts'
import type { KoaAssetsOptions } from './settings/options.ts'
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
