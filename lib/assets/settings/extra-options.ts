// The options of extras. Their table of parts is assets/extras.ts; this one is below the settings.
import { DELTAS, type DeltaOptions } from '../../extras/deltas/options.ts'

/** Added to `KoaAssetsOptions`. */
export interface ProjectExtras extends DeltaOptions {}

/** Their rows. */
export const PROJECT_EXTRAS = {
  ...DELTAS
} as const
