// Lists the extras, and settles options with them. To remove an extra, delete its folder and its lines in the tables.
import type { Extra, Project } from './extra.ts'
import type { Pipeline } from './pipeline.ts'
import { once } from '../concurrency.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import { settle } from '../settings/settings.ts'
import { deltas } from '../../extras/deltas/extra.ts'
import { hot } from '../../extras/hot/extra.ts'
import { init } from '../../extras/init/extra.ts'
import { inspector } from '../../extras/inspector/extra.ts'
import { keptIndex } from '../../extras/kept-index/extra.ts'
import { live } from '../../extras/live/extra.ts'
import { media } from '../../extras/media/extra.ts'
import { modules } from '../../extras/modules/extra.ts'
import { names } from '../../extras/names/extra.ts'
import { releases } from '../../extras/releases/extra.ts'
import { restarts } from '../../extras/restarts/extra.ts'
import { routes } from '../../extras/routes/extra.ts'
import { styles } from '../../extras/styles/extra.ts'
import { telling } from '../../extras/telling/extra.ts'
import { uploads } from '../../extras/uploads/extra.ts'
import { warnings } from '../../extras/warnings/extra.ts'
import { vite } from '../../extras/vite/extra.ts'

export const EXTRAS: readonly Extra<Pipeline>[] = [
  deltas,
  init,
  inspector,
  keptIndex,
  live,
  hot,
  media,
  modules,
  names,
  releases,
  restarts,
  routes,
  styles,
  telling,
  uploads,
  vite,
  warnings
]

/** @throws TypeError for an invalid option; AssetError for a directory that cannot be used */
export function settleProject(
  options: KoaAssetsOptions = {},
  processEnv = process.env,
  isPrecompile = false
): Project {
  const project: Project = Object.freeze({
    ...settle(options, processEnv, isPrecompile),
    options,
    extras: EXTRAS,
    transforms: once(async () => {
      const made = await Promise.all(EXTRAS.map(async extra => extra.transform?.(project)))
      return made.filter(each => each !== undefined)
    }),
    changed: (changes: KoaAssetsOptions, asPrecompile = isPrecompile) =>
      settleProject({ ...options, ...changes }, processEnv, asPrecompile)
  })
  return project
}

/** Settles the options for `precompile` and its commands, whose default environment is `production`. */
export function settleForPrecompile(options?: KoaAssetsOptions, processEnv?: NodeJS.ProcessEnv) {
  return settleProject(options, processEnv, true)
}
