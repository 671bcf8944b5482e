// Settles options, and finds the extras that they ask for.
import { EXTRAS } from './extras.ts'
import type { Site } from './parts.ts'
import type { KoaAssetsOptions } from './settings/options.ts'
import { settle } from './settings/settings.ts'

/** @throws TypeError for a wrong option; AssetError for a directory that cannot be used */
export function settleSite(
  options: KoaAssetsOptions = {},
  processEnv = process.env,
  isPrecompile = false
): Site {
  return Object.freeze({
    ...settle(options, processEnv, isPrecompile),
    options,
    extras: EXTRAS,
    changed: (changes: KoaAssetsOptions, asPrecompile = isPrecompile) =>
      settleSite({ ...options, ...changes }, processEnv, asPrecompile)
  })
}

/** Settles the options for `precompile` and its commands, whose default environment is `production`. */
export function settleForPrecompile(
  options?: KoaAssetsOptions,
  processEnv?: NodeJS.ProcessEnv
): Site {
  return settleSite(options, processEnv, true)
}
