// Names that happen to end in 32 hex characters, as those with a fingerprint do.
import { encodePath } from '../views/asset-url.ts'
import type { Manifest } from '../building/manifest/manifest.ts'
import type { IsOrdinary } from '../serving/public-file.ts'
import type { Wanted } from '../serving/request-path.ts'
import type { AppSettings } from '../settings/settings.ts'

/** What tells such a name from a fingerprint's. */
export interface Evidence {
  /** Undefined for an app without one. */
  readonly manifestOf: (app: AppSettings) => Manifest | undefined
  /** The name itself before the name without its fingerprint; undefined when neither has a source. */
  readonly sourcedName: (app: AppSettings, name: string) => Promise<string | undefined>
  /** Whether public holds such a file. */
  readonly has: (wanted: Wanted) => Promise<boolean>
}

/** What is published under a name that happens to end in 32 hex characters is not a fingerprint's. */
export function ordinaryBy({ manifestOf, sourcedName, has }: Evidence): IsOrdinary {
  return async ({ app, path, name }, plain) => {
    if (!app) return true
    const manifest = manifestOf(app)
    if (manifest?.assets.has(encodePath(path))) return true
    if (manifest?.assets.has(encodePath(plain))) return false
    const sourced = app.compile ? await sourcedName(app, name) : undefined
    return sourced === undefined ? !(await has({ app, path: plain, name })) : sourced === name
  }
}
